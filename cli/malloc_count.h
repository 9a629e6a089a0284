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
    size_t live, peak;    /* requested bytes, now and at most */
    uint64_t allocations; /* successful calls that made or moved a block */
};

/* Since the start of the program, including the C library's own blocks.  False,
 * with out unchanged, in builds that do not replace malloc: with a sanitizer,
 * without glibc, or with -DMF_NO_MALLOC_COUNT. */
bool process_heap(struct process_heap *out);

/* From now on refuses, with ENOMEM, what would make more than limit bytes live;
 * SIZE_MAX: no limit.  False, and nothing is limited, in the same builds. */
bool process_heap_limit(size_t limit);

/* Whether the limit has refused anything. */
bool process_heap_refused(void);

/* How many bytes the limit leaves; SIZE_MAX without a limit. */
size_t process_heap_left(void);

/* Functions to call for every block that is made, moved or freed. */
struct malloc_watch {
    /* A block of old_size bytes (0: a new one) has new_size (0: it will be
     * freed), at the request of the code at caller.  tag: what was returned for
     * the block last time, or 0.  Returns the block's tag; not 0. */
    uint64_t (*change)(void *user, uint64_t tag, size_t old_size,
                       size_t new_size, const void *caller);
    void *user;
};

/* From now on the counts of process_heap begin at 0, and blocks that were made
 * before are not counted.  watch NULL ends it.  At the start or at the end of
 * the program, when it has one thread.  False where process_heap is. */
bool malloc_watch(const struct malloc_watch *watch);

/* An allocator (struct mf_allocator) for the watch itself: neither watched nor
 * counted. */
void *malloc_uncounted(void *user, void *block, size_t old_size,
                       size_t new_size);

#endif
