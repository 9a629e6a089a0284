/* SPDX-License-Identifier: MIT
 *
 * regex_class.c - classes of characters, and what a backslash begins
 */
#include "lib/hf/encode/regex.h"

#include "lib/base/str.h"
#include "lib/base/text.h"

#define CLASS_DEPTH 8

enum mf_status mf_regex_refuse(const struct mf_regex_input *input,
                               const char *what)
{
    return mf_fail(input->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "regular expression '%s': %s at character %zu",
                   mf_quote(input->pattern).text, what, input->at);
}

uint32_t mf_regex_take(struct mf_regex_input *input)
{
    uint32_t code;
    size_t size;

    if (input->at >= input->pattern.size)
        return 0;
    size = mf_utf8_next(input->pattern.at + input->at,
                        input->pattern.size - input->at, &code);
    if (size == 0) { /* JSON has no such text, so this cannot be met */
        input->at = input->pattern.size;
        return 0;
    }
    input->at += size;
    return code;
}

static bool next_is(const struct mf_regex_input *input, const char *text)
{
    size_t size = strlen(text);

    return input->pattern.size - input->at >= size &&
           memcmp(input->pattern.at + input->at, text, size) == 0;
}

/* ---- escapes ---- */

/* At most `most` hex digits. */
static uint32_t take_hex(struct mf_regex_input *input, size_t most)
{
    uint32_t code = 0;

    while (most-- > 0 && input->at < input->pattern.size) {
        int byte = input->pattern.at[input->at];
        int small = byte | 0x20;

        if (byte >= '0' && byte <= '9')
            code = code << 4 | (uint32_t)(byte - '0');
        else if (small >= 'a' && small <= 'f')
            code = code << 4 | (uint32_t)(small - 'a' + 10);
        else
            break;
        input->at++;
    }
    return code;
}

/* \xHH, \x{H...} or \uHHHH, after its letter. */
static enum mf_status take_code(struct mf_regex_input *input, uint32_t letter,
                                uint32_t *code)
{
    if (letter == 'x' && next_is(input, "{")) {
        input->at++;
        *code = take_hex(input, 6);
        if (!next_is(input, "}"))
            return mf_regex_refuse(input, "expected '}'");
        input->at++;
        return MF_OK;
    }
    *code = take_hex(input, letter == 'x' ? 2 : 4);
    return MF_OK;
}

/* \p{NAME}, \p{^NAME} or \P{NAME}, after its letter. */
static enum mf_status take_property(struct mf_regex_input *input, bool invert,
                                    struct mf_char_set *set)
{
    struct mf_str name;

    if (!next_is(input, "{"))
        return mf_regex_refuse(input, "expected '{' after \\p");
    input->at++;
    if (next_is(input, "^")) {
        invert = !invert;
        input->at++;
    }
    name.at = input->pattern.at + input->at;
    name.size = 0;
    while (input->at < input->pattern.size && !next_is(input, "}")) {
        input->at++;
        name.size++;
    }
    if (!next_is(input, "}") || !mf_char_property(name, set))
        return mf_regex_refuse(input, "unknown property");
    input->at++;
    if (invert)
        mf_char_invert(set);
    return MF_OK;
}

/* \s, \d, \w, \h and their opposites; false: another letter.  Outside brackets
 * Oniguruma's \w has all numbers, such as a superscript 2. */
static bool add_short(uint32_t letter, bool in_class, struct mf_char_set *set)
{
    uint32_t small = letter | 0x20;

    for (uint16_t row = 0; row < MF_CHARS; row++) {
        uint32_t code = mf_chars[row].code;
        bool hex =
            (code >= '0' && code <= '9') ||
            ((code | 0x20) >= 'a' && (code | 0x20) <= 'f' && code < 0x80);

        if ((small == 's' && mf_chars[row].space) ||
            (small == 'd' && mf_chars[row].category == MF_CATEGORY_Nd) ||
            (small == 'w' &&
             (mf_char_is_word(row) || (!in_class && mf_char_is_number(row)))) ||
            (small == 'h' && hex))
            mf_char_add(set, row);
    }
    if (small != 's' && small != 'd' && small != 'w' && small != 'h')
        return false;
    if (letter != small)
        mf_char_invert(set);
    return true;
}

enum mf_status mf_regex_escape(struct mf_regex_input *input, bool *is_set,
                               uint32_t *code, struct mf_char_set *set)
{
    static const char letters[] = "nrtfvae", values[] = "\n\r\t\f\v\a\033";
    uint32_t letter = mf_regex_take(input);
    const char *found = letter < 0x80 && letter
                            ? memchr(letters, (int)letter, sizeof(letters) - 1)
                            : NULL;

    *is_set = false;
    *code = letter;
    if (letter == 0)
        return mf_regex_refuse(input, "nothing after a backslash");
    if (found) {
        *code = (uint32_t)values[found - letters];
        return MF_OK;
    }
    if (letter == 'x' || letter == 'u')
        return take_code(input, letter, code);
    *set = (struct mf_char_set){ { 0 } };
    *is_set = true;
    if (letter == 'p' || letter == 'P')
        return take_property(input, letter == 'P', set);
    if (letter < 0x80 && letter && add_short(letter, input->in_class, set))
        return MF_OK;
    *is_set = false;
    if (letter < 0x80 && ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z'))
        return mf_regex_refuse(input, "unsupported escape");
    return letter >= '0' && letter <= '9'
               ? mf_regex_refuse(input, "unsupported escape")
               : MF_OK;
}

/* ---- classes ---- */

struct level { /* an open bracket */
    struct mf_char_set set, met;
    bool invert, meets;
};

/* [:NAME:] or [:^NAME:]; *taken: it was one. */
static enum mf_status take_posix(struct mf_regex_input *input,
                                 struct mf_char_set *set, bool *taken)
{
    struct mf_char_set own = { { 0 } };
    struct mf_str name;
    bool invert;

    *taken = next_is(input, "[:");
    if (!*taken)
        return MF_OK;
    input->at += 2;
    invert = next_is(input, "^");
    input->at += invert;
    name.at = input->pattern.at + input->at;
    name.size = 0;
    while (input->at < input->pattern.size && !next_is(input, ":]")) {
        input->at++;
        name.size++;
    }
    if (!next_is(input, ":]") || !mf_char_property(name, &own))
        return mf_regex_refuse(input, "unknown class");
    /* Between brackets symbols are punctuation. */
    if (mf_str_is(name, "punct") &&
        !mf_char_property((struct mf_str){ "S", 1 }, &own))
        return mf_regex_refuse(input, "unknown class");
    input->at += 2;
    if (invert)
        mf_char_invert(&own);
    mf_char_join(set, &own);
    return MF_OK;
}

/* One character or set, and the end of a range that it begins. */
static enum mf_status take_element(struct mf_regex_input *input,
                                   struct mf_char_set *set)
{
    struct mf_char_set own;
    uint32_t first = mf_regex_take(input), last;
    bool is_set = false;

    if (first == '\\' && mf_regex_escape(input, &is_set, &first, &own) != MF_OK)
        return input->env->error.status;
    if (is_set) {
        mf_char_join(set, &own);
        return MF_OK;
    }
    last = first;
    if (next_is(input, "-") && !next_is(input, "-]") && !next_is(input, "-[") &&
        !next_is(input, "-&&")) {
        input->at++;
        last = mf_regex_take(input);
        if (last == '\\' &&
            mf_regex_escape(input, &is_set, &last, &own) != MF_OK)
            return input->env->error.status;
        if (is_set || last < first)
            return mf_regex_refuse(input, "invalid range");
    }
    mf_char_add_range(set, first, last);
    return MF_OK;
}

static void open_level(struct mf_regex_input *input, struct level *level)
{
    *level = (struct level){ .invert = next_is(input, "^") };
    input->at += level->invert;
    if (next_is(input, "]")) { /* the first one is a character */
        input->at++;
        mf_char_add_range(&level->set, ']', ']');
    }
}

/* What has been read of a level, with what was before its last &&. */
static void meet(struct level *level)
{
    if (level->meets)
        mf_char_meet(&level->set, &level->met);
    level->meets = true;
    level->met = level->set;
}

/* What the bracket that closes makes of its level.  Case is folded before it
 * is inverted: [^k] without case has neither. */
static void close_level(const struct mf_regex_input *input, struct level *level)
{
    if (level->meets)
        meet(level);
    if (input->fold)
        mf_char_fold(&level->set);
    if (level->invert)
        mf_char_invert(&level->set);
}

enum mf_status mf_regex_class(struct mf_regex_input *input,
                              struct mf_char_set *set)
{
    struct level level[CLASS_DEPTH];
    size_t depth = 0;
    bool taken;

    input->in_class = true;
    open_level(input, &level[0]);
    for (;;) {
        struct level *top = &level[depth];

        if (input->at >= input->pattern.size)
            return mf_regex_refuse(input, "expected ']'");
        if (take_posix(input, &top->set, &taken) != MF_OK)
            return input->env->error.status;
        if (taken)
            continue;
        if (next_is(input, "]")) {
            input->at++;
            close_level(input, top);
            if (depth == 0)
                break;
            mf_char_join(&level[--depth].set, &top->set);
        } else if (next_is(input, "[")) {
            input->at++;
            if (++depth == CLASS_DEPTH)
                return mf_regex_refuse(input, "too many brackets");
            open_level(input, &level[depth]);
        } else if (next_is(input, "&&")) {
            input->at += 2;
            meet(top);
            top->set = (struct mf_char_set){ { 0 } };
        } else if (take_element(input, &top->set) != MF_OK) {
            return input->env->error.status;
        }
    }
    input->in_class = false;
    *set = level[0].set;
    return MF_OK;
}
