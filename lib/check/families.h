/* SPDX-License-Identifier: MIT
 *
 * families.h - the tables of lib/check/architecture.def
 */
#ifndef MF_LIB_FAMILIES_H
#define MF_LIB_FAMILIES_H

#include "lib/check/lengths.h"

#define MF_SHAPE_RANK 3 /* no tensor of the table has more dimensions */

/* The bits are named in lib/check/families.c; elsewhere they are only compared.
 */
struct mf_family {
    uint64_t keys;   /* bit n: enum mf_fact or mf_detail n */
    uint32_t parts;  /* required */
    uint32_t traits; /* rows with one of these apply to it */
};

struct mf_tensor_row {
    const char *gguf, *hf; /* "*" for a number; NULL: has no name there */
    uint32_t trait;
    enum mf_length shape[MF_SHAPE_RANK]; /* contiguous dimension first */
    uint32_t fills;                      /* parts that it provides */
};

extern const struct mf_tensor_row mf_tensor_rows[];
extern const size_t mf_tensor_row_count;

/* Parts outside blocks; the others are in each block. */
extern const uint32_t mf_parts_once;

/* NULL for an unknown architecture. */
const struct mf_family *mf_family_of(struct mf_str architecture);

#endif
