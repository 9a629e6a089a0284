/* SPDX-License-Identifier: MIT
 *
 * str.h - texts that say how long they are, compared
 *
 * A text that was not kept (at NULL) is like no other.
 */
#ifndef MF_LIB_STR_H
#define MF_LIB_STR_H

#include <string.h>

#include "lib/modelfile.h"

/* Letters of ASCII, in every locale. */
static inline char mf_small(char letter)
{
    return (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
}

/* Most texts differ in their first byte, which is looked at without a call. */
static inline bool mf_str_same(struct mf_str a, struct mf_str b)
{
    return a.size == b.size &&
           (a.size == 0 || (*a.at == *b.at && memcmp(a.at, b.at, a.size) == 0));
}

static inline bool mf_str_is(struct mf_str text, const char *other)
{
    if (!text.at || text.size == 0)
        return text.at && !*other;
    return *text.at == *other && text.size == strlen(other) &&
           memcmp(text.at, other, text.size) == 0;
}

static inline bool mf_str_begins(struct mf_str text, const char *head)
{
    size_t size = strlen(head);

    return text.size >= size &&
           (size == 0 ||
            (text.at[0] == head[0] && memcmp(text.at, head, size) == 0));
}

static inline bool mf_str_ends(struct mf_str text, const char *tail)
{
    size_t size = strlen(tail);

    return text.size >= size &&
           memcmp(text.at + text.size - size, tail, size) == 0;
}

static inline bool mf_str_holds(struct mf_str text, const char *part)
{
    size_t size = strlen(part);

    for (size_t i = 0; i + size <= text.size; i++)
        if (size == 0 ||
            (text.at[i] == part[0] && memcmp(text.at + i, part, size) == 0))
            return true;
    return false;
}

/* The same but for upper and lower case. */
static inline bool mf_str_alike(struct mf_str a, struct mf_str b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (mf_small(a.at[i]) != mf_small(b.at[i]))
            return false;
    return true;
}

#endif
