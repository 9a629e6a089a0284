/* SPDX-License-Identifier: MIT
 *
 * titles.c - names of models as titles, sizes and names of files
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/text.h"
#include "lib/hf/card/letters.h"
#include "lib/hf/card/names.h"

/* ---- titles ---- */

static bool is_space(struct mf_str text, size_t *size)
{
    uint32_t code = 0;

    *size = mf_utf8_next(text.at, text.size, &code);
    if (*size == 0)
        *size = 1;
    return mf_letter_is_space(code);
}

/* v1.5, or what begins with a digit. */
static bool is_version(struct mf_str word)
{
    size_t i = word.at[0] == 'v' ? 1 : 0;
    bool digits = false;

    if (word.at[0] >= '0' && word.at[0] <= '9')
        return true;
    for (; i > 0 && i < word.size; i++) {
        if (word.at[i] == '.' && digits) {
            digits = false;
            continue;
        }
        if (word.at[i] < '0' || word.at[i] > '9')
            return false;
        digits = true;
    }
    return digits;
}

/* Whether its letters that have a case are all small, and there is one. */
static bool is_small(struct mf_str word)
{
    bool small = false;

    for (size_t i = 0, size; i < word.size; i += size) {
        uint32_t code = 0;
        enum mf_case is;

        size = mf_utf8_next(word.at + i, word.size - i, &code);
        size = size ? size : 1;
        is = mf_letter_case(code);
        if (is == MF_CASE_UPPER)
            return false;
        small |= is == MF_CASE_LOWER;
    }
    return small;
}

/* Appends the word; each letter after what has no case is a capital. */
static size_t put_word(char *out, struct mf_str word)
{
    bool as_is = !is_small(word) || is_version(word), inside = false;
    size_t length = 0;

    for (size_t i = 0, size; i < word.size; i += size) {
        uint32_t code = 0;

        size = mf_utf8_next(word.at + i, word.size - i, &code);
        if (as_is || inside || size == 0) {
            size = size ? size : 1;
            memcpy(out + length, word.at + i, size);
            length += size;
        } else
            length += mf_letter_begin(code, out + length);
        inside = mf_letter_case(code) != MF_CASE_NONE;
    }
    return length;
}

/* The size of the word that text begins with, and of what separates it from
 * the next one. */
static size_t pass_word(struct mf_str text, size_t *separator)
{
    size_t i = 0, size = 0;

    for (; i < text.size; i += size) {
        bool space =
            is_space((struct mf_str){ text.at + i, text.size - i }, &size);

        if (space || text.at[i] == '-')
            break;
    }
    *separator = i < text.size ? size : 0;
    return i;
}

struct mf_str mf_name_title(struct mf_arena *arena, struct mf_str name)
{
    /* A letter may become three times as long, by twice the bytes. */
    char *text = mf_arena_text(arena, name.size * 3 + MF_LETTER_MAX);
    size_t length = 0, size;

    if (!text)
        return (struct mf_str){ NULL, 0 };
    while (name.size > 0) {
        struct mf_str word = { name.at, pass_word(name, &size) };

        if (word.size > 0) {
            if (length > 0)
                text[length++] = ' ';
            length += put_word(text + length, word);
        }
        name.at += word.size + size;
        name.size -= word.size + size;
    }
    text[length] = 0;
    return (struct mf_str){ text, length };
}

/* ---- sizes ---- */

/* With one decimal below ten, two below one, none above. */
static void put_count(double count, char *out, size_t capacity)
{
    static const struct {
        double above, scale;
        char unit;
    } units[] = { { 1e12, 1e-12, 'T' },
                  { 1e9, 1e-9, 'B' },
                  { 1e6, 1e-6, 'M' },
                  { -1, 1e-3, 'K' } };
    size_t i = 0;
    double scaled, whole;
    int decimals;

    while (count <= units[i].above)
        i++;
    scaled = count * units[i].scale;
    whole = nearbyint(scaled);
    decimals = whole >= 10 ? 0 : whole >= 1 ? 1 : 2;
    snprintf(out, capacity, "%s%c", mf_number_fixed(scaled, decimals).at,
             units[i].unit);
}

void mf_name_size_label(const struct mf_name_counts *counts,
                        char out[MF_NAME_SIZE_MAX])
{
    int64_t total = counts->total;
    int size = 0;

    if (counts->expert_count > 0) {
        total = counts->shared + counts->expert;
        size = snprintf(out, MF_NAME_SIZE_MAX, "%lldx",
                        (long long)counts->expert_count);
    }
    put_count(fabs((double)total), out + size, MF_NAME_SIZE_MAX - (size_t)size);
}

/* ---- names of files ---- */

/* Without white space at its ends, and with hyphens for spaces and, where asked
 * for, slashes. */
static size_t put_part(char *out, struct mf_str part, bool slashes)
{
    size_t size, length = 0, end = 0;

    while (part.size > 0 && is_space(part, &size)) {
        part.at += size;
        part.size -= size;
    }
    for (size_t i = 0; i < part.size; i += size)
        if (!is_space((struct mf_str){ part.at + i, part.size - i }, &size))
            end = i + size;
    for (size_t i = 0; i < end; i++)
        out[length++] = part.at[i] == ' ' || (slashes && part.at[i] == '/')
                            ? '-'
                            : part.at[i];
    return length;
}

struct mf_str mf_name_file(struct mf_arena *arena, struct mf_str name,
                           const struct mf_name_parts *parts, const char *type,
                           const char *kind)
{
    struct mf_str unnamed = { "ggml-model", 10 };
    struct mf_str first = parts->basename.at ? parts->basename
                          : name.at          ? name
                                             : unnamed;
    const struct mf_str rest[] = { parts->size_label,
                                   parts->finetune,
                                   parts->version,
                                   { type, type ? strlen(type) : 0 },
                                   { kind, kind ? strlen(kind) : 0 } };
    size_t room = first.size, length;
    char *text;

    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        room += rest[i].at ? rest[i].size + 1 : 0;
    text = mf_arena_text(arena, room);
    if (!text)
        return (struct mf_str){ NULL, 0 };
    length = put_part(text, first, true);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
        if (!rest[i].at)
            continue;
        text[length++] = '-';
        length += put_part(text + length, rest[i], false);
    }
    text[length] = 0;
    return (struct mf_str){ text, length };
}
