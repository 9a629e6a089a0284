/* SPDX-License-Identifier: MIT
 *
 * unpack.c - small numbers that share an integer
 */
#include <assert.h>

#include "lib/derive/node.h"

struct unpacked {
    struct mf_derived node;
    const struct mf_derived *below;
    unsigned bits, count;
};

static uint32_t load(const uint8_t *at, size_t size)
{
    uint32_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct unpacked *unpacked = (const struct unpacked *)node;
    size_t size = mf_types[unpacked->below->type].bytes;
    struct mf_derived_room own = mf_derived_take(&room, size);
    uint32_t mask = (1U << unpacked->bits) - 1;

    while (elements.size > 0) {
        uint64_t first = elements.offset / unpacked->count;
        unsigned place = (unsigned)(elements.offset % unpacked->count);
        uint64_t count =
            (place + elements.size + unpacked->count - 1) / unpacked->count;

        if (count > own.size / size)
            count = own.size / size;
        if (!mf_derived_read(unpacked->below, (struct mf_span){ first, count },
                             own.at, room))
            return false;
        for (uint64_t i = 0; i < count; i++) {
            uint32_t value = load(own.at + i * size, size);

            for (; place < unpacked->count && elements.size > 0; place++) {
                *into++ = (uint8_t)(value >> place * unpacked->bits & mask);
                elements.offset++;
                elements.size--;
            }
            place = 0;
        }
    }
    return true;
}

static const struct mf_derived_ops unpacked_ops = { MF_DERIVED_UNPACKED, read,
                                                    NULL };

const struct mf_derived *mf_derive_unpack(const struct mf_derivation *d,
                                          const struct mf_derived *node,
                                          unsigned bits, unsigned count)
{
    const struct mf_type_row *type = &mf_types[node->type];
    struct mf_shape shape = mf_derived_shape(node);
    struct unpacked *unpacked;

    assert(bits >= 1 && bits <= 8 && bits * count <= 32);
    if (type->block != 1 || bits * count > 8U * type->bytes ||
        type->bytes > sizeof(uint32_t) || shape.rank == MF_DERIVED_RANK) {
        mf_derived_misfit(d, node, "its %s do not have %u numbers of %u bits",
                          type->name, count, bits);
        return NULL;
    }
    shape.dim[shape.rank++] = count;
    unpacked =
        mf_derived_new(d, sizeof(*unpacked), &unpacked_ops, MF_TYPE_U8, &shape);
    if (!unpacked || !mf_derived_above(d, &unpacked->node, node))
        return NULL;
    unpacked->below = node;
    unpacked->bits = bits;
    unpacked->count = count;
    mf_derived_note(&unpacked->node, node->print);
    mf_derived_note(&unpacked->node, bits);
    return &unpacked->node;
}
