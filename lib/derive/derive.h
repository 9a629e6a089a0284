/* SPDX-License-Identifier: MIT
 *
 * derive.h - the room derive: tensors made of other tensors
 *
 * What comes in is a tree of nodes: tensors of a model, other shapes and parts
 * and orders of them, several put together, arithmetic.  What goes out is a
 * struct mf_source, whose bytes are computed while they are read: so whatever
 * moves, recodes, checks or hashes a tensor of a file does so with a derived
 * one as well, in pieces, on all threads.
 *
 * Invariants: a node never changes.  Its shape and type are checked when it is
 * made, so that reading fails only where a file cannot be read.  A read needs
 * no heap, and any number of threads may read.  What is only moved keeps every
 * bit; what is computed is computed as PyTorch does it on a processor, in f32,
 * and halves are rounded to halves again.
 *
 * The room does not know what a tensor is called, in which file it ends, or why
 * it is changed.
 *
 * Views of views and parts of parts are not put into one node each time: a node
 * has one more way to be read, and is read through the one below it.  Only
 * what is frequent (an order of a tensor's rows) is one step.
 */
#ifndef MF_LIB_DERIVE_H
#define MF_LIB_DERIVE_H

#include "lib/draft/draft.h"
#include "lib/lanes/isa.h"
#include "lib/model/model.h"

#define MF_DERIVED_RANK 6 /* dimensions at most */

struct mf_derived_ops;

/* A node.  Dimensions are slowest first, as in safetensors.  What kind of node
 * it is, its file knows; it lies in the derivation's arena. */
struct mf_derived {
    const struct mf_derived_ops *ops;
    uint64_t count; /* of elements */
    uint64_t print; /* a digest of what the node is; not of tensors' data */
    uint16_t type;  /* enum mf_type */
    uint8_t rank;   /* 0: a number */
    uint8_t depth;  /* of nodes below that need room of their own */
    uint64_t dim[MF_DERIVED_RANK];
};

/* Where nodes are made. */
struct mf_derivation {
    struct mf_env *env;
    struct mf_arena *arena; /* owns the nodes */
    const struct mf_isa *isa;
    struct mf_str name; /* of the tensor that is made, for messages */
};

enum mf_status mf_derivation_init(struct mf_derivation *derivation,
                                  struct mf_env *env, struct mf_arena *arena);

/* All return NULL after mf_fail: MF_ERR_CORRUPT where shapes do not fit. */

/* A tensor of the model, which must live as long. */
const struct mf_derived *mf_derive_tensor(const struct mf_derivation *,
                                          const struct mf_model *model,
                                          size_t index);

/* A vector of f32; the values are copied. */
const struct mf_derived *mf_derive_floats(const struct mf_derivation *,
                                          const float *values, uint64_t count);

/* Zeros. */
const struct mf_derived *mf_derive_zeros(const struct mf_derivation *,
                                         enum mf_type type, uint32_t rank,
                                         const uint64_t *dim);

/* The same elements in the same order, with other dimensions. */
const struct mf_derived *mf_derive_reshape(const struct mf_derivation *,
                                           const struct mf_derived *node,
                                           uint32_t rank, const uint64_t *dim);

/* Two dimensions change places. */
const struct mf_derived *mf_derive_swap(const struct mf_derivation *,
                                        const struct mf_derived *node,
                                        uint32_t a, uint32_t b);

/* count of the dimension, each step after the other, from one on. */
struct mf_derived_slice {
    uint32_t axis;
    uint64_t from, count, step; /* step 0: 1 */
};
const struct mf_derived *mf_derive_slice(const struct mf_derivation *,
                                         const struct mf_derived *node,
                                         struct mf_derived_slice slice);

/* One after the other along a dimension; nodes of one type, equal in all other
 * dimensions. */
const struct mf_derived *mf_derive_join(const struct mf_derivation *,
                                        uint32_t axis,
                                        const struct mf_derived *const *nodes,
                                        size_t count);

/* A new first dimension, one of whose places each node takes; all have one
 * type and shape. */
const struct mf_derived *mf_derive_stack(const struct mf_derivation *,
                                         const struct mf_derived *const *nodes,
                                         size_t count);

/* What becomes of each number. */
enum mf_map {
    MF_MAP_NONE,    /* the type alone changes */
    MF_MAP_ADD,     /* x + constant */
    MF_MAP_MUL,     /* x * constant */
    MF_MAP_EXP,     /* e^x */
    MF_MAP_NEG_EXP, /* -(e^x) */
    MF_MAP_LOG_NEG, /* what that was made of: of several the shortest */
    MF_MAP_TERNARY  /* x * constant as -1, 0 or 1, / constant */
};

/* Halves stay halves, all others become f32 before. */
const struct mf_derived *mf_derive_map(const struct mf_derivation *,
                                       const struct mf_derived *node,
                                       enum mf_map map, double constant);

const struct mf_derived *mf_derive_cast(const struct mf_derivation *,
                                        const struct mf_derived *node,
                                        enum mf_type type);

/* Quantized numbers as f32. */
const struct mf_derived *mf_derive_decoded(const struct mf_derivation *,
                                           const struct mf_derived *node);

/* ---- adapters ---- */

/* base + scale * (B A): A has as many columns, B as many rows as the base, of
 * whose type the sums are.  base NULL: a pair that cannot be read, only changed
 * like a matrix, and taken apart again.  What is done with the node is done to
 * base, A and B, where it can be. */
const struct mf_derived *mf_derive_lowrank(const struct mf_derivation *,
                                           const struct mf_derived *base,
                                           const struct mf_derived *a,
                                           const struct mf_derived *b,
                                           float scale);

/* Whether it is such a pair. */
bool mf_derived_is_lowrank(const struct mf_derived *node,
                           const struct mf_derived **a,
                           const struct mf_derived **b);

/* ---- compressed checkpoints ---- */

/* The numbers of `bits` bits that each integer has, the lowest bits first, as
 * u8 in a new last dimension of `count` places. */
const struct mf_derived *mf_derive_unpack(const struct mf_derivation *,
                                          const struct mf_derived *node,
                                          unsigned bits, unsigned count);

/* (weight - zero) * scale, or / scale, in f32.  All have as many dimensions as
 * the weight; a place of a dimension of scale and zero is for block[] places of
 * the weight's. */
struct mf_scaling {
    const struct mf_derived *weight, *scale, *zero; /* zero NULL: 0 */
    float zero_shift;                               /* is added to zero */
    bool divide;
    uint64_t block[MF_DERIVED_RANK]; /* 0: one for the whole dimension */
    /* Instead of the last block: a vector of whole numbers, the place for each
     * of the weight's last dimension; all are read once, to be checked.  Or
     * NULL. */
    const struct mf_derived *place;
};
const struct mf_derived *mf_derive_scaled(const struct mf_derivation *,
                                          const struct mf_scaling *scaling);

/* Blocks of MXFP4: numbers of 4 bits, two in each byte of packed, the lower
 * bits first, and for 32 of them one byte of scale.  Or of NVFP4: for 16 of
 * them one f8_e4m3, whose sign is dropped. */
const struct mf_derived *mf_derive_mxfp4(const struct mf_derivation *,
                                         const struct mf_derived *packed,
                                         const struct mf_derived *scale);
const struct mf_derived *mf_derive_nvfp4(const struct mf_derivation *,
                                         const struct mf_derived *packed,
                                         const struct mf_derived *scale);

/* The other way: of blocks of MXFP4 the packed numbers, with a new last
 * dimension for the bytes of a block, and the scales. */
const struct mf_derived *mf_derive_mxfp4_packed(const struct mf_derivation *,
                                                const struct mf_derived *node);
const struct mf_derived *mf_derive_mxfp4_scales(const struct mf_derivation *,
                                                const struct mf_derived *node);

/* ---- what becomes of nodes ---- */

/* Whether it has the bytes of a whole tensor of the model, and which. */
bool mf_derived_is_plain(const struct mf_derived *node, size_t *record);

/* Bytes of the node. */
uint64_t mf_derived_size(const struct mf_derived *node);

/* The node's bytes; name, for messages, must live as long.  Closing the source
 * does nothing. */
void mf_derived_open(const struct mf_derived *node, const char *name,
                     struct mf_source *out);

/* For a source that mf_derived_open made: a number that differs, but for
 * chance, where the node is another one, of whatever model. */
bool mf_derived_print(const struct mf_source *source, uint64_t *out);

/* Adds the node to the draft, as a tensor of that name and type. */
enum mf_status mf_derived_add(struct mf_draft *draft, struct mf_str name,
                              const struct mf_derived *node, enum mf_type type);

#endif
