/* SPDX-License-Identifier: MIT
 *
 * letters.c - letters of all scripts, and those that begin a word
 *
 * The C library's functions depend on the locale of the program, and files
 * that are written must not.
 */
#include "lib/hf/card/letters.h"

#include <string.h>

#include "lib/base/text.h"

struct span {
    uint32_t first, last;
};

struct run {
    uint32_t first, last, step;
    int32_t add;
};

struct wide {
    uint32_t code;
    char text[MF_LETTER_MAX];
};

#define LETTERS(first, last)
#define LOWER(first, last, step, add)
#define WIDE(code, text)
#define UPPER(first, last, step)

static const struct span letters[] = {
#undef LETTERS
#define LETTERS(first, last) { first, last },
#include "lib/hf/card/letters.def"
#undef LETTERS
#define LETTERS(first, last)
};

static const struct run lower[] = {
    { 'a', 'z', 1, 'A' - 'a' },
#undef LOWER
#define LOWER(first, last, step, add) { first, last, step, add },
#include "lib/hf/card/letters.def"
#undef LOWER
#define LOWER(first, last, step, add)
};

static const struct wide wide[] = {
#undef WIDE
#define WIDE(code, text) { code, text },
#include "lib/hf/card/letters.def"
#undef WIDE
#define WIDE(code, text)
};

static const struct run upper[] = {
    { 'A', 'Z', 1, 0 },
#undef UPPER
#define UPPER(first, last, step) { first, last, step, 0 },
#include "lib/hf/card/letters.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool is_ascii_letter(uint32_t code)
{
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

bool mf_letter_is(uint32_t code)
{
    if (code < 0x80)
        return is_ascii_letter(code);
    for (size_t i = 0; i < COUNT(letters) && letters[i].first <= code; i++)
        if (code <= letters[i].last)
            return true;
    return false;
}

static const struct run *find(const struct run *runs, size_t count,
                              uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= runs[i].first && code <= runs[i].last &&
            (code - runs[i].first) % runs[i].step == 0)
            return &runs[i];
    return NULL;
}

static const struct wide *find_wide(uint32_t code)
{
    for (size_t i = 0; i < COUNT(wide); i++)
        if (wide[i].code == code)
            return &wide[i];
    return NULL;
}

enum mf_case mf_letter_case(uint32_t code)
{
    if (find(lower, COUNT(lower), code) || find_wide(code))
        return MF_CASE_LOWER;
    return find(upper, COUNT(upper), code) ? MF_CASE_UPPER : MF_CASE_NONE;
}

bool mf_letter_is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x20) ||
           code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

size_t mf_letter_begin(uint32_t code, char out[MF_LETTER_MAX])
{
    const struct wide *several = find_wide(code);
    const struct run *run = find(lower, COUNT(lower), code);

    if (several) {
        memcpy(out, several->text, MF_LETTER_MAX);
        return strlen(several->text);
    }
    return mf_utf8_put(run ? (uint32_t)((int32_t)code + run->add) : code, out);
}
