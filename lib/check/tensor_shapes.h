/* SPDX-License-Identifier: MIT
 *
 * tensor_shapes.h - the tensors of a model, compared with its family's table
 */
#ifndef MF_LIB_TENSOR_SHAPES_H
#define MF_LIB_TENSOR_SHAPES_H

#include "lib/check/families.h"

struct mf_shapes {
    uint64_t blocks_seen; /* the highest block number in a name, plus one */
    bool any;             /* at least one tensor is in the table */
    uint32_t once;        /* parts found, of those outside blocks */
    uint32_t *filled;     /* parts found in each block; NULL: not checked */
};

/* Reports tensors of another shape than the table's; *out: what was found. */
enum mf_status mf_shapes_check(struct mf_model *model,
                               const struct mf_family *family,
                               struct mf_lengths *lengths,
                               struct mf_shapes *out);

/* Reports the parts that the family requires and the model lacks. */
void mf_shapes_check_parts(struct mf_model *model,
                           const struct mf_family *family,
                           const struct mf_lengths *lengths,
                           const struct mf_shapes *shapes);

#endif
