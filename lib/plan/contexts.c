/* SPDX-License-Identifier: MIT
 *
 * contexts.c - the contexts that curves of memory are computed for
 */
#include "lib/plan/plan.h"

#include "lib/program.h"

#define STEPS 32 /* of equal width, to the longest context */

_Static_assert(MF_PLAN_POINTS >= STEPS + 24,
               "room for 24 powers of two: llama.cpp counts tokens in 32 bits");

/* Short contexts are chosen most, and windows bend the curve there, so powers
 * of two come before the first step. */
size_t mf_plan_contexts(uint64_t most, uint64_t out[MF_PLAN_POINTS])
{
    uint64_t step, at = MF_PLAN_CELLS;
    size_t count = 0;

    if (most > MF_PLAN_TOKENS_MAX)
        most = MF_PLAN_TOKENS_MAX;
    if (most == 0)
        most = MF_PLAN_CELLS;
    step = mf_plan_round(most / STEPS + (most % STEPS > 0), MF_PLAN_CELLS);
    for (; at < step && at < most; at *= 2)
        out[count++] = at;
    for (at = step; at < most; at += step)
        out[count++] = at;
    out[count++] = most;
    return count;
}
