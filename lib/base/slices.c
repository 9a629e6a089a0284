/* SPDX-License-Identifier: MIT
 *
 * slices.c - cuts tensors into slices, so that all threads have work
 *
 * One task per tensor leaves threads idle at the end, when one of them has the
 * largest tensor; one task per buffer costs a hand-over for each.  Slices of 16
 * MiB and up are between: their number is bounded, and so is the memory for
 * them.
 */
#include "lib/base/slices.h"

#include <assert.h>

/* Short enough that two threads finish together on a small model, long enough
 * that handing it out costs nothing.  Above 64 GiB slices grow, not their
 * number. */
#define SLICE_MIN ((uint64_t)16 * 1024 * 1024)
#define SLICES    4096

enum mf_status mf_slices_init(struct mf_slices *slices, struct mf_env *env,
                              size_t things, uint64_t total)
{
    uint64_t most = total / SLICES + 1;
    size_t room;

    most = most > SLICE_MIN ? most : SLICE_MIN;
    /* Each thing has one that is not full. */
    room = things + (size_t)(total / most) + 1;
    *slices = (struct mf_slices){
        .env = env, .room = room, .coming = things, .most = most
    };
    slices->at = mf_alloc(env, room * sizeof(*slices->at));
    return slices->at ? MF_OK : env->error.status;
}

void mf_slices_release(struct mf_slices *slices)
{
    if (slices->env)
        mf_release(slices->env, slices->at, slices->room * sizeof(*slices->at));
    *slices = (struct mf_slices){ 0 };
}

void mf_slices_add(struct mf_slices *slices, uint32_t thing, uint64_t size,
                   bool whole)
{
    uint64_t from = 0;

    assert(slices->coming > 0 &&
           slices->count + slices->coming <= slices->room);
    slices->coming--;
    do {
        uint64_t left = size - from;
        /* Sizes may add up to more than `total`, even to more than 64 bits; the
         * rest is one slice then. */
        bool last = whole || left <= slices->most ||
                    slices->count + slices->coming + 1 == slices->room;

        left = last ? left : slices->most;
        slices->at[slices->count++] =
            (struct mf_slice){ .from = from, .size = left, .thing = thing };
        from += left;
    } while (from < size);
}
