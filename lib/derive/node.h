/* SPDX-License-Identifier: MIT
 *
 * node.h - what the kinds of nodes have in common
 */
#ifndef MF_LIB_DERIVE_NODE_H
#define MF_LIB_DERIVE_NODE_H

#include "lib/derive/derive.h"

/* Memory that a read may use, on the reader's stack; nodes below get a part of
 * it.  After MF_DERIVED_DEPTH halvings there are 512 bytes left. */
#define MF_DERIVED_ROOM  ((size_t)128 * 1024)
#define MF_DERIVED_DEPTH 8

struct mf_derived_room {
    uint8_t *at;
    size_t size;
    struct mf_io_stats *io; /* counts what is read of the model's files */
};

enum mf_derived_kind { /* any numbers: they begin a node's print */
                       MF_DERIVED_TENSOR = 1,
                       MF_DERIVED_MADE,
                       MF_DERIVED_ZEROS,
                       MF_DERIVED_VIEW,
                       MF_DERIVED_JOIN,
                       MF_DERIVED_MAP,
                       MF_DERIVED_UNPACKED,
                       MF_DERIVED_SCALED,
                       MF_DERIVED_FP4,
                       MF_DERIVED_LOWRANK,
                       MF_DERIVED_DECODED,
                       MF_DERIVED_FP4_PART
};

struct mf_derived_ops {
    enum mf_derived_kind kind;
    /* Reads elements, whole blocks; false with errno set. */
    bool (*read)(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room);
    /* Whether it is a whole tensor of the model; NULL: it is not. */
    bool (*is_plain)(const struct mf_derived *node, size_t *record);
};

static inline bool mf_derived_read(const struct mf_derived *node,
                                   struct mf_span elements, uint8_t *into,
                                   struct mf_derived_room room)
{
    return node->ops->read(node, elements, into, room);
}

/* Takes half of the room, or less: whole elements of that size.  The rest is
 * for nodes below. */
struct mf_derived_room mf_derived_take(struct mf_derived_room *room,
                                       size_t element);

struct mf_codec;

/* Reads elements that have at most the bytes of floats, as floats. */
bool mf_derived_floats(const struct mf_derived *node,
                       const struct mf_codec *codec, struct mf_span elements,
                       float *into, struct mf_derived_room room);

/* The codec for that, or NULL after mf_fail. */
const struct mf_codec *mf_derived_codec(const struct mf_derivation *derivation,
                                        const struct mf_derived *node);

/* Bytes of so many elements, which fit: they are part of a node. */
static inline size_t mf_derived_bytes(enum mf_type type, uint64_t elements)
{
    return (size_t)(elements / mf_types[type].block * mf_types[type].bytes);
}

/* A node of `size` bytes, struct mf_derived first, with a shape that is
 * checked; NULL after mf_fail. */
struct mf_shape {
    uint32_t rank;
    uint64_t dim[MF_DERIVED_RANK];
};
void *mf_derived_new(const struct mf_derivation *derivation, size_t size,
                     const struct mf_derived_ops *ops, enum mf_type type,
                     const struct mf_shape *shape);

/* Adds to the node's print. */
static inline void mf_derived_note(struct mf_derived *node, uint64_t word)
{
    uint64_t mixed = (node->print ^ word) * UINT64_C(0x9e3779b97f4a7c15);

    node->print = mixed ^ mixed >> 29;
}

struct mf_shape mf_derived_shape(const struct mf_derived *node);

/* A node that is read through `below`, with room of its own; false after
 * mf_fail where that are too many. */
bool mf_derived_above(const struct mf_derivation *derivation,
                      struct mf_derived *node, const struct mf_derived *below);

/* MF_ERR_CORRUPT, with the tensor's name and the node's shape. */
enum mf_status mf_derived_misfit(const struct mf_derivation *derivation,
                                 const struct mf_derived *node,
                                 const char *format, ...) MF_PRINTF(3, 4);

/* ---- a node's elements in another order, or some of them ---- */

struct mf_axis {
    uint64_t count, stride; /* in elements of the node below */
};

/* Element (i, j, ...) is element offset + i * stride + j * stride + ... of
 * the node below, whose own elements count row by row. */
struct mf_derived_view {
    struct mf_derived node;
    const struct mf_derived *below;
    uint64_t offset;
    uint32_t rank; /* of axis: dimensions of one place are left out, and
                      dimensions that are one in memory are put together */
    struct mf_axis axis[];
};

bool mf_view_read(const struct mf_derived *node, struct mf_span elements,
                  uint8_t *into, struct mf_derived_room room);

/* ---- between the files that make nodes and lowrank.c ---- */

/* Each is true where it has made the node, *out, NULL after mf_fail; false: the
 * node is read as any other. */

bool mf_lowrank_reshape(const struct mf_derivation *d,
                        const struct mf_derived *node, uint32_t rank,
                        const uint64_t *dim, const struct mf_derived **out);
bool mf_lowrank_swap(const struct mf_derivation *d,
                     const struct mf_derived *node, uint32_t a, uint32_t b,
                     const struct mf_derived **out);
bool mf_lowrank_slice(const struct mf_derivation *d,
                      const struct mf_derived *node,
                      struct mf_derived_slice slice,
                      const struct mf_derived **out);
bool mf_lowrank_join(const struct mf_derivation *d, uint32_t axis,
                     const struct mf_derived *const *nodes, size_t count,
                     bool stack, const struct mf_derived **out);
bool mf_lowrank_map(const struct mf_derivation *d,
                    const struct mf_derived *node, enum mf_map map,
                    double constant, const struct mf_derived **out);
bool mf_lowrank_cast(const struct mf_derivation *d,
                     const struct mf_derived *node, enum mf_type type,
                     const struct mf_derived **out);

#endif
