/* SPDX-License-Identifier: MIT
 *
 * map.c - arithmetic on each number, and other types for them
 *
 * PyTorch computes in f32 and rounds to the type of the tensor: halves stay
 * halves, and this is what happens here.  The constant is rounded to f32 before
 * it is used, as there.
 */
#include <assert.h>
#include <math.h>

#include "lib/codec/codecs.h"
#include "lib/derive/node.h"

#define CHUNK 256

struct map {
    struct mf_derived node;
    const struct mf_derived *below;
    const struct mf_codec *decode, *encode;
    enum mf_map map;
    float constant;
};

/* e^x in double precision, rounded once: what PyTorch computes on x86, but for
 * one value in a hundred, which it rounds to the other side.  The C library's
 * exp is not used, whose last bits differ between machines. */
static float exp_of(float x)
{
    double q, s, u = 1;

    if (isnan(x))
        return x;
    if (x > 100) /* beyond all floats */
        return INFINITY;
    if (x < -120)
        return 0;
    q = rint(x * 1.4426950408889634); /* x = q ln 2 + s */
    s = x - q * 0x1.62e42feep-1 - q * 0x1.a39ef35793c76p-33;
    for (unsigned i = 16; i > 0; i--) /* the series of e^s */
        u = 1 + u * s / i;
    return (float)ldexp(u, (int)q);
}

/* Upper bits of x, the others 0. */
static float rounded(float x, unsigned bits, int32_t steps)
{
    uint32_t all;

    memcpy(&all, &x, sizeof(all));
    all = (all >> (32 - bits)) + (uint32_t)steps;
    all <<= 32 - bits;
    memcpy(&x, &all, sizeof(x));
    return x;
}

/* A number that exp_of makes -x of: one that was a bf16, else any f32.  Without
 * one, the nearest. */
static float log_neg(float x)
{
    float near = (float)log(-(double)x);

    if (!isfinite(near))
        return near;
    for (unsigned bits = 16; bits <= 32; bits += 16)
        for (int32_t i = 0; i < 9; i++) {
            float y = rounded(near, bits, i % 2 ? (i + 1) / 2 : -i / 2);

            if (-exp_of(y) == x)
                return y;
        }
    return near;
}

/* The nearest of -1, 0 and 1; not a number stays so. */
static float ternary(float x)
{
    float whole = rintf(x);

    return whole > 1 ? 1 : whole < -1 ? -1 : whole;
}

static void compute(const struct map *map, float *x, size_t count)
{
    switch (map->map) {
    case MF_MAP_NONE:
        break;
    case MF_MAP_ADD:
        for (size_t i = 0; i < count; i++)
            x[i] += map->constant;
        break;
    case MF_MAP_MUL:
        for (size_t i = 0; i < count; i++)
            x[i] *= map->constant;
        break;
    case MF_MAP_EXP:
        for (size_t i = 0; i < count; i++)
            x[i] = exp_of(x[i]);
        break;
    case MF_MAP_NEG_EXP:
        for (size_t i = 0; i < count; i++)
            x[i] = -exp_of(x[i]);
        break;
    case MF_MAP_LOG_NEG:
        for (size_t i = 0; i < count; i++)
            x[i] = log_neg(x[i]);
        break;
    case MF_MAP_TERNARY:
        for (size_t i = 0; i < count; i++)
            x[i] = ternary(x[i] * map->constant) / map->constant;
        break;
    }
}

/* Numbers of the type below at `from` become the node's; `into` may be the same
 * place or one before. */
static void convert(const struct map *map, const uint8_t *from, uint8_t *into,
                    uint64_t count)
{
    size_t in = mf_types[map->below->type].bytes;
    size_t out = mf_types[map->node.type].bytes;

    for (uint64_t done = 0; done < count;) {
        uint8_t bytes[CHUNK * sizeof(uint64_t)];
        float x[CHUNK];
        size_t some = count - done < CHUNK ? (size_t)(count - done) : CHUNK;

        memcpy(bytes, from + done * in, some * in);
        map->decode->decode(bytes, x, some);
        compute(map, x, some);
        map->encode->encode(x, NULL, bytes, some);
        memcpy(into + done * out, bytes, some * out);
        done += some;
    }
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct map *map = (const struct map *)node;
    size_t in = mf_types[map->below->type].bytes;
    size_t out = mf_types[node->type].bytes;
    struct mf_derived_room own;

    if (in <= out) { /* at the end of the space, so that it is read before it
                        is written to */
        uint8_t *from = into + elements.size * (out - in);

        if (!mf_derived_read(map->below, elements, from, room))
            return false;
        convert(map, from, into, elements.size);
        return true;
    }
    own = mf_derived_take(&room, in);
    while (elements.size > 0) {
        struct mf_span part = { elements.offset, own.size / in };

        if (part.size > elements.size)
            part.size = elements.size;
        if (!mf_derived_read(map->below, part, own.at, room))
            return false;
        convert(map, own.at, into, part.size);
        into += part.size * out;
        elements.offset += part.size;
        elements.size -= part.size;
    }
    return true;
}

static const struct mf_derived_ops map_ops = { MF_DERIVED_MAP, read, NULL };

static const struct mf_derived *make(const struct mf_derivation *d,
                                     const struct mf_derived *node,
                                     enum mf_type type, enum mf_map operation,
                                     double constant)
{
    struct mf_shape shape = mf_derived_shape(node);
    const struct mf_codec *decode =
        mf_env_codec(d->env, d->isa, (enum mf_type)node->type);
    const struct mf_codec *encode = mf_env_codec(d->env, d->isa, type);
    struct map *map;
    uint32_t bits;

    if (!decode || !encode || !encode->encode ||
        mf_types[node->type].block > 1 || mf_types[type].block > 1) {
        mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s': numbers of type %s cannot become %s",
                mf_quote(d->name).text, mf_types[node->type].name,
                mf_types[type].name);
        return NULL;
    }
    map = mf_derived_new(d, sizeof(*map), &map_ops, type, &shape);
    if (!map || !mf_derived_above(d, &map->node, node))
        return NULL;
    map->below = node;
    map->decode = decode;
    map->encode = encode;
    map->map = operation;
    map->constant = (float)constant;
    mf_derived_note(&map->node, node->print);
    mf_derived_note(&map->node, operation);
    memcpy(&bits, &map->constant, sizeof(bits));
    mf_derived_note(&map->node, bits);
    return &map->node;
}

const struct mf_derived *mf_derive_map(const struct mf_derivation *d,
                                       const struct mf_derived *node,
                                       enum mf_map map, double constant)
{
    enum mf_type type = node->type == MF_TYPE_F16 ? MF_TYPE_F16 : MF_TYPE_F32;
    const struct mf_derived *pair;

    if (mf_lowrank_map(d, node, map, constant, &pair))
        return pair;
    return make(d, node, type, map, constant);
}

const struct mf_derived *mf_derive_cast(const struct mf_derivation *d,
                                        const struct mf_derived *node,
                                        enum mf_type type)
{
    const struct mf_derived *pair;

    if (node->type == type)
        return node;
    if (mf_lowrank_cast(d, node, type, &pair))
        return pair;
    return make(d, node, type, MF_MAP_NONE, 0);
}
