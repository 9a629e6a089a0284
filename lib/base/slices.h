/* SPDX-License-Identifier: MIT
 *
 * slices.h - cuts tensors into slices, so that all threads have work
 *
 * A list of slices in order, of bounded length: the more bytes in all, the
 * longer each slice.
 */
#ifndef MF_LIB_SLICES_H
#define MF_LIB_SLICES_H

#include "lib/base/heap.h"

struct mf_slice {
    uint64_t from, size; /* bytes of the thing */
    uint64_t found;      /* the task's result, for joining the slices */
    uint32_t thing;      /* the caller's number of what is cut */
};

struct mf_slices {
    struct mf_env *env;
    struct mf_slice *at;
    size_t count, room;
    size_t coming; /* things still to be cut */
    uint64_t most; /* bytes of a slice */
};

/* Room for the slices of so many things with `total` bytes in all. */
enum mf_status mf_slices_init(struct mf_slices *slices, struct mf_env *env,
                              size_t things, uint64_t total);
void mf_slices_release(struct mf_slices *slices);

/* Adds the next thing: as one slice or more; as exactly one if whole. */
void mf_slices_add(struct mf_slices *slices, uint32_t thing, uint64_t size,
                   bool whole);

#endif
