/* SPDX-License-Identifier: MIT
 *
 * chars.c - the characters that texts may have, and sets of them
 */
#include "lib/hf/encode/chars.h"

#include "lib/base/str.h"
#include "lib/base/text.h"

const struct mf_char mf_chars[MF_CHARS] = {
#define CHAR(code, category, script, space, lower, parts, compat)              \
    { code,  MF_CATEGORY_##category, MF_SCRIPT_##script, space, parts, lower,  \
      compat },
#include "lib/hf/encode/chars.def"
#undef CHAR
};

uint16_t mf_char_find(uint32_t code)
{
    size_t low = 0, high = MF_CHARS;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (mf_chars[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < MF_CHARS && mf_chars[low].code == code ? (uint16_t)low
                                                        : MF_NO_CHAR;
}

uint16_t mf_char_next(const char *at, size_t size, size_t *taken)
{
    uint32_t code;

    *taken = mf_utf8_next(at, size, &code);
    if (*taken > 0)
        return mf_char_find(code);
    *taken = 1;
    return MF_NO_CHAR;
}

/* ---- sets ---- */

void mf_char_add_range(struct mf_char_set *set, uint32_t first, uint32_t last)
{
    for (uint16_t row = 0; row < MF_CHARS; row++)
        if (mf_chars[row].code >= first && mf_chars[row].code <= last)
            mf_char_add(set, row);
}

void mf_char_join(struct mf_char_set *set, const struct mf_char_set *other)
{
    for (size_t i = 0; i < sizeof(set->word) / sizeof(*set->word); i++)
        set->word[i] |= other->word[i];
}

void mf_char_meet(struct mf_char_set *set, const struct mf_char_set *other)
{
    for (size_t i = 0; i < sizeof(set->word) / sizeof(*set->word); i++)
        set->word[i] &= other->word[i];
}

void mf_char_invert(struct mf_char_set *set)
{
    struct mf_char_set all = { { 0 } };

    for (uint16_t row = 0; row < MF_CHARS; row++)
        if (!mf_char_in(set, row))
            mf_char_add(&all, row);
    *set = all;
}

void mf_char_fold(struct mf_char_set *set)
{
    for (uint16_t row = 0; row < MF_CHARS; row++) {
        uint16_t small =
            mf_chars[row].lower ? mf_char_find(mf_chars[row].lower) : row;

        if (mf_char_in(set, row))
            mf_char_add(set, small);
        else if (mf_char_in(set, small))
            mf_char_add(set, row);
    }
}

/* ---- properties ---- */

bool mf_char_is_space(uint16_t row)
{
    return row < MF_CHARS && mf_chars[row].space;
}

bool mf_char_is_number(uint16_t row)
{
    return row < MF_CHARS && (mf_chars[row].category == MF_CATEGORY_Nd ||
                              mf_chars[row].category == MF_CATEGORY_No);
}

bool mf_char_is_punctuation(uint16_t row)
{
    enum mf_category category =
        row < MF_CHARS ? mf_chars[row].category : MF_CATEGORY_Cc;

    return (category >= MF_CATEGORY_Pc && category <= MF_CATEGORY_Ps) ||
           (category >= MF_CATEGORY_Sc && category <= MF_CATEGORY_So &&
            mf_chars[row].code < 0x80);
}

bool mf_char_is_word(uint16_t row)
{
    enum mf_category category =
        row < MF_CHARS ? mf_chars[row].category : MF_CATEGORY_Cc;

    return category >= MF_CATEGORY_Ll && category <= MF_CATEGORY_Pc &&
           category != MF_CATEGORY_No;
}

bool mf_char_joins_words(uint16_t row)
{
    return mf_char_is_word(row) ||
           (row < MF_CHARS && mf_chars[row].code == 0x200d);
}

#define CATEGORY(name, first, last)                                            \
    {                                                                          \
        name, MF_CATEGORY_##first, MF_CATEGORY_##last                          \
    }

/* Names without case, spaces, '-' and '_', as the expressions compare them.
 * The rows of a category that no character has are of one before the first. */
static const struct category {
    const char *name;
    int first, last;
} categories[] = {
    CATEGORY("c", Cc, Cf),
    CATEGORY("other", Cc, Cf),
    CATEGORY("cc", Cc, Cc),
    CATEGORY("control", Cc, Cc),
    CATEGORY("cntrl", Cc, Cc),
    CATEGORY("cf", Cf, Cf),
    CATEGORY("format", Cf, Cf),
    CATEGORY("l", Ll, Lu),
    CATEGORY("letter", Ll, Lu),
    CATEGORY("ll", Ll, Ll),
    CATEGORY("lowercaseletter", Ll, Ll),
    CATEGORY("lo", Lo, Lo),
    CATEGORY("otherletter", Lo, Lo),
    CATEGORY("lu", Lu, Lu),
    CATEGORY("uppercaseletter", Lu, Lu),
    CATEGORY("m", Mc, Mn),
    CATEGORY("mark", Mc, Mn),
    CATEGORY("combiningmark", Mc, Mn),
    CATEGORY("mc", Mc, Mc),
    CATEGORY("spacingmark", Mc, Mc),
    CATEGORY("mn", Mn, Mn),
    CATEGORY("nonspacingmark", Mn, Mn),
    CATEGORY("n", Nd, No),
    CATEGORY("number", Nd, No),
    CATEGORY("nd", Nd, Nd),
    CATEGORY("decimalnumber", Nd, Nd),
    CATEGORY("digit", Nd, Nd),
    CATEGORY("no", No, No),
    CATEGORY("othernumber", No, No),
    CATEGORY("p", Pc, Ps),
    CATEGORY("punctuation", Pc, Ps),
    CATEGORY("pc", Pc, Pc),
    CATEGORY("pd", Pd, Pd),
    CATEGORY("pe", Pe, Pe),
    CATEGORY("pf", Pf, Pf),
    CATEGORY("pi", Pi, Pi),
    CATEGORY("po", Po, Po),
    CATEGORY("ps", Ps, Ps),
    CATEGORY("s", Sc, So),
    CATEGORY("symbol", Sc, So),
    CATEGORY("sc", Sc, Sc),
    CATEGORY("sk", Sk, Sk),
    CATEGORY("sm", Sm, Sm),
    CATEGORY("so", So, So),
    CATEGORY("z", Zs, Zs),
    CATEGORY("separator", Zs, Zs),
    CATEGORY("zs", Zs, Zs),
    CATEGORY("spaceseparator", Zs, Zs),
    { "lm", -1, -1 },
    { "modifierletter", -1, -1 },
    { "lt", -1, -1 },
    { "titlecaseletter", -1, -1 },
    { "me", -1, -1 },
    { "enclosingmark", -1, -1 },
    { "nl", -1, -1 },
    { "letternumber", -1, -1 },
    { "zl", -1, -1 },
    { "lineseparator", -1, -1 },
    { "zp", -1, -1 },
    { "paragraphseparator", -1, -1 },
    { "co", -1, -1 },
    { "privateuse", -1, -1 },
    { "cs", -1, -1 },
    { "surrogate", -1, -1 },
    { "cn", -1, -1 },
    { "unassigned", -1, -1 },
};

/* Scripts; -1: none of the characters has it. */
static const struct script {
    const char *name;
    int script;
} scripts[] = {
    { "common", MF_SCRIPT_Common },
    { "inherited", MF_SCRIPT_Inherited },
    { "latin", MF_SCRIPT_Latin },
    { "cyrillic", MF_SCRIPT_Cyrillic },
    { "khmer", MF_SCRIPT_Khmer },
    { "han", MF_SCRIPT_Han },
    { "greek", -1 },
    { "armenian", -1 },
    { "hebrew", -1 },
    { "arabic", -1 },
    { "syriac", -1 },
    { "thaana", -1 },
    { "nko", -1 },
    { "devanagari", -1 },
    { "bengali", -1 },
    { "gurmukhi", -1 },
    { "gujarati", -1 },
    { "oriya", -1 },
    { "tamil", -1 },
    { "telugu", -1 },
    { "kannada", -1 },
    { "malayalam", -1 },
    { "sinhala", -1 },
    { "thai", -1 },
    { "lao", -1 },
    { "tibetan", -1 },
    { "myanmar", -1 },
    { "georgian", -1 },
    { "hangul", -1 },
    { "ethiopic", -1 },
    { "cherokee", -1 },
    { "mongolian", -1 },
    { "hiragana", -1 },
    { "katakana", -1 },
    { "bopomofo", -1 },
    { "yi", -1 },
    { "braille", -1 },
    { "canadianaboriginal", -1 },
    { "javanese", -1 },
    { "balinese", -1 },
    { "olchiki", -1 },
    { "meeteimayek", -1 },
    { "tifinagh", -1 },
    { "coptic", -1 },
};

/* Names of classes that are not one row of categories. */
static bool add_class(const char *name, struct mf_char_set *set)
{
    bool alpha = strcmp(name, "alpha") == 0 || strcmp(name, "alphabetic") == 0;
    bool alnum = strcmp(name, "alnum") == 0, word = strcmp(name, "word") == 0;
    bool punct = strcmp(name, "punct") == 0, any = strcmp(name, "any") == 0;
    bool space = strcmp(name, "space") == 0 || strcmp(name, "whitespace") == 0;
    bool upper = strcmp(name, "upper") == 0 || strcmp(name, "uppercase") == 0;
    bool lower = strcmp(name, "lower") == 0 || strcmp(name, "lowercase") == 0;
    bool ascii = strcmp(name, "ascii") == 0;

    for (uint16_t row = 0; row < MF_CHARS; row++) {
        const struct mf_char *c = &mf_chars[row];
        /* Vowel signs of Khmer are alphabetic; its sign bantoc is not. */
        bool letter =
            (c->category >= MF_CATEGORY_Ll && c->category <= MF_CATEGORY_Lu) ||
            (c->script == MF_SCRIPT_Khmer && c->code != 0x17cb);
        /* The feminine and masculine ordinals are small letters of Lo. */
        bool small =
            c->category == MF_CATEGORY_Ll || c->code == 0xaa || c->code == 0xba;

        if (any || (ascii && c->code < 0x80) || (space && c->space) ||
            (word && mf_char_is_word(row)) ||
            (punct && c->category >= MF_CATEGORY_Pc &&
             c->category <= MF_CATEGORY_Ps) ||
            ((alpha || alnum) && letter) ||
            (alnum && c->category == MF_CATEGORY_Nd) ||
            (upper && c->category == MF_CATEGORY_Lu) || (lower && small))
            mf_char_add(set, row);
    }
    return alpha || alnum || word || punct || any || space || upper || lower ||
           ascii;
}

bool mf_char_property(struct mf_str name, struct mf_char_set *set)
{
    char plain[32];
    size_t size = 0;

    for (size_t i = 0; i < name.size; i++) {
        char byte = name.at[i];

        if (byte == ' ' || byte == '-' || byte == '_')
            continue;
        if (size == sizeof(plain) - 1)
            return false;
        plain[size++] =
            (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
    }
    plain[size] = 0;
    for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
        if (strcmp(categories[i].name, plain) != 0)
            continue;
        for (uint16_t row = 0; row < MF_CHARS; row++)
            if ((int)mf_chars[row].category >= categories[i].first &&
                (int)mf_chars[row].category <= categories[i].last)
                mf_char_add(set, row);
        return true;
    }
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        if (strcmp(scripts[i].name, plain) != 0)
            continue;
        for (uint16_t row = 0; row < MF_CHARS; row++)
            if ((int)mf_chars[row].script == scripts[i].script)
                mf_char_add(set, row);
        return true;
    }
    return add_class(plain, set);
}
