/* SPDX-License-Identifier: MIT
 *
 * nearest.c - "did you mean": the known word nearest to a mistyped one
 */
#include "cli/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64

/* What a change costs; one of case costs nothing.  '_' and '-' are so often
 * left out or added (q4km, --dryrun) that they count half. */
#define LETTER 2
#define MARK   1

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t cost_of(char letter)
{
    return letter == '_' || letter == '-' ? MARK : LETTER;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The Damerau-Levenshtein distance: what it costs to insert, delete and replace
 * letters, or to swap neighbours.  Three rows of its table are enough. */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][WORD_MAX + 1], width = strlen(b);

    row[0][0] = 0;
    for (size_t j = 1; j <= width; j++)
        row[0][j] = row[0][j - 1] + cost_of(b[j - 1]);
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *now = row[i % 3], *last = row[(i - 1) % 3];
        const size_t *before = row[(i + 1) % 3];

        now[0] = last[0] + cost_of(a[i - 1]);
        for (size_t j = 1; j <= width; j++) {
            size_t replace =
                last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : LETTER);

            now[j] = smaller(replace, smaller(last[j] + cost_of(a[i - 1]),
                                              now[j - 1] + cost_of(b[j - 1])));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]))
                now[j] = smaller(now[j], before[j - 2] + LETTER);
        }
    }
    return row[strlen(a) % 3][width];
}

/* The candidate begins with the word, and that is more than one letter. */
static bool begins(const char *word, const char *candidate)
{
    size_t size = strlen(word);

    return size > 1 + strspn(word, "-") &&
           strncasecmp(word, candidate, size) == 0;
}

struct nearest nearest_word(const char *word, const char *(*next)(void *state),
                            void *state)
{
    /* One letter may be wrong, and one more of each four: --jsno, --totls. */
    size_t best = LETTER * (1 + strlen(word) / 4) + 1;
    struct nearest nearest = { "" };
    const char *candidate;

    if (strlen(word) > WORD_MAX)
        return nearest;
    while ((candidate = next(state)) != NULL) {
        size_t cost;

        if (strlen(candidate) > WORD_MAX)
            continue;
        cost = distance(word, candidate);
        if (begins(word, candidate))
            cost = smaller(cost, LETTER);
        if (cost < best) {
            best = cost;
            snprintf(nearest.hint, sizeof(nearest.hint), "; did you mean '%s'?",
                     candidate);
        }
    }
    return nearest;
}

/* Without its digits, so that item 1 is not taken for item 2. */
static bool same_but_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (!*a || *a != *b)
            return *a == *b;
    }
}

struct nearest nearest_slip(const char *word, const char *(*next)(void *state),
                            void *state, bool *exact)
{
    size_t size = strlen(word), best = 2 * LETTER + 1;
    struct nearest nearest = { "" };
    const char *candidate;

    *exact = false;
    while ((candidate = next(state)) != NULL && !*exact) {
        size_t other = strlen(candidate), cost;

        *exact = strcmp(word, candidate) == 0;
        if (size < 8 || size > WORD_MAX || other > WORD_MAX || other < 8 ||
            same_but_digits(word, candidate))
            continue;
        cost = distance(word, candidate);
        if (cost < best) {
            best = cost;
            snprintf(nearest.hint, sizeof(nearest.hint), "; did you mean '%s'?",
                     candidate);
        }
    }
    return *exact ? (struct nearest){ "" } : nearest;
}
