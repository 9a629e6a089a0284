/* SPDX-License-Identifier: MIT
 *
 * names.c - what the name of a model says: "Llama-3.1-8B-Instruct-v0.2"
 */
#include "lib/hf/card/names.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/hf/card/letters.h"

enum { BASENAME = 1, SIZE = 2, FINETUNE = 4, VERSION = 8, OTHER = 16 };

struct word {
    struct mf_str text;
    unsigned is; /* of the above */
};

struct name {
    struct mf_arena *arena;
    int64_t total;
    size_t count;
    struct word word[MF_NAME_WORDS];
};

static const struct mf_str none;

/* ---- how words look ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* The character at that place, a small letter; NUL after the end. */
static char at(struct mf_str text, size_t i)
{
    return i < text.size ? small(text.at[i]) : 0;
}

static size_t pass_digits(struct mf_str text, size_t i)
{
    while (i < text.size && is_digit(text.at[i]))
        i++;
    return i;
}

static bool is_word(struct mf_str text, const char *word)
{
    for (size_t i = 0; i < text.size; i++)
        if (at(text, i) != word[i])
            return false;
    return word[text.size] == 0;
}

static bool is_one_of(struct mf_str text, const char *const *words)
{
    for (; *words; words++)
        if (text.size == strlen(*words) && is_word(text, *words))
            return true;
    return false;
}

/* "v" or "iter" or nothing, then numbers with dots. */
static bool is_version(struct mf_str text)
{
    size_t i = at(text, 0) == 'v' ? 1 : 0, end;

    if (text.size > 4 && is_word((struct mf_str){ text.at, 4 }, "iter"))
        i = 4;
    end = pass_digits(text, i);
    while (end > i && end < text.size && text.at[end] == '.') {
        i = end + 1;
        end = pass_digits(text, i);
    }
    return end > i && end == text.size;
}

/* Whether pairs of a "_" and what is a letter, a digit or a "_" follow. */
static bool is_suffixed(struct mf_str text, size_t i)
{
    while (i < text.size) {
        uint32_t code = 0;
        size_t size;

        if (text.at[i++] != '_' || i == text.size)
            return false;
        size = mf_utf8_next(text.at + i, text.size - i, &code);
        if (size == 0 || !(mf_letter_is(code) || code == '_' ||
                           (code >= '0' && code <= '9')))
            return false;
        i += size;
    }
    return true;
}

/* A type: q4_k_m, iq2_xs, f16, bf16, fp32. */
static bool is_type(struct mf_str text)
{
    static const char *const floats[] = { "f16",   "f32",   "fp16",
                                          "fp32",  "bf16",  "bf32",
                                          "bfp16", "bfp32", NULL };
    size_t i = at(text, 0) == 'i' ? 1 : 0;

    if (is_one_of(text, floats))
        return true;
    return at(text, i) == 'q' && i + 1 < text.size &&
           is_digit(text.at[i + 1]) && is_suffixed(text, i + 2);
}

static bool is_unit(char c)
{
    return c == 'k' || c == 'm' || c == 'b' || c == 't';
}

/* 7B, 1.5b, 8x7B, A3B, 7b1 */
static bool is_number_of_parameters(struct mf_str text)
{
    size_t i = at(text, 0) == 'a' ? 1 : 0, end = pass_digits(text, i);

    if (i == 0 && end > 0 && at(text, end) == 'x') {
        i = end + 1;
        end = pass_digits(text, i);
    }
    if (end == i)
        return false;
    if (at(text, end) == '.' || at(text, end) == '_') {
        i = end + 1;
        end = pass_digits(text, i);
        if (end == i)
            return false;
    }
    if (!is_unit(at(text, end)))
        return false;
    end++;
    return end == text.size || (end + 1 == text.size && is_digit(text.at[end]));
}

static bool is_size(struct mf_str text)
{
    static const char *const words[] = { "small", "mini", "medium", "large",
                                         "xl",    "xxl",  NULL };

    return is_number_of_parameters(text) || is_one_of(text, words);
}

static bool is_finetune(struct mf_str text)
{
    static const char *const words[] = { "chat", "instruct", "vision", "lora",
                                         NULL };

    return is_one_of(text, words);
}

/* ---- sizes ---- */

/* "1_5b" is 1.5B, and "7b1" is 7.1B.  NULL after mf_fail. */
static char *normal_size(struct mf_arena *arena, struct mf_str *text)
{
    char *copy = mf_arena_text(arena, text->size + 1);
    size_t size = text->size;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < size; i++)
        copy[i] = text->at[i] == '_' ? '.' : text->at[i];
    if (is_digit(copy[size - 1])) {
        char digit = copy[size - 1];

        copy[size] = copy[size - 2];
        copy[size - 1] = digit;
        copy[size - 2] = '.';
        size++;
    }
    if (is_digit(copy[size - 2]) && is_unit(copy[size - 1]))
        copy[size - 1] = (char)(copy[size - 1] - ('a' - 'A'));
    *text = (struct mf_str){ copy, size };
    return copy;
}

/* The number that a size has, or -1 if it is not a number, as 8x7B. */
static double parameters(struct mf_str text)
{
    double value = 0, scale = 1;
    size_t dots = 0;

    for (size_t i = 0; i + 1 < text.size; i++) {
        if (text.at[i] == '.' && ++dots == 1)
            continue;
        if (!is_digit(text.at[i]))
            return -1;
        value = value * 10 + (text.at[i] - '0');
        scale *= dots ? 10 : 1;
    }
    value /= scale;
    for (const char *unit = "kmbt"; *unit; unit++) {
        value *= 1000;
        if (*unit == at(text, text.size - 1))
            return value;
    }
    return -1;
}

/* Whether the number is too far from what the model has: then it is the length
 * of a context.  Adapters may lack layers, so for them it may be larger. */
static bool is_length(struct mf_str text, int64_t total)
{
    double count = parameters(text);
    int64_t all = total < 0 ? -total : total;

    if (count < 0 || total == 0)
        return false;
    if (total < 0)
        return count < (double)(all / 8);
    count -= (double)all;
    return (count < 0 ? -count : count) > (double)(all - (all + 7) / 8);
}

static bool take_size(struct name *name, struct word *word)
{
    char *copy = normal_size(name->arena, &word->text);

    if (!copy)
        return false;
    word->is = SIZE;
    if (is_length(word->text, name->total)) {
        copy[word->text.size - 1] = at(word->text, word->text.size - 1);
        word->is = FINETUNE;
    }
    return true;
}

/* ---- words of a name ---- */

static enum mf_status cut(struct name *name, struct mf_str text)
{
    while (text.size > 0) {
        const char *end = memchr(text.at, '-', text.size);
        size_t size = end ? (size_t)(end - text.at) : text.size;

        if (size > 0 && name->count == MF_NAME_WORDS)
            return mf_fail(name->arena->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "the name of a model has more than %d words",
                           MF_NAME_WORDS);
        if (size > 0)
            name->word[name->count++].text = (struct mf_str){ text.at, size };
        text.at += size + (end != NULL);
        text.size -= size + (end != NULL);
    }
    return MF_OK;
}

static bool look(struct name *name)
{
    for (size_t i = 0; i < name->count; i++) {
        struct word *word = &name->word[i];

        if (is_version(word->text))
            word->is = VERSION;
        else if (is_type(word->text))
            word->is = OTHER;
        else if (i > 0 && is_size(word->text)) {
            if (!take_size(name, word))
                return false;
        } else if (i > 0 && is_finetune(word->text))
            word->is = name->total < 0 && is_word(word->text, "lora")
                           ? OTHER
                           : FINETUNE;
    }
    return true;
}

static bool has_digit(struct mf_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if (is_digit(text.at[i]))
            return true;
    return false;
}

/* Next to a size in numbers "small" is not a size. */
static void drop_size_words(struct name *name)
{
    bool numbers = false;

    for (size_t i = 0; i < name->count; i++)
        numbers |= name->word[i].is == SIZE && has_digit(name->word[i].text);
    for (size_t i = 0; numbers && i < name->count; i++)
        if (name->word[i].is == SIZE && !has_digit(name->word[i].text))
            name->word[i].is = 0;
}

static bool begins_with_letter(struct mf_str text)
{
    uint32_t code = 0;

    return mf_utf8_next(text.at, text.size, &code) > 0 && mf_letter_is(code);
}

/* The basename is what the name begins with: words that are nothing else, and
 * versions between them. */
static void find_basename(struct name *name)
{
    bool start = true;

    for (size_t i = 0; i < name->count; i++) {
        struct word *word = &name->word[i];

        start = start && ((word->is == 0 && begins_with_letter(word->text)) ||
                          word->is == VERSION);
        if (start)
            word->is |= BASENAME;
        else if (word->is == 0)
            word->is = FINETUNE;
    }
    for (size_t i = name->count;
         i > 0 && name->word[i - 1].is == (BASENAME | VERSION); i--)
        name->word[i - 1].is = VERSION;
}

static bool is_repeated(const struct name *name, size_t i, unsigned is)
{
    if (is != SIZE)
        return false;
    for (size_t j = 0; j < i; j++)
        if (name->word[j].is == SIZE &&
            mf_str_same(name->word[j].text, name->word[i].text))
            return true;
    return false;
}

/* The words that are this and are not that, with hyphens between them; false
 * after mf_fail. */
static bool join(const struct name *name, unsigned is, unsigned is_not,
                 struct mf_str *out)
{
    size_t size = 0;
    char *text;

    for (size_t i = 0; i < name->count; i++)
        size += name->word[i].text.size + 1;
    text = mf_arena_text(name->arena, size);
    if (!text)
        return false;
    *out = (struct mf_str){ text, 0 };
    for (size_t i = 0; i < name->count; i++) {
        const struct word *word = &name->word[i];

        if (!(word->is & is) || (word->is & is_not) || is_repeated(name, i, is))
            continue;
        if (out->size > 0)
            text[out->size++] = '-';
        memcpy(text + out->size, word->text.at, word->text.size);
        out->size += word->text.size;
    }
    if (out->size == 0)
        *out = none;
    return true;
}

/* The part before the first slash, unless that is "." or the like. */
static struct mf_str take_organization(struct mf_str *name)
{
    const char *slash = memchr(name->at, '/', name->size);
    struct mf_str head = { name->at, 0 };

    if (!slash)
        return none;
    head.size = (size_t)(slash - name->at);
    *name = (struct mf_str){ slash + 1, name->size - head.size - 1 };
    return head.size > 0 && *head.at == '.' ? none : head;
}

enum mf_status mf_name_split(struct mf_arena *arena, struct mf_str text,
                             int64_t total, struct mf_name_parts *out)
{
    struct name name = { .arena = arena, .total = total };

    *out = (struct mf_name_parts){ .full = text };
    if (text.size > 0 && memchr(text.at, ' ', text.size))
        return MF_OK; /* a sentence */
    if (text.size > 0)
        out->organization = take_organization(&out->full);
    if (cut(&name, out->full) != MF_OK || !look(&name))
        return arena->env->error.status;
    drop_size_words(&name);
    find_basename(&name);
    if (!join(&name, BASENAME, 0, &out->basename) ||
        !join(&name, SIZE, 0, &out->size_label) ||
        !join(&name, FINETUNE, 0, &out->finetune) ||
        !join(&name, VERSION, BASENAME, &out->version))
        return arena->env->error.status;
    if (!out->size_label.at && !out->finetune.at && !out->version.at)
        out->basename = none; /* any word would be one */
    return MF_OK;
}
