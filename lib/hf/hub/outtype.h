/* SPDX-License-Identifier: MIT
 *
 * outtype.h - the type that each tensor of a converted folder gets
 *
 * The rules follow llama.cpp's converter: what ggml only adds or
 * multiplies by stays f32, and the rest gets the type that was asked for, or
 * f16 where its rows are not whole blocks of that.
 */
#ifndef MF_LIB_OUTTYPE_H
#define MF_LIB_OUTTYPE_H

#include "lib/base/str.h"
#include "lib/model/types.h"

/* A tensor as it will be written. */
struct mf_outtype_tensor {
    struct mf_str name;  /* in GGUF */
    uint32_t rank;       /* of dim */
    const uint64_t *dim; /* slowest first */
    bool always_f32;     /* by its row of the names: a router, positions ... */
    bool never_ternary;  /* likewise: an embedding or the output, f16 there */
    enum mf_type forced; /* unless it is a vector or norm: the family's own
                            choice; MF_TYPE_UNKNOWN: none */
};

/* "auto", tensor by tensor in the folder's order: what the first matrix of 16
 * bits has.  True where *out is known: no further tensor counts.  Without such
 * a matrix it is f16, which *out must be before the first call. */
bool mf_outtype_guess(enum mf_type type, uint32_t rank, enum mf_type *out);

enum mf_type mf_outtype_of(enum mf_type wanted,
                           const struct mf_outtype_tensor *tensor);

#endif
