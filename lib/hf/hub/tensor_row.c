/* SPDX-License-Identifier: MIT
 *
 * tensor_row.c - which tensors a row is about
 *
 * Nearly no row is about a name, and a folder may have 90,000 names.  So each
 * pattern is looked at once, and most names are ruled out by a text that
 * they lack.
 */
#include <assert.h>
#include <stdio.h>

#include "lib/hf/hub/tensor_rows.h"

/* ---- what a pattern needs ---- */

/* The longest text of the pattern without "*", "#" and "{}". */
static struct mf_str needle_of(struct mf_str pattern)
{
    struct mf_str needle = { pattern.at, 0 };
    size_t start = 0;
    bool inside = false;

    for (size_t i = 0; i <= pattern.size; i++) {
        char c = '*';

        if (i < pattern.size)
            c = pattern.at[i];
        if (!inside && strchr("*#{", c)) {
            if (i - start > needle.size)
                needle = (struct mf_str){ pattern.at + start, i - start };
            start = i + 1;
            inside = c == '{';
        } else if (c == '}') {
            start = i + 1;
            inside = false;
        }
    }
    return needle;
}

static uint32_t pair_of(const char *at)
{
    return ((uint32_t)(uint8_t)at[0] * 31 + (uint8_t)at[1]) %
           (MF_PAIR_WORDS * 64);
}

/* "{a,b}..." and "*{a,b}*" have no long text, but one of these. */
static bool has_choice(const struct mf_tensor_row *row)
{
    struct mf_str pattern = row->pattern;

    return pattern.size > 3 &&
           (pattern.at[0] == '{' ||
            (memcmp(pattern.at, "*{", 2) == 0 &&
             memcmp(pattern.at + pattern.size - 2, "}*", 2) == 0));
}

bool mf_tensor_row_prepare(struct mf_tensor_row *row, struct mf_arena *arena)
{
    struct mf_str pattern = row->pattern;
    size_t count = mf_glob_choices(pattern, 0);
    struct mf_str *choice;

    row->needle = needle_of(pattern);
    row->choices = count;
    if (count == 0 || !has_choice(row))
        return true;
    choice = mf_arena_take(arena, count * sizeof(*choice));
    if (!choice)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t pair;

        choice[i] = mf_glob_choice(pattern, 0, i);
        if (choice[i].size < 2)
            return true; /* any name may begin so */
        pair = pair_of(choice[i].at);
        row->pairs[pair / 64] |= (uint64_t)1 << pair % 64;
    }
    row->choice = choice;
    return true;
}

/* ---- using them ---- */

/* Up to 18 digits. */
static int64_t number_of(struct mf_str digits)
{
    int64_t number = 0;

    if (digits.size > 18)
        return INT64_MAX;
    for (size_t i = 0; i < digits.size; i++)
        number = number * 10 + (digits.at[i] - '0');
    return number;
}

static bool is_excepted(struct mf_str patterns, struct mf_str name)
{
    struct mf_glob_match match;

    while (patterns.size > 0)
        if (mf_glob_fits(mf_word(&patterns), name, &match))
            return true;
    return false;
}

static bool begins_choice(const struct mf_tensor_row *row, const char *at,
                          size_t left)
{
    for (size_t i = 0; i < row->choices; i++) {
        struct mf_str choice = row->choice[i];

        if (choice.at[0] == at[0] && choice.size <= left &&
            memcmp(choice.at, at, choice.size) == 0)
            return true;
    }
    return false;
}

static bool holds_choice(const struct mf_tensor_row *row, struct mf_str name)
{
    size_t places = row->pattern.at[0] == '{' ? 1 : name.size;

    for (size_t i = 0; i < places && i + 1 < name.size; i++) {
        uint32_t pair = pair_of(name.at + i);

        if ((row->pairs[pair / 64] >> pair % 64 & 1) != 0 &&
            begins_choice(row, name.at + i, name.size - i))
            return true;
    }
    return false;
}

/* Whether the name may fit: nearly all do not, and a folder has 90,000. */
static bool may_fit(const struct mf_tensor_row *row, struct mf_str name)
{
    const char *at = name.at, *end = name.at + name.size;
    struct mf_str needle = row->needle;

    if (row->choice)
        return holds_choice(row, name);
    for (; needle.size > 0; at++) {
        if ((size_t)(end - at) < needle.size)
            return false;
        at = memchr(at, *needle.at, (size_t)(end - at) - needle.size + 1);
        if (!at)
            return false;
        if (memcmp(at, needle.at, needle.size) == 0)
            return true;
    }
    return true;
}

static bool holds_at(const struct mf_node *list, int64_t number)
{
    const struct mf_node *node = list->first;

    for (; node && number > 0; number--)
        node = node->next;
    return node && mf_node_holds(node);
}

bool mf_tensor_row_fits(const struct mf_tensor_row *row, struct mf_str name,
                        struct mf_glob_match *match)
{
    int64_t number;

    if (!may_fit(row, name) || !mf_glob_fits(row->pattern, name, match) ||
        is_excepted(row->except, name))
        return false;
    if (row->least == INT64_MIN && row->most == INT64_MAX && !row->at)
        return true;
    number = match->digits_count > 0 ? number_of(match->digits[0]) : 0;
    return number >= row->least && number <= row->most &&
           (!row->at || holds_at(row->at, number));
}

bool mf_tensor_row_name(struct mf_str to, int64_t plus,
                        const struct mf_glob_match *match,
                        struct mf_tensor_name *out)
{
    struct mf_glob_match moved;
    int64_t number;
    char digits[24];

    if (plus == 0 || match->digits_count == 0)
        return mf_glob_make(to, match, out);
    if (__builtin_add_overflow(number_of(match->digits[0]), plus, &number))
        return false;
    moved = *match;
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    moved.digits[0] = (struct mf_str){ digits, strlen(digits) };
    return mf_glob_make(to, &moved, out);
}
