/* SPDX-License-Identifier: MIT
 *
 * decode.c - quantized blocks as floats
 *
 * A read may begin and end within a block: it is decoded as a whole, and the
 * rest is dropped.
 */
#include <assert.h>
#include <stdalign.h>

#include "lib/base/little.h"
#include "lib/codec/codecs.h"
#include "lib/derive/node.h"

#define BLOCK_MAX                                                              \
    256 /* elements of a block; the bytes are fewer than floats                \
         */

struct decode {
    struct mf_derived node;
    const struct mf_derived *below;
    const struct mf_codec *codec;
};

static bool read_block(const struct decode *decode, struct mf_span part,
                       uint8_t *into, struct mf_derived_room room)
{
    const struct mf_type_row *type = &mf_types[decode->below->type];
    alignas(16) uint8_t bytes[BLOCK_MAX * sizeof(float)];
    float x[BLOCK_MAX];
    uint64_t within = part.offset % type->block;
    struct mf_span block = { part.offset - within, type->block };

    if (!mf_derived_read(decode->below, block, bytes, room))
        return false;
    decode->codec->decode(bytes, x, type->block);
    memcpy(into, x + within, (size_t)part.size * sizeof(float));
    mf_order_floats(into, (size_t)part.size);
    return true;
}

/* The part of the span that one block has. */
static uint64_t part_size(struct mf_span span, uint64_t block)
{
    uint64_t left = block - span.offset % block;

    return span.size < left ? span.size : left;
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct decode *decode = (const struct decode *)node;
    uint64_t block = mf_types[decode->below->type].block;

    while (elements.size > 0) {
        struct mf_span part = { elements.offset, part_size(elements, block) };

        if (!read_block(decode, part, into, room))
            return false;
        into += (size_t)part.size * sizeof(float);
        elements.offset += part.size;
        elements.size -= part.size;
    }
    return true;
}

static const struct mf_derived_ops ops = { MF_DERIVED_DECODED, read, NULL };

const struct mf_derived *mf_derive_decoded(const struct mf_derivation *d,
                                           const struct mf_derived *node)
{
    struct mf_shape shape = mf_derived_shape(node);
    const struct mf_codec *codec =
        mf_env_codec(d->env, d->isa, (enum mf_type)node->type);
    struct decode *decode;

    if (!codec || mf_types[node->type].block > BLOCK_MAX ||
        mf_types[node->type].bytes > BLOCK_MAX * sizeof(float)) {
        mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s': numbers of type %s cannot be decoded",
                mf_quote(d->name).text, mf_types[node->type].name);
        return NULL;
    }
    decode = mf_derived_new(d, sizeof(*decode), &ops, MF_TYPE_F32, &shape);
    if (!decode || !mf_derived_above(d, &decode->node, node))
        return NULL;
    decode->below = node;
    decode->codec = codec;
    mf_derived_note(&decode->node, node->print);
    return &decode->node;
}
