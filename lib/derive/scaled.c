/* SPDX-License-Identifier: MIT
 *
 * scaled.c - weights times their scales
 *
 * Scales are read as they are needed, many at once: a window of them is kept
 * while a part is computed.
 */
#include <assert.h>
#include <stdalign.h>

#include "lib/base/decimal.h"
#include "lib/base/little.h"
#include "lib/codec/codecs.h"
#include "lib/derive/node.h"

#define CHUNK 256

/* Nodes above that take room of their own, at most; then there are windows for
 * the scales, the zeros and the places, each with half of what is left. */
#define ABOVE 3

/* Scales, and zeros, that a window has at least.  Where each element says which
 * it has, as many are needed at once as the last dimension has. */
#define WINDOW 1024
_Static_assert(MF_DERIVED_ROOM / (1 << ABOVE) / 4 >= WINDOW * sizeof(float),
               "the second window has room");
_Static_assert(MF_DERIVED_ROOM / (1 << ABOVE) / 8 >= CHUNK * sizeof(float),
               "the third window has room");

struct scaled {
    struct mf_derived node;
    struct mf_scaling how;
    const struct mf_codec *weight, *scale, *zero, *place;
    uint64_t stride[MF_DERIVED_RANK]; /* of scale and zero */
};

struct window {
    const struct mf_derived *node;
    const struct mf_codec *codec;
    float *value;
    uint64_t first, count, most; /* values there are, and can be */
};

static struct window window_of(const struct mf_derived *node,
                               const struct mf_codec *codec,
                               struct mf_derived_room room)
{
    return (struct window){ .node = node,
                            .codec = codec,
                            .value = (void *)room.at,
                            .most = room.size / sizeof(float) };
}

/* Elements first to first + count - 1; NULL with errno set. */
static const float *look(struct window *window, uint64_t first, uint64_t count,
                         struct mf_derived_room room)
{
    uint64_t left = window->node->count - first;

    assert(count <= window->most && count <= left);
    if (first < window->first || window->count < count ||
        first - window->first > window->count - count) {
        window->first = first;
        window->count = left < window->most ? left : window->most;
        if (!mf_derived_floats(window->node, window->codec,
                               (struct mf_span){ first, window->count },
                               window->value, room))
            return NULL;
    }
    return window->value + (first - window->first);
}

/* The scale of the first element of a row. */
static uint64_t scale_of_row(const struct scaled *scaled, uint64_t row)
{
    const struct mf_derived *node = &scaled->node;
    uint64_t at = 0;

    for (uint32_t i = node->rank - 1U; i-- > 0; row /= node->dim[i])
        at += row % node->dim[i] / scaled->how.block[i] * scaled->stride[i];
    return at;
}

/* The places of elements, scales and zeros while a part is read. */
struct windows {
    struct window scale, zero, place;
};

/* Part of a row: count elements from column `column` on, whose weights are at
 * x.  at: of the scale of the row's first column. */
struct part {
    uint64_t at, column;
    size_t count;
};

static void compute(const struct scaled *scaled, const float *scale,
                    const float *zero, size_t i, float *x)
{
    float value = *x - ((zero ? zero[i] : 0) + scaled->how.zero_shift);

    *x = scaled->how.divide ? value / scale[i] : value * scale[i];
}

/* Elements of blocks. */
static bool scale_blocks(const struct scaled *scaled, const struct part *part,
                         struct windows *windows, float *x,
                         struct mf_derived_room room)
{
    uint64_t block = scaled->how.block[scaled->node.rank - 1];
    uint64_t from = part->column / block, at = part->at + from;
    uint64_t count = (part->column + part->count - 1) / block - from + 1;
    const float *scale = look(&windows->scale, at, count, room), *zero = NULL;

    if (scaled->how.zero)
        zero = look(&windows->zero, at, count, room);
    if (!scale || (scaled->how.zero && !zero))
        return false;
    for (size_t i = 0; i < part->count; i++)
        compute(scaled, scale, zero,
                (size_t)((part->column + i) / block - from), &x[i]);
    return true;
}

/* Elements that say which scale they have. */
static bool scale_places(const struct scaled *scaled, const struct part *part,
                         struct windows *windows, float *x,
                         struct mf_derived_room room)
{
    uint64_t count = scaled->how.scale->dim[scaled->node.rank - 1];
    const float *scale = look(&windows->scale, part->at, count, room);
    const float *place = look(&windows->place, part->column, part->count, room);
    const float *zero =
        scaled->how.zero ? look(&windows->zero, part->at, count, room) : NULL;

    if (!scale || !place || (scaled->how.zero && !zero))
        return false;
    for (size_t i = 0; i < part->count; i++) {
        if (!(place[i] >= 0 && place[i] < (float)count)) {
            errno = EIO; /* it was right when the node was made */
            return false;
        }
        compute(scaled, scale, zero, (size_t)place[i], &x[i]);
    }
    return true;
}

static struct windows open_windows(const struct scaled *scaled,
                                   struct mf_derived_room *room)
{
    const struct mf_scaling *how = &scaled->how;
    struct windows windows = { 0 };

    windows.scale = window_of(how->scale, scaled->scale,
                              mf_derived_take(room, sizeof(float)));
    if (how->zero)
        windows.zero = window_of(how->zero, scaled->zero,
                                 mf_derived_take(room, sizeof(float)));
    if (how->place)
        windows.place = window_of(how->place, scaled->place,
                                  mf_derived_take(room, sizeof(float)));
    return windows;
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct scaled *scaled = (const struct scaled *)node;
    uint64_t columns = node->dim[node->rank - 1];
    size_t size = mf_types[scaled->how.weight->type].bytes;
    const uint8_t *from = into + elements.size * (sizeof(float) - size);
    struct windows windows = open_windows(scaled, &room);

    if (!mf_derived_read(scaled->how.weight, elements, into + (from - into),
                         room))
        return false;
    while (elements.size > 0) {
        uint64_t left = columns - elements.offset % columns;
        struct part part = { .column = elements.offset % columns };
        uint8_t bytes[CHUNK * sizeof(float)];
        float x[CHUNK];

        part.at = scale_of_row(scaled, elements.offset / columns);
        left = left < elements.size ? left : elements.size;
        part.count = left < CHUNK ? (size_t)left : CHUNK;
        memcpy(bytes, from, part.count * size);
        scaled->weight->decode(bytes, x, part.count);
        if (!(scaled->how.place ? scale_places : scale_blocks)(
                scaled, &part, &windows, x, room))
            return false;
        memcpy(into, x, part.count * sizeof(*x));
        mf_order_floats(into, part.count);
        from += part.count * size;
        into += part.count * sizeof(*x);
        elements.offset += part.count;
        elements.size -= part.count;
    }
    return true;
}

static const struct mf_derived_ops scaled_ops = { MF_DERIVED_SCALED, read,
                                                  NULL };

/* ---- making ---- */

/* Places of the dimension that scale and zero must have. */
static uint64_t places(const struct mf_scaling *how, uint32_t axis)
{
    uint64_t dim = how->weight->dim[axis], block = how->block[axis];

    if (how->place && axis + 1 == how->weight->rank)
        return 0; /* check_places */
    return dim / block + (dim % block != 0);
}

static bool fits(const struct mf_derivation *d, const struct mf_scaling *how,
                 const struct mf_derived *node, const char *what)
{
    bool same = node->rank == how->weight->rank;

    for (uint32_t i = 0; same && i < node->rank; i++)
        same = places(how, i) <= node->dim[i] &&
               node->dim[i] == how->scale->dim[i];
    if (!same)
        mf_derived_misfit(d, node,
                          "this is not a %s for each block of the "
                          "weights",
                          what);
    return same;
}

/* Where each element says which scale it has, a row of them is read at once. */
static bool is_small(const struct mf_derivation *d,
                     const struct mf_scaling *how)
{
    if (!how->place || how->scale->dim[how->scale->rank - 1] <= WINDOW)
        return true;
    mf_derived_misfit(d, how->scale,
                      "at most %d groups in any order are supported", WINDOW);
    return false;
}

/* Reads them all. */
static bool check_places(const struct mf_derivation *d,
                         const struct scaled *scaled)
{
    const struct mf_derived *place = scaled->how.place;
    uint64_t count = scaled->how.scale->dim[scaled->node.rank - 1];
    alignas(16) uint8_t bytes[MF_DERIVED_ROOM / 16];
    struct mf_derived_room room = { bytes, sizeof(bytes), &d->env->io };
    float x[CHUNK];

    for (uint64_t at = 0, some; at < place->count; at += some) {
        some = place->count - at < CHUNK ? place->count - at : CHUNK;
        if (!mf_derived_floats(place, scaled->place,
                               (struct mf_span){ at, some }, x, room)) {
            mf_fail_system(d->env, MF_ERR_IO, MF_NO_OFFSET, errno,
                           "tensor '%s' cannot be read: %s",
                           mf_quote(d->name).text, mf_errno_text(errno));
            return false;
        }
        for (uint64_t i = 0; i < some; i++)
            if (!(x[i] >= 0 && x[i] < (float)count)) {
                mf_derived_misfit(d, place,
                                  "element %" PRIu64 " is %s, and there are "
                                  "%" PRIu64 " groups",
                                  at + i, mf_number_text((double)x[i], 9).at,
                                  count);
                return false;
            }
    }
    return true;
}

/* One for each column, and no fraction. */
static bool check_place(const struct mf_derivation *d,
                        const struct scaled *scaled)
{
    const struct mf_derived *place = scaled->how.place;

    if (!place)
        return true;
    if (place->count == scaled->node.dim[scaled->node.rank - 1] &&
        place->type >= MF_TYPE_I8 && place->type <= MF_TYPE_U64)
        return check_places(d, scaled);
    mf_derived_misfit(d, place, "it is not a whole number for each column");
    return false;
}

static bool set_codecs(const struct mf_derivation *d, struct scaled *scaled)
{
    const struct mf_scaling *how = &scaled->how;

    scaled->weight = mf_derived_codec(d, how->weight);
    scaled->scale = scaled->weight ? mf_derived_codec(d, how->scale) : NULL;
    if (scaled->scale && how->zero)
        scaled->zero = mf_derived_codec(d, how->zero);
    if (scaled->scale && how->place)
        scaled->place = mf_derived_codec(d, how->place);
    scaled->node.depth = MF_DERIVED_DEPTH - ABOVE;
    return scaled->scale && (scaled->zero || !how->zero) &&
           (scaled->place || !how->place) &&
           mf_derived_above(d, &scaled->node, how->weight) &&
           mf_derived_above(d, &scaled->node, how->scale) &&
           (!how->zero || mf_derived_above(d, &scaled->node, how->zero)) &&
           (!how->place || mf_derived_above(d, &scaled->node, how->place));
}

/* How it is computed, in the node's print. */
static void note(struct scaled *scaled)
{
    struct mf_derived *node = &scaled->node;
    const struct mf_scaling *how = &scaled->how;

    mf_derived_note(node, how->weight->print);
    mf_derived_note(node, how->scale->print);
    mf_derived_note(node, how->zero ? how->zero->print : 0);
    mf_derived_note(node, (uint64_t)(how->zero_shift * 2 + how->divide));
    for (uint32_t i = 0; i < node->rank; i++)
        mf_derived_note(node, how->block[i]);
    mf_derived_note(node, how->place ? how->place->print : 0);
}

const struct mf_derived *mf_derive_scaled(const struct mf_derivation *d,
                                          const struct mf_scaling *scaling)
{
    struct mf_scaling how = *scaling;
    struct mf_shape shape = mf_derived_shape(how.weight);
    uint64_t stride = 1;
    struct scaled *scaled;

    if (shape.rank == 0) { /* a number: a vector of one */
        mf_derived_misfit(d, how.weight, "a number has no scales");
        return NULL;
    }
    for (uint32_t i = 0; i < shape.rank; i++)
        if (how.block[i] == 0)
            how.block[i] = shape.dim[i] > 0 ? shape.dim[i] : 1;
    if (!fits(d, &how, how.scale, "scale") ||
        (how.zero && !fits(d, &how, how.zero, "zero")) || !is_small(d, &how))
        return NULL;
    scaled =
        mf_derived_new(d, sizeof(*scaled), &scaled_ops, MF_TYPE_F32, &shape);
    if (!scaled)
        return NULL;
    scaled->how = how;
    for (uint32_t i = shape.rank; i-- > 0;) {
        scaled->stride[i] = stride;
        stride *= how.scale->dim[i];
    }
    if (!set_codecs(d, scaled) || !check_place(d, scaled))
        return NULL;
    note(scaled);
    return &scaled->node;
}
