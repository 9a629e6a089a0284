/* SPDX-License-Identifier: MIT
 *
 * fp4.c - blocks of numbers of 4 bits, as ggml has them, and as checkpoints do
 *
 * Checkpoints have the numbers in one tensor and the scales in another, ggml
 * has them together, and in each byte not two neighbours but numbers half a
 * block apart.  Not one bit of them changes.
 */
#include "lib/derive/node.h"

/* A block of ggml: `groups` scales, then as many groups of `size` numbers. */
struct layout {
    enum mf_type type;
    size_t groups, size;
    uint8_t mask; /* of a scale's bits */
};

static const struct layout mxfp4 = { MF_TYPE_MXFP4, 1, 32, 0xff };
static const struct layout nvfp4 = { MF_TYPE_NVFP4, 4, 16, 0x7f };

struct fp4 {
    struct mf_derived node;
    const struct mf_derived *packed, *scale;
    const struct layout *layout;
};

/* Bytes of a block. */
#define BLOCK_MAX 36

/* Pairs of neighbours become pairs of numbers half a group apart. */
static void pair(const uint8_t *restrict from, uint8_t *restrict into,
                 size_t size)
{
    size_t half = size / 2;

    for (size_t i = 0; i < half; i++) {
        unsigned low = from[i / 2] >> i % 2 * 4 & 15;
        unsigned high = from[(half + i) / 2] >> (half + i) % 2 * 4 & 15;

        into[i] = (uint8_t)(low | high << 4);
    }
}

static void put_block(const struct layout *layout, const uint8_t *packed,
                      const uint8_t *scale, uint8_t *into)
{
    size_t bytes = layout->size / 2;
    uint8_t copy[BLOCK_MAX]; /* into may be the same place */

    memcpy(copy, packed, layout->groups * bytes);
    for (size_t i = 0; i < layout->groups; i++)
        *into++ = scale[i] & layout->mask;
    for (size_t i = 0; i < layout->groups; i++)
        pair(copy + i * bytes, into + i * bytes, layout->size);
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct fp4 *fp4 = (const struct fp4 *)node;
    const struct layout *layout = fp4->layout;
    const struct mf_type_row *type = &mf_types[node->type];
    uint64_t blocks = elements.size / type->block;
    size_t packed = type->block / 2; /* bytes */
    struct mf_span span = { elements.offset / 2, elements.size / 2 };
    /* At the end of the space: a block is read before it is written to. */
    const uint8_t *from = into + blocks * layout->groups;
    struct mf_derived_room own = mf_derived_take(&room, layout->groups);
    uint64_t first = elements.offset / layout->size;

    if (!mf_derived_read(fp4->packed, span, into + (from - into), room))
        return false;
    while (blocks > 0) {
        uint64_t some = own.size / layout->groups;

        some = some < blocks ? some : blocks;
        span = (struct mf_span){ first, some * layout->groups };
        if (!mf_derived_read(fp4->scale, span, own.at, room))
            return false;
        for (uint64_t i = 0; i < some; i++) {
            put_block(layout, from, own.at + i * layout->groups, into);
            from += packed;
            into += type->bytes;
        }
        first += span.size;
        blocks -= some;
    }
    return true;
}

static const struct mf_derived_ops fp4_ops = { MF_DERIVED_FP4, read, NULL };

/* Whether the packed numbers are those that the scales are for: they may have
 * a dimension for the bytes of a group. */
static bool fits(const struct mf_derivation *d, const struct layout *layout,
                 const struct mf_derived *packed,
                 const struct mf_derived *scale)
{
    uint64_t bytes = layout->size / 2;
    bool fit = mf_types[packed->type].bytes == 1 && scale->rank > 0 &&
               mf_types[scale->type].bytes == 1;
    uint32_t last = fit ? scale->rank - 1U : 0;

    for (uint32_t i = 0; fit && i < last; i++)
        fit = i < packed->rank && packed->dim[i] == scale->dim[i];
    if (fit && packed->rank == scale->rank)
        fit = packed->dim[last] % bytes == 0 &&
              packed->dim[last] / bytes == scale->dim[last];
    else if (fit)
        fit = packed->rank == scale->rank + 1 &&
              packed->dim[last] == scale->dim[last] &&
              packed->dim[last + 1] == bytes;
    if (!fit)
        mf_derived_misfit(d, packed,
                          "it does not have %zu bytes for each of its scales",
                          layout->size / 2);
    else if (scale->dim[last] % layout->groups != 0)
        mf_derived_misfit(d, scale,
                          "the last dimension is not a multiple of "
                          "%zu",
                          layout->groups);
    return fit && scale->dim[last] % layout->groups == 0;
}

static const struct mf_derived *make(const struct mf_derivation *d,
                                     const struct layout *layout,
                                     const struct mf_derived *packed,
                                     const struct mf_derived *scale)
{
    struct mf_shape shape = mf_derived_shape(scale);
    struct fp4 *fp4;

    if (!fits(d, layout, packed, scale))
        return NULL;
    /* Fits: it is twice the packed bytes. */
    shape.dim[shape.rank - 1] *= layout->size;
    fp4 = mf_derived_new(d, sizeof(*fp4), &fp4_ops, layout->type, &shape);
    if (!fp4 || !mf_derived_above(d, &fp4->node, packed) ||
        !mf_derived_above(d, &fp4->node, scale))
        return NULL;
    fp4->packed = packed;
    fp4->scale = scale;
    fp4->layout = layout;
    mf_derived_note(&fp4->node, packed->print);
    mf_derived_note(&fp4->node, scale->print);
    return &fp4->node;
}

const struct mf_derived *mf_derive_mxfp4(const struct mf_derivation *d,
                                         const struct mf_derived *packed,
                                         const struct mf_derived *scale)
{
    return make(d, &mxfp4, packed, scale);
}

const struct mf_derived *mf_derive_nvfp4(const struct mf_derivation *d,
                                         const struct mf_derived *packed,
                                         const struct mf_derived *scale)
{
    return make(d, &nvfp4, packed, scale);
}

/* ---- the other way ---- */

/* What is put together in the blocks below: bytes of numbers, or the scales. */
struct part {
    struct mf_derived node;
    const struct mf_derived *below;
    size_t bytes; /* of a block: 16 or 1 */
};

/* The inverse of pair. */
static void part_pairs(const uint8_t *restrict from, uint8_t *restrict into,
                       size_t size)
{
    size_t quarter = size / 4;

    for (size_t i = 0; i < quarter; i++) {
        unsigned a = from[2 * i], b = from[2 * i + 1];

        into[i] = (uint8_t)((a & 15) | (b & 15) << 4);
        into[quarter + i] = (uint8_t)(a >> 4 | (b & 0xf0));
    }
}

static void get_part(const struct part *part, const uint8_t *block,
                     uint8_t *into)
{
    if (part->bytes == 1)
        *into = *block;
    else
        part_pairs(block + mxfp4.groups, into, mxfp4.size);
}

/* Elements may begin and end inside a block. */
static bool read_part(const struct mf_derived *node, struct mf_span elements,
                      uint8_t *into, struct mf_derived_room room)
{
    const struct part *part = (const struct part *)node;
    const struct mf_type_row *type = &mf_types[MF_TYPE_MXFP4];
    struct mf_derived_room own = mf_derived_take(&room, type->bytes);
    uint64_t end = elements.offset + elements.size;

    for (uint64_t at = elements.offset; at < end;) {
        uint64_t first = at / part->bytes;
        uint64_t blocks = (end - 1) / part->bytes - first + 1;

        if (blocks > own.size / type->bytes)
            blocks = own.size / type->bytes;
        if (!mf_derived_read(
                part->below,
                (struct mf_span){ first * type->block, blocks * type->block },
                own.at, room))
            return false;
        for (uint64_t i = 0; i < blocks; i++) {
            size_t from = (size_t)(at % part->bytes);
            size_t count = part->bytes - from;
            uint8_t bytes[BLOCK_MAX];

            count = count < end - at ? count : (size_t)(end - at);
            get_part(part, own.at + i * type->bytes, bytes);
            memcpy(into, bytes + from, count);
            into += count;
            at += count;
        }
    }
    return true;
}

static const struct mf_derived_ops part_ops = { MF_DERIVED_FP4_PART, read_part,
                                                NULL };

static const struct mf_derived *take_part(const struct mf_derivation *d,
                                          const struct mf_derived *node,
                                          size_t bytes)
{
    struct mf_shape shape = mf_derived_shape(node);
    uint32_t last = shape.rank - 1U;
    struct part *part;

    if (node->type != MF_TYPE_MXFP4 || shape.rank == 0 ||
        shape.rank == MF_DERIVED_RANK || shape.dim[last] % mxfp4.size != 0) {
        mf_derived_misfit(d, node, "rows of mxfp4 expected, it is %s",
                          mf_types[node->type].name);
        return NULL;
    }
    shape.dim[last] /= mxfp4.size;
    if (bytes > 1)
        shape.dim[shape.rank++] = bytes;
    part = mf_derived_new(d, sizeof(*part), &part_ops, MF_TYPE_U8, &shape);
    if (!part || !mf_derived_above(d, &part->node, node))
        return NULL;
    part->below = node;
    part->bytes = bytes;
    mf_derived_note(&part->node, node->print);
    mf_derived_note(&part->node, bytes);
    return &part->node;
}

const struct mf_derived *mf_derive_mxfp4_packed(const struct mf_derivation *d,
                                                const struct mf_derived *node)
{
    return take_part(d, node, mxfp4.size / 2);
}

const struct mf_derived *mf_derive_mxfp4_scales(const struct mf_derivation *d,
                                                const struct mf_derived *node)
{
    return take_part(d, node, 1);
}
