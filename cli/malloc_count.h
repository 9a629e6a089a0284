/* SPDX-License-Identifier: MIT
 *
 * malloc_count.h - the C heap of the whole process, counted
 *
 * Linked into the program only, never into the library: a library that
 * replaces its user's malloc would be a rude guest.
 */
#ifndef MF_CLI_MALLOC_COUNT_H
#define MF_CLI_MALLOC_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_heap {
    size_t live, peak;    /* bytes asked for, now and at most */
    uint64_t allocations; /* successful calls that gave or moved a block */
};

/* Counted since the program started, the C library's own blocks included.
 * False (out untouched) where this build leaves malloc alone: under a
 * sanitizer, with a C library that is not glibc, or by -DMF_NO_MALLOC_COUNT. */
bool process_heap(struct process_heap *out);

#endif
