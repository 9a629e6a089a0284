/* SPDX-License-Identifier: MIT
 *
 * compare.h - a tensor of the model compared with the source's, part by part
 */
#ifndef MF_LIB_VERIFY_COMPARE_H
#define MF_LIB_VERIFY_COMPARE_H

#include "lib/verify/verify.h"
#include "lib/write/weights.h"

struct mf_verify_part {
    struct mf_piece piece; /* of the source */
    struct mf_claim *claim;
    const struct mf_source *file; /* of the model */
    uint64_t place;               /* of its bytes there */
    uint64_t block;               /* number of its first block */
    uint64_t differ, first;       /* blocks; the first of them */
    bool refused;                 /* a row of the source has no encoding */
};

struct mf_comparison {
    struct mf_verification *work;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct mf_verify_part *part;
    size_t count, room;
    struct mf_weight_buffer weights;
    float largest;       /* magnitude in a tensor with one scale */
    bool tries;          /* one difference is enough */
    atomic_bool refuted; /* and was found */
    bool explains;       /* a row without an encoding is an error */
};

/* Bytes of a block; of an unknown type each byte counts as one. */
static inline size_t mf_verify_block(const struct mf_draft_tensor *tensor)
{
    return tensor->type == MF_TYPE_UNKNOWN ? 1 : mf_types[tensor->type].bytes;
}

/* For mf_crew_run: compares part `task` of the comparison, the context. */
mf_task mf_verify_compare_part;

#endif
