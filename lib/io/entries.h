/* SPDX-License-Identifier: MIT
 *
 * entries.h - the names in a folder, one after the other
 *
 * readdir of the C library takes 32 KiB of heap for any folder, which is more
 * than the rest of many a command needs.
 */
#ifndef MF_LIB_ENTRIES_H
#define MF_LIB_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

struct mf_entries {
    int folder;        /* stays the caller's */
    size_t at, filled; /* bytes of the list read last */
    union {
        uint64_t align;
        uint8_t bytes[2048]; /* the longest entry has 280 */
    } list;
};

/* folder: open, and read from its beginning. */
void mf_entries_begin(struct mf_entries *entries, int folder);

/* The next name, valid until the next call, "." and ".." among them; NULL at
 * the end with errno 0, or with that of a failure. */
const char *mf_entries_next(struct mf_entries *entries);

#endif
