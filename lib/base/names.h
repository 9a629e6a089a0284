/* SPDX-License-Identifier: MIT
 *
 * names.h - finding a row of a table by its name
 *
 * An open-addressing table of row numbers, built once.  Names stay where they
 * are; a callback returns them.
 */
#ifndef MF_LIB_NAMES_H
#define MF_LIB_NAMES_H

#include "lib/base/heap.h"

#define MF_NOT_FOUND SIZE_MAX

struct mf_names {
    uint32_t *slot; /* row + 1; 0: free */
    size_t mask;    /* slots - 1; slots are a power of two */
    uint64_t seed;
    struct mf_str (*name_at)(const void *table, size_t row);
    const void *table;
};

/* Bytes that mf_names_init takes from the arena. */
size_t mf_names_size(size_t count);

/* Room for count names, empty.  seed, name_at and table are set
 * by the caller. */
enum mf_status mf_names_init(struct mf_names *names, struct mf_arena *arena,
                             size_t count);

/* Adds row and returns MF_NOT_FOUND; or, if an earlier row has that name,
 * returns that one, which stays the one to be found. */
size_t mf_names_add(struct mf_names *names, size_t row);

size_t mf_names_find(const struct mf_names *names, struct mf_str name);

#endif
