/* SPDX-License-Identifier: MIT
 *
 * families.h - the tables of lib/check/architecture.def
 */
#ifndef MF_LIB_FAMILIES_H
#define MF_LIB_FAMILIES_H

#include "lib/check/lengths.h"

#define MF_SHAPE_RANK 3 /* no tensor of the table has more dimensions */

/* Bits of lib/check/families.c; elsewhere they are only compared. */
struct mf_family {
    uint64_t keys;   /* bit n: enum mf_fact or mf_detail n */
    uint32_t parts;  /* that must be there */
    uint32_t traits; /* of the rows that hold for it */
};

struct mf_tensor_row {
    const char *gguf, *hf; /* "*" for a number; NULL: none */
    uint32_t trait;
    enum mf_length shape[MF_SHAPE_RANK]; /* contiguous dimension first */
    uint32_t fills;
};

extern const struct mf_tensor_row mf_tensor_rows[];
extern const size_t mf_tensor_row_count;

/* Parts of a model, which are there once; the others are in each block. */
extern const uint32_t mf_parts_once;

/* NULL for an architecture that is not known. */
const struct mf_family *mf_family_of(struct mf_str architecture);

#endif
