/* SPDX-License-Identifier: MIT
 *
 * entries.h - the names in a folder, one after the other
 *
 * readdir of the C library takes 32 KiB of heap for any folder, which is more
 * than the rest of many a command needs; it is used only where Linux's own call
 * is not known.
 */
#ifndef MF_LIB_ENTRIES_H
#define MF_LIB_ENTRIES_H

#if !defined(__linux__)
#include <dirent.h>
#endif
#include <stddef.h>
#include <stdint.h>

struct mf_entries {
    int folder; /* -1: none is open */
#if defined(__linux__)
    size_t at, filled; /* bytes of the list read last */
    union {
        uint64_t align;
        uint8_t bytes[2048]; /* the longest entry has 280 */
    } list;
#else
    DIR *stream;
#endif
};

/* folder: open, and read from its beginning; mf_entries_end closes it.  One
 * that is negative, because it could not be opened, has no names: EBADF. */
void mf_entries_begin(struct mf_entries *entries, int folder);
void mf_entries_end(struct mf_entries *entries);

/* The next name, valid until the next call, "." and ".." among them; NULL at
 * the end with errno 0, or with that of a failure. */
const char *mf_entries_next(struct mf_entries *entries);

#endif
