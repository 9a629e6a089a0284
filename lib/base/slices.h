/* SPDX-License-Identifier: MIT
 *
 * slices.h - long things cut up, so that all threads find work
 *
 * A list of slices in order, of bounded length: the more there is in all, the
 * longer each of them.
 */
#ifndef MF_LIB_SLICES_H
#define MF_LIB_SLICES_H

#include "lib/base/heap.h"

struct mf_slice {
    uint64_t from, size; /* bytes of the thing */
    uint64_t found;      /* what a task leaves for whoever joins slices */
    uint32_t thing;
};

struct mf_slices {
    struct mf_env *env;
    struct mf_slice *at;
    size_t count, room;
    size_t coming; /* things that are not cut yet */
    uint64_t most; /* bytes of a slice */
};

/* Room for the slices of so many things with `total` bytes in all. */
enum mf_status mf_slices_init(struct mf_slices *slices, struct mf_env *env,
                              size_t things, uint64_t total);
void mf_slices_release(struct mf_slices *slices);

/* The next thing: in slices, at least one, or in one where it is not to be
 * cut. */
void mf_slices_add(struct mf_slices *slices, uint32_t thing, uint64_t size,
                   bool whole);

#endif
