/* SPDX-License-Identifier: MIT
 *
 * derive.c - nodes: what they have in common, leaves, and the source
 */
#include "lib/derive/derive.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>

#include "lib/derive/node.h"

enum mf_status mf_derivation_init(struct mf_derivation *derivation,
                                  struct mf_env *env, struct mf_arena *arena)
{
    *derivation = (struct mf_derivation){ .env = env,
                                          .arena = arena,
                                          .isa = mf_isa_choose(env) };
    return derivation->isa ? MF_OK : env->error.status;
}

/* ---- all nodes ---- */

struct mf_derived_room mf_derived_take(struct mf_derived_room *room,
                                       size_t element)
{
    struct mf_derived_room taken = *room;

    taken.size = room->size / 2;
    taken.size -= taken.size % element;
    room->at += taken.size;
    room->size -= taken.size;
    return taken;
}

enum mf_status mf_derived_misfit(const struct mf_derivation *derivation,
                                 const struct mf_derived *node,
                                 const char *format, ...)
{
    char text[160], shape[MF_DERIVED_RANK * 24] = "";
    size_t used = 0;
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    for (uint32_t i = 0; i < node->rank; i++)
        used +=
            (size_t)snprintf(shape + used, sizeof(shape) - used, "%s%" PRIu64,
                             i > 0 ? " x " : "", node->dim[i]);
    return mf_fail(derivation->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "tensor '%s' has the shape [%s]: %s",
                   mf_quote(derivation->name).text, shape, text);
}

struct mf_shape mf_derived_shape(const struct mf_derived *node)
{
    struct mf_shape shape = { .rank = node->rank };

    memcpy(shape.dim, node->dim, sizeof(shape.dim));
    return shape;
}

static void *unsupported(const struct mf_derivation *derivation)
{
    mf_fail(derivation->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s' cannot be made: its type or size is unsupported",
            mf_quote(derivation->name).text);
    return NULL;
}

/* A tensor as it is may have any type. */
static void *new_leaf(const struct mf_derivation *derivation, size_t size,
                      const struct mf_derived_ops *ops, enum mf_type type,
                      const struct mf_shape *shape)
{
    uint64_t count, bytes;
    struct mf_derived *node;

    if (type >= MF_TYPE_COUNT ||
        !mf_elements(shape->dim, shape->rank, &count) ||
        !mf_type_size(type, count, &bytes))
        return unsupported(derivation);
    node = mf_arena_take(derivation->arena, size);
    if (!node)
        return NULL;
    memset(node, 0, size);
    node->ops = ops;
    node->type = (uint16_t)type;
    node->count = count;
    node->rank = (uint8_t)shape->rank;
    memcpy(node->dim, shape->dim, sizeof(node->dim));
    mf_derived_note(node, ops->kind);
    mf_derived_note(node, type);
    for (uint32_t i = 0; i < shape->rank; i++)
        mf_derived_note(node, shape->dim[i]);
    return node;
}

/* Its parts would lack the one scale for all of it. */
static bool is_whole_only(enum mf_type type)
{
    return type < MF_TYPE_COUNT && mf_type_head(type) > 0;
}

void *mf_derived_new(const struct mf_derivation *derivation, size_t size,
                     const struct mf_derived_ops *ops, enum mf_type type,
                     const struct mf_shape *shape)
{
    return is_whole_only(type) ? unsupported(derivation)
                               : new_leaf(derivation, size, ops, type, shape);
}

bool mf_derived_above(const struct mf_derivation *derivation,
                      struct mf_derived *node, const struct mf_derived *below)
{
    if (is_whole_only((enum mf_type)below->type))
        return unsupported(derivation) != NULL;
    if (below->depth >= node->depth)
        node->depth = (uint8_t)(below->depth + 1);
    if (node->depth <= MF_DERIVED_DEPTH)
        return true;
    mf_derived_misfit(derivation, node, "too many steps lead to it");
    return false;
}

/* ---- a tensor of the model ---- */

struct leaf {
    struct mf_derived node;
    const struct mf_source *source;
    uint64_t offset; /* of its first byte */
    size_t record;
};

static bool leaf_read(const struct mf_derived *node, struct mf_span elements,
                      uint8_t *into, struct mf_derived_room room)
{
    const struct leaf *leaf = (const struct leaf *)node;
    enum mf_type type = (enum mf_type)node->type;

    return mf_source_fill(
        leaf->source, leaf->offset + mf_derived_bytes(type, elements.offset),
        into, mf_derived_bytes(type, elements.size), room.io);
}

static bool leaf_is_plain(const struct mf_derived *node, size_t *record)
{
    *record = ((const struct leaf *)node)->record;
    return true;
}

static const struct mf_derived_ops leaf_ops = { MF_DERIVED_TENSOR, leaf_read,
                                                leaf_is_plain };

const struct mf_derived *mf_derive_tensor(const struct mf_derivation *d,
                                          const struct mf_model *model,
                                          size_t index)
{
    const struct mf_record *record = &model->index.tensor[index];
    struct mf_shape shape = { .rank = record->rank };
    struct leaf *leaf;

    if (record->rank > MF_DERIVED_RANK) {
        mf_fail(
            d->env, MF_ERR_UNSUPPORTED, record->entry,
            "tensor '%s' has %u dimensions; at most %d are supported",
            mf_quote((struct mf_str){ record->name, record->name_size }).text,
            (unsigned)record->rank, MF_DERIVED_RANK);
        return NULL;
    }
    for (uint32_t i = 0; i < record->rank; i++)
        shape.dim[i] =
            record->dim[model->info.fastest_first ? record->rank - 1 - i : i];
    leaf = new_leaf(d, sizeof(*leaf), &leaf_ops, (enum mf_type)record->type,
                    &shape);
    if (!leaf)
        return NULL;
    if (mf_derived_size(&leaf->node) != record->size) {
        mf_derived_misfit(d, &leaf->node,
                          "its %" PRIu64 " bytes do not match that",
                          record->size);
        return NULL;
    }
    leaf->source = &model->file[record->shard].source;
    leaf->offset = mf_record_data(model, record);
    leaf->record = index;
    mf_derived_note(&leaf->node, index);
    return &leaf->node;
}

/* ---- made bytes ---- */

struct made {
    struct mf_derived node;
    uint8_t bytes[];
};

static bool made_read(const struct mf_derived *node, struct mf_span elements,
                      uint8_t *into, struct mf_derived_room room)
{
    const struct made *made = (const struct made *)node;
    enum mf_type type = (enum mf_type)node->type;

    (void)room;
    memcpy(into, made->bytes + mf_derived_bytes(type, elements.offset),
           mf_derived_bytes(type, elements.size));
    return true;
}

static const struct mf_derived_ops made_ops = { MF_DERIVED_MADE, made_read,
                                                NULL };

const struct mf_derived *mf_derive_floats(const struct mf_derivation *d,
                                          const float *values, uint64_t count)
{
    struct mf_shape shape = { .rank = 1, .dim = { count } };
    struct made *made =
        mf_derived_new(d, sizeof(*made) + (size_t)count * sizeof(*values),
                       &made_ops, MF_TYPE_F32, &shape);

    for (uint64_t i = 0; made && i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &values[i], sizeof(bits));
        mf_derived_note(&made->node, bits);
        for (size_t byte = 0; byte < sizeof(bits); byte++)
            made->bytes[i * sizeof(bits) + byte] = (uint8_t)(bits >> 8 * byte);
    }
    return made ? &made->node : NULL;
}

static bool zeros_read(const struct mf_derived *node, struct mf_span elements,
                       uint8_t *into, struct mf_derived_room room)
{
    (void)room;
    memset(into, 0, mf_derived_bytes((enum mf_type)node->type, elements.size));
    return true;
}

static const struct mf_derived_ops zeros_ops = { MF_DERIVED_ZEROS, zeros_read,
                                                 NULL };

const struct mf_derived *mf_derive_zeros(const struct mf_derivation *d,
                                         enum mf_type type, uint32_t rank,
                                         const uint64_t *dim)
{
    struct mf_shape shape = { .rank = rank };

    assert(rank <= MF_DERIVED_RANK);
    memcpy(shape.dim, dim, rank * sizeof(*dim));
    return mf_derived_new(d, sizeof(struct mf_derived), &zeros_ops, type,
                          &shape);
}

/* ---- the source ---- */

bool mf_derived_is_plain(const struct mf_derived *node, size_t *record)
{
    return node->ops->is_plain && node->ops->is_plain(node, record);
}

uint64_t mf_derived_size(const struct mf_derived *node)
{
    return mf_derived_bytes((enum mf_type)node->type, node->count);
}

/* Part of the block that offset is in, through a copy of the block. */
static int64_t read_edge(const struct mf_derived *node, uint64_t offset,
                         uint8_t *into, size_t size,
                         struct mf_derived_room room)
{
    const struct mf_type_row *type = &mf_types[node->type];
    struct mf_span block = { offset / type->bytes * type->block, type->block };
    size_t within = (size_t)(offset % type->bytes);
    uint8_t bytes[512];

    assert(type->bytes <= sizeof(bytes));
    if (size > type->bytes - within)
        size = type->bytes - within;
    if (!mf_derived_read(node, block, bytes, room))
        return -1;
    memcpy(into, bytes + within, size);
    return (int64_t)size;
}

static int64_t source_read(const struct mf_source *source, uint64_t offset,
                           void *buffer, size_t size, struct mf_io_stats *io)
{
    const struct mf_derived *node = source->user;
    const struct mf_type_row *type = &mf_types[node->type];
    uint64_t left = offset < source->size ? source->size - offset : 0;
    alignas(16) uint8_t bytes[MF_DERIVED_ROOM];
    struct mf_derived_room room = { bytes, sizeof(bytes), io };
    struct mf_span span;

    if (size > left)
        size = (size_t)left;
    if (size == 0)
        return 0;
    if (offset % type->bytes != 0 || size < type->bytes)
        return read_edge(node, offset, buffer, size, room);
    span.offset = offset / type->bytes * type->block;
    span.size = size / type->bytes * type->block;
    return mf_derived_read(node, span, buffer, room)
               ? (int64_t)(size - size % type->bytes)
               : -1;
}

static const struct mf_source_ops source_ops = { .read = source_read };

void mf_derived_open(const struct mf_derived *node, const char *name,
                     struct mf_source *out)
{
    *out = (struct mf_source){ .ops = &source_ops,
                               .name = name,
                               .size = mf_derived_size(node),
                               .fd = -1,
                               .user = (void *)node };
}

bool mf_derived_print(const struct mf_source *source, uint64_t *out)
{
    if (source->ops != &source_ops)
        return false;
    *out = ((const struct mf_derived *)source->user)->print;
    return true;
}
