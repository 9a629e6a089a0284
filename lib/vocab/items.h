/* SPDX-License-Identifier: MIT
 *
 * items.h - the elements of a metadata array, one after the other
 */
#ifndef MF_LIB_ITEMS_H
#define MF_LIB_ITEMS_H

#include "lib/model/model.h"

/* Where a long text is cut into pieces depends on the window, so its hash is
 * made of parts of this size, each one's the seed of the next. */
#define MF_ITEM_PART ((size_t)1024)

struct mf_items {
    struct mf_values *values;
    uint64_t seed;  /* of the hashes of texts */
    uint64_t at;    /* the number of the element, from 0 on */
    uint64_t ahead; /* elements to come */
    /* The element: */
    uint64_t offset; /* in the file */
    union mf_number number;
    /* A text, as a program in C reads it: up to the first NUL. */
    struct mf_str text; /* at most its first HEAD_MAX bytes if it is long */
    uint64_t size, hash;
    bool has_nul; /* more bytes follow after the text */
    bool whole;   /* text is all of it, and at most MF_ITEM_WHOLE bytes */
    char head[128];
    /* private: bytes of a long text that are not in the hash yet */
    size_t part_size;
    char part[MF_ITEM_PART];
};

/* The longest text that is given whole; any window has room for it. */
#define MF_ITEM_WHOLE MF_WINDOW_LEAST

/* Begins with the element before the first.  meta is an array of numbers or of
 * strings. */
enum mf_status mf_items_open(struct mf_items *items, struct mf_model *model,
                             const struct mf_meta *meta);
void mf_items_close(struct mf_items *items);

/* Goes to the next element; false at the end, or after mf_fail. */
bool mf_items_next(struct mf_items *items);

/* The hash that an element with this text has. */
uint64_t mf_item_hash(struct mf_str text, uint64_t seed);

/* Whether element a of the array has the same text as element b. */
enum mf_status mf_items_same(struct mf_model *model, const struct mf_meta *meta,
                             uint64_t a, uint64_t b, bool *same);

/* What llama.cpp calls an empty token. */
struct mf_empty_name {
    char text[32];
};
struct mf_empty_name mf_empty_name(uint64_t token);

#endif
