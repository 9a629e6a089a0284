/* SPDX-License-Identifier: MIT
 *
 * stack.c - which calls led here
 *
 * backtrace() follows the tables that exceptions need, which every object has,
 * whatever it was compiled with.  Frame pointers would be faster to follow, but
 * the C library and optimized code keep none.  Without backtrace() there is
 * only the innermost call.
 */
#include "lib/profile/stack.h"

#include <stdbool.h>
#include <stdlib.h>

#if defined(__GLIBC__) || defined(__APPLE__)
#include <execinfo.h>
#define HAS_BACKTRACE
#endif

/* Those between the one that is wanted and backtrace itself: they are of the
 * profile and of the malloc that it watches. */
#define INNER_MAX 16

#if defined(HAS_BACKTRACE)

/* backtrace() loads a library when it is called first.  If that fails, it would
 * try again, and allocate, in each capture: which would capture that. */
static bool is_loaded;

void mf_stack_prepare(void)
{
    void *address[1];

    is_loaded = backtrace(address, 1) > 0;
}

static size_t capture(void **address, size_t room)
{
    int count = is_loaded ? backtrace(address, (int)room) : 0;

    return count > 0 ? (size_t)count : 0;
}

#else

void mf_stack_prepare(void)
{
}

static size_t capture(void **address, size_t room)
{
    (void)address;
    (void)room;
    return 0;
}

#endif

void mf_stack_capture(struct mf_stack *stack, const void *caller)
{
    void *address[MF_STACK_MAX + INNER_MAX];
    size_t count = capture(address, MF_STACK_MAX + INNER_MAX), first = 0;

    while (first < count && first < INNER_MAX && address[first] != caller)
        first++;
    if (first == count || first == INNER_MAX) {
        stack->call[0] = (uintptr_t)caller - 1;
        stack->count = 1;
        return;
    }
    stack->count = 0;
    for (; first < count && stack->count < MF_STACK_MAX; first++)
        stack->call[stack->count++] = (uintptr_t)address[first] - 1;
}
