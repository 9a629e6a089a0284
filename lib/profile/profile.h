/* SPDX-License-Identifier: MIT
 *
 * profile.h - which code allocates memory, and how much
 *
 * The room profile/ counts blocks by the stack of calls that made them.  In:
 * sizes of blocks that come, change and go.  Out: points (one per stack) with
 * names of functions and lines, and a file for the viewer of valgrind's DHAT.
 * It does not know who allocates: an env, through an allocator that wraps the
 * env's own, or the whole process, through the program's malloc.
 *
 * A point has to know what was live in it when the sum of all points was
 * highest.  Copying all points at each new peak would cost too much: instead
 * each peak has a number, and a point copies its own values when it is about to
 * change and has not done so since the last peak.
 */
#ifndef MF_LIB_PROFILE_H
#define MF_LIB_PROFILE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/profile/table.h"

/* ---- which calls led here ---- */

/* Deeper stacks lose their outermost calls. */
#define MF_STACK_MAX 192

struct mf_stack {
    /* Innermost first.  Each is within the instruction that made the call, one
     * byte before the address to which it returns. */
    uintptr_t call[MF_STACK_MAX];
    size_t count;
};

/* Loads what capturing needs.  The C library allocates memory when it does so
 * for the first time. */
void mf_stack_prepare(void);

/* The calls up to the one that returns to caller; calls further in are left
 * out. */
void mf_stack_capture(struct mf_stack *stack, const void *caller);

/* ---- which code allocates memory, and how much ---- */

struct mf_blocks {
    size_t bytes, blocks;
};

/* A stack of calls, and the blocks that it made. */
struct mf_point {
    const uint32_t *call; /* rows of mf_profile.call, innermost first */
    uint32_t call_count;
    uint64_t total_bytes, total_blocks;
    uint64_t lifetimes; /* of blocks that are gone, minus the births of those
                           that are not: microseconds, modulo 2^64 */
    struct mf_blocks live;
    struct mf_blocks most;    /* live, when that was most bytes */
    struct mf_blocks at_peak; /* live, when all points together were most */
    uint64_t peak;            /* the number of that peak */
};

struct mf_profile_view; /* view.h */

struct mf_profile {
    struct mf_env *env; /* its own, for its tables, names and files */
    struct mf_allocator allocator;
    struct mf_profile_options options;
    struct timespec started;
    atomic_flag busy; /* one thread at a time changes what follows */

    struct mf_arena arena; /* of point.call */
    uintptr_t *call;       /* each address that is in a stack, once */
    size_t call_count, call_room;
    struct mf_profile_ids call_ids;
    struct mf_point *point; /* the first is for what has no stack, because
                               there was no memory for it */
    size_t point_count, point_room;
    struct mf_profile_ids point_ids;

    struct mf_heap_stats stats;
    uint64_t peak, peak_time; /* number, and microseconds since the start */
    const void *first;        /* the first block of the allocator: the env */
    struct mf_profile_view *view; /* the points with names, or NULL */
    bool is_over;                 /* an expectation has failed */
};

/* Microseconds since the profile was started. */
uint64_t mf_profile_time(const struct mf_profile *profile);

/* What was live in the point at the highest peak. */
struct mf_blocks mf_point_at_peak(const struct mf_profile *profile,
                                  const struct mf_point *point);

/* A block of the env is gone that was its first: the env itself was freed. */
void mf_profile_env_freed(struct mf_profile *profile);

#endif
