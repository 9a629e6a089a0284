/* SPDX-License-Identifier: MIT
 *
 * compare.h - compares the bytes of tensors
 */
#ifndef MF_LIB_COMPARE_H
#define MF_LIB_COMPARE_H

#include "lib/compare/hash.h"

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
