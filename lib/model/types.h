/* SPDX-License-Identifier: MIT
 *
 * types.h - block sizes of tensor types
 */
#ifndef MF_LIB_TYPES_H
#define MF_LIB_TYPES_H

#include "lib/modelfile.h"

enum mf_type {
#define TYPE(NAME, name, block, bytes) MF_TYPE_##NAME,
#include "lib/model/types.def"
#undef TYPE
    MF_TYPE_COUNT,
    MF_TYPE_UNKNOWN = MF_TYPE_COUNT /* the record's type_id says which */
};

struct mf_type_row {
    const char *name;
    uint16_t block, bytes;
};

extern const struct mf_type_row mf_types[MF_TYPE_COUNT];

/* Elements of a shape; false where the product does not fit 63 bits. */
bool mf_elements(const uint64_t *dim, uint32_t rank, uint64_t *out);

/* Bytes of a tensor of that many elements, stored flat; false where they are
 * not whole blocks or the product does not fit 63 bits. */
bool mf_type_size(enum mf_type type, uint64_t elements, uint64_t *out);

/* Bytes at the start of a tensor that belong to all of its elements: APR's
 * numbers of 8 bits have one scale. */
static inline size_t mf_type_head(enum mf_type type)
{
    return type == MF_TYPE_APR_Q8 ? sizeof(float) : 0;
}

/* APR's blocks of 32 go on from row to row, and the last one may lack some. */
static inline bool mf_type_flows(enum mf_type type)
{
    return type == MF_TYPE_APR_Q4;
}

/* How integers of a type are read; bools are 0 or 1. */
bool mf_type_is_integer(enum mf_type type);
bool mf_type_is_signed(enum mf_type type);

/* One of them: a number of type int64_t, converted, where the type is signed.
 */
uint64_t mf_integer_at(enum mf_type type, const uint8_t *bytes);

/* What PyTorch and transformers call floats of 32 and 16 bits; else NULL. */
const char *mf_type_torch(enum mf_type type);

static inline bool mf_type_is_quantized(enum mf_type type)
{
    return type < MF_TYPE_COUNT &&
           (mf_types[type].block > 1 || mf_type_head(type) > 0);
}

#endif
