/* SPDX-License-Identifier: MIT
 *
 * facts.h - what rows mean, as lines that are kept in tests/data
 *
 * A test writes all lines with facts_add, and compares them with the file.  A
 * change of rows is a difference there, which a human has to accept: with
 * UPDATE=1 in the environment the test writes the file instead.
 */
#ifndef TESTS_FACTS_H
#define TESTS_FACTS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "tests/support.h"

static struct facts {
    char text[1 << 21];
    size_t size;
} facts;

static inline void facts_add(const char *format, ...) MF_PRINTF(1, 2);

static inline void facts_add(const char *format, ...)
{
    size_t room = sizeof(facts.text) - facts.size;
    va_list list;
    int size;

    va_start(list, format);
    size = vsnprintf(facts.text + facts.size, room, format, list);
    va_end(list);
    assert_true(size >= 0 && (size_t)size < room);
    facts.size += (size_t)size;
}

/* A number that stands for a text, another one for each seed. */
static inline uint64_t facts_hash(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

/* The same with every order of bytes. */
static inline uint64_t facts_hash_number(uint64_t seed, uint64_t number)
{
    uint8_t bytes[8];

    set_number(bytes, number, sizeof(bytes));
    return facts_hash(seed, bytes, sizeof(bytes));
}

static inline size_t facts_line(const char *at, const char *end)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));

    return (size_t)((line_end ? line_end + 1 : end) - at);
}

/* The line above it that begins a paragraph, without a space. */
static inline const char *facts_head(const char *from, const char *at)
{
    const char *head = from;

    for (const char *line = from; line <= at && line < from + facts.size;
         line += facts_line(line, from + facts.size))
        if (*line != ' ')
            head = line;
    return head;
}

static inline void facts_write(const char *path)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(facts.text, 1, facts.size, file), facts.size);
    assert_int_equal(fclose(file), 0);
}

/* Fails at the first line that the file has not, or that it has more. */
static inline void facts_compare(const char *path)
{
    const char *now = facts.text, *end = now + facts.size, *kept, *kept_end;
    const char *head;
    uint8_t *file;
    size_t size, a, b;

    if (getenv("UPDATE")) {
        facts_write(path);
        return;
    }
    file = load(path, &size);
    kept = (char *)file;
    kept_end = kept + size;
    while ((a = facts_line(kept, kept_end)) == (b = facts_line(now, end)) &&
           a > 0 && memcmp(kept, now, a) == 0) {
        kept += a;
        now += b;
    }
    head = facts_head(facts.text, now);
    if (a > 0 || b > 0)
        fail_msg("%.*s  %s has:\n%.*s  rows say:\n%.*s  (UPDATE=1 accepts it)",
                 (int)facts_line(head, end), head, path, (int)a, kept, (int)b,
                 now);
    free(file);
}

#endif
