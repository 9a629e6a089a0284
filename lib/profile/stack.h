/* SPDX-License-Identifier: MIT
 *
 * stack.h - which calls led here
 */
#ifndef MF_LIB_STACK_H
#define MF_LIB_STACK_H

#include <stddef.h>
#include <stdint.h>

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

#endif
