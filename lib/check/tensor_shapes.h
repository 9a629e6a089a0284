/* SPDX-License-Identifier: MIT
 *
 * tensor_shapes.h - the tensors of a model held against the table of its family
 */
#ifndef MF_LIB_TENSOR_SHAPES_H
#define MF_LIB_TENSOR_SHAPES_H

#include "lib/check/families.h"

struct mf_shapes {
    uint64_t blocks_seen; /* the highest block number of a name, and one */
    bool any;             /* a tensor that the table has */
    uint32_t once;        /* parts that are there, of those that are once */
    uint32_t *filled;     /* of each block; NULL: blocks are not looked at */
};

/* Notes the tensors whose shape is another one; *out says what is there. */
enum mf_status mf_shapes_check(struct mf_model *model,
                               const struct mf_family *family,
                               struct mf_lengths *lengths,
                               struct mf_shapes *out);

/* Notes what the family has and the model lacks. */
void mf_shapes_check_parts(struct mf_model *model,
                           const struct mf_family *family,
                           const struct mf_lengths *lengths,
                           const struct mf_shapes *shapes);

#endif
