/* SPDX-License-Identifier: MIT
 *
 * types.h - block sizes of tensor types
 */
#ifndef MF_LIB_TYPES_H
#define MF_LIB_TYPES_H

#include "lib/modelfile.h"

enum mf_type {
#define TYPE(NAME, name, block, bytes) MF_TYPE_##NAME,
#include "lib/types.def"
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

/* Bytes of that many elements, stored flat; false where they are not whole
 * blocks or the product does not fit 63 bits. */
bool mf_type_size(enum mf_type type, uint64_t elements, uint64_t *out);

#endif
