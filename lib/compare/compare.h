/* SPDX-License-Identifier: MIT
 *
 * compare.h - compares the bytes of tensors
 */
#ifndef MF_LIB_COMPARE_H
#define MF_LIB_COMPARE_H

#include "lib/base/heap.h"
#include "lib/compare/hash.h"

/* ---- tensors cut into slices, so that all threads have work ---- */

/* A list of slices in order, of bounded length: the more bytes in all, the
 * longer each slice. */

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

/* ---- compares the bytes of tensors ---- */

/* A tensor of one of several models. */
struct mf_of_model {
    uint32_t model, tensor;
};

/* Two tensors of equal size. */
struct mf_pair {
    struct mf_of_model a, b;
    uint64_t first; /* the first byte that differs; the size where all are
                       equal */
};

/* Sets `first` of each pair.  All models belong to one env. */
enum mf_status mf_compare(struct mf_model *const *model, struct mf_pair *pair,
                          size_t count);

/* There are two files that an error may be about: it says which. */
enum mf_status mf_file_add_context(struct mf_env *env,
                                   const struct mf_file *file);

/* As mf_missing_refuse, with the file in the message. */
enum mf_status mf_compare_whole(struct mf_model *model);

/* As mf_tensor_readable, with the file in the message. */
enum mf_status mf_compare_readable(struct mf_model *model, uint32_t tensor);

#endif
