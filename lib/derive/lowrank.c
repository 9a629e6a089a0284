/* SPDX-License-Identifier: MIT
 *
 * lowrank.c - a matrix, and what an adapter adds to it
 *
 * An adapter has a change of a matrix as two narrow ones, B and A, whose
 * product it is.  What moves rows or columns of the matrix moves rows of B or
 * columns of A, so the product is computed where it is read, in its last order:
 * an adapter that becomes another file keeps two narrow matrices, and one that
 * is merged is read in long parts.  What cannot be expressed so is refused for
 * the first, and is a node above for the second.
 *
 * The product is a sum of f32, in the order of the rank, whatever part is read.
 */
#include "lib/derive/node.h"

#include <assert.h>

#include "lib/codec/codecs.h"

/* Columns, ranks and rows that are computed at once, at most. */
#define COLUMNS 128
#define RANKS   32
#define ROWS    64

struct lowrank {
    struct mf_derived node;
    const struct mf_derived *base; /* NULL: only the two are of interest */
    const struct mf_derived *a, *b;
    const struct mf_codec *base_codec, *a_codec, *b_codec;
    mf_product *product;
    float scale;
    uint64_t rank, columns;
};

/* ---- reading ---- */

/* Room for sums, and for parts of A and B. */
struct tile {
    const struct lowrank *lowrank;
    size_t columns, ranks, rows; /* at most */
    float *sum, *a, *b;
    struct mf_derived_room room;
};

static size_t tile_size(const struct tile *tile)
{
    return tile->rows * tile->columns + tile->ranks * tile->columns +
           tile->rows * tile->ranks;
}

static struct tile tile_of(const struct lowrank *lowrank,
                           struct mf_derived_room room)
{
    struct mf_derived_room own = mf_derived_take(&room, sizeof(float));
    struct tile tile = { .lowrank = lowrank,
                         .columns = COLUMNS,
                         .ranks = RANKS,
                         .rows = ROWS,
                         .room = room };

    while (tile_size(&tile) > own.size / sizeof(float)) {
        if (tile.rows > 1)
            tile.rows /= 2;
        else if (tile.columns > 8)
            tile.columns /= 2;
        else
            tile.ranks /= 2;
        assert(tile.ranks > 0);
    }
    tile.sum = (void *)own.at;
    tile.a = tile.sum + tile.rows * tile.columns;
    tile.b = tile.a + tile.ranks * tile.columns;
    return tile;
}

/* Part of the matrix: rows and columns from `row` and `column` on. */
struct part {
    uint64_t row, column;
    size_t rows, columns;
};

/* Reads the part's columns of A and rows of B, for `count` ranks. */
static bool load(const struct tile *tile, const struct part *part,
                 uint64_t rank, size_t count)
{
    const struct lowrank *lowrank = tile->lowrank;

    for (size_t k = 0; k < count; k++)
        if (!mf_derived_floats(
                lowrank->a, lowrank->a_codec,
                (struct mf_span){ (rank + k) * lowrank->columns + part->column,
                                  part->columns },
                tile->a + k * tile->columns, tile->room))
            return false;
    if (count == lowrank->rank)
        return mf_derived_floats(
            lowrank->b, lowrank->b_codec,
            (struct mf_span){ part->row * count, part->rows * count }, tile->b,
            tile->room);
    for (size_t i = 0; i < part->rows; i++)
        if (!mf_derived_floats(
                lowrank->b, lowrank->b_codec,
                (struct mf_span){ (part->row + i) * lowrank->rank + rank,
                                  count },
                tile->b + i * count, tile->room))
            return false;
    return true;
}

static bool sum_up(const struct tile *tile, const struct part *part)
{
    const struct lowrank *lowrank = tile->lowrank;

    memset(tile->sum, 0, tile->rows * tile->columns * sizeof(*tile->sum));
    for (uint64_t rank = 0; rank < lowrank->rank; rank += tile->ranks) {
        uint64_t left = lowrank->rank - rank;
        size_t count = left < tile->ranks ? (size_t)left : tile->ranks;

        if (!load(tile, part, rank, count))
            return false;
        lowrank->product(tile->sum, tile->a, tile->b,
                         (struct mf_product_size){ .rows = part->rows,
                                                   .columns = part->columns,
                                                   .ranks = count,
                                                   .stride = tile->columns });
    }
    return true;
}

/* Adds the sums to the matrix; its element at the part's place is at `into`. */
static void add(const struct tile *tile, const struct part *part, uint8_t *into)
{
    const struct lowrank *lowrank = tile->lowrank;
    size_t size = mf_types[lowrank->node.type].bytes;

    for (size_t i = 0; i < part->rows; i++) {
        const float *sum = tile->sum + i * tile->columns;
        uint8_t *row = into + i * lowrank->columns * size;
        uint8_t bytes[COLUMNS * sizeof(float)];
        float x[COLUMNS];

        memcpy(bytes, row, part->columns * size);
        lowrank->base_codec->decode(bytes, x, part->columns);
        for (size_t j = 0; j < part->columns; j++)
            x[j] += lowrank->scale * sum[j];
        lowrank->base_codec->encode(x, NULL, bytes, part->columns);
        memcpy(row, bytes, part->columns * size);
    }
}

/* A part of any size. */
static bool merge(const struct tile *tile, struct part part, uint8_t *into)
{
    size_t size = mf_types[tile->lowrank->node.type].bytes;

    for (size_t row = 0; row < part.rows; row += tile->rows)
        for (size_t column = 0; column < part.columns;
             column += tile->columns) {
            struct part some = { part.row + row, part.column + column,
                                 part.rows - row, part.columns - column };

            if (some.rows > tile->rows)
                some.rows = tile->rows;
            if (some.columns > tile->columns)
                some.columns = tile->columns;
            if (!sum_up(tile, &some))
                return false;
            add(tile, &some,
                into + (row * tile->lowrank->columns + column) * size);
        }
    return true;
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct lowrank *lowrank = (const struct lowrank *)node;
    enum mf_type type = (enum mf_type)node->type;
    struct tile tile;

    assert(lowrank->base);
    if (!mf_derived_read(lowrank->base, elements, into, room))
        return false;
    tile = tile_of(lowrank, room);
    while (elements.size > 0) {
        uint64_t column = elements.offset % lowrank->columns;
        uint64_t left = lowrank->columns - column, count;
        struct part part = { elements.offset / lowrank->columns, column, 1, 0 };

        if (column == 0 && elements.size >= lowrank->columns)
            part.rows = (size_t)(elements.size / lowrank->columns);
        part.columns = (size_t)(left < elements.size ? left : elements.size);
        if (!merge(&tile, part, into))
            return false;
        count = part.rows * part.columns;
        into += mf_derived_bytes(type, count);
        elements.offset += count;
        elements.size -= count;
    }
    return true;
}

static const struct mf_derived_ops lowrank_ops = { MF_DERIVED_LOWRANK, read,
                                                   NULL };

/* ---- making one ---- */

static const struct lowrank *lowrank_of(const struct mf_derived *node)
{
    return node->ops == &lowrank_ops ? (const struct lowrank *)node : NULL;
}

bool mf_derived_is_lowrank(const struct mf_derived *node,
                           const struct mf_derived **a,
                           const struct mf_derived **b)
{
    const struct lowrank *lowrank = lowrank_of(node);

    if (!lowrank || lowrank->base)
        return false;
    *a = lowrank->a;
    *b = lowrank->b;
    return true;
}

/* The product's shape: all of B but the rank, then A's columns. */
static bool shape_of(const struct mf_derived *a, const struct mf_derived *b,
                     struct mf_shape *shape)
{
    *shape = mf_derived_shape(b);
    if (a->rank != b->rank || a->rank < 2 ||
        a->dim[a->rank - 2] != b->dim[b->rank - 1])
        return false;
    shape->dim[b->rank - 1] = a->dim[a->rank - 1];
    return true;
}

static const struct mf_derived *misfit(const struct mf_derivation *d,
                                       const struct mf_derived *a,
                                       const struct mf_derived *b)
{
    mf_derived_misfit(d, a,
                      "as A of an adapter, it does not fit B of rank %u, whose "
                      "last dimension is %" PRIu64,
                      (unsigned)b->rank, b->rank > 0 ? b->dim[b->rank - 1] : 1);
    return NULL;
}

/* What a merged matrix needs. */
static bool set_base(const struct mf_derivation *d, struct lowrank *lowrank)
{
    const struct mf_derived *base = lowrank->base;
    struct mf_derived *node = &lowrank->node;

    lowrank->base_codec = mf_derived_codec(d, base);
    lowrank->a_codec = mf_derived_codec(d, lowrank->a);
    lowrank->b_codec = mf_derived_codec(d, lowrank->b);
    if (!lowrank->base_codec || !lowrank->a_codec || !lowrank->b_codec)
        return false;
    if (!lowrank->base_codec->encode || base->rank != node->rank ||
        memcmp(base->dim, node->dim, base->rank * sizeof(*base->dim)) != 0) {
        mf_derived_misfit(d, base,
                          "the adapter changes one of %" PRIu64 " x %" PRIu64,
                          node->dim[node->rank - 2], node->dim[node->rank - 1]);
        return false;
    }
    return mf_derived_above(d, node, base);
}

/* One like `like`, of other nodes. */
static const struct mf_derived *make(const struct mf_derivation *d, float scale,
                                     const struct mf_derived *base,
                                     const struct mf_derived *a,
                                     const struct mf_derived *b)
{
    struct lowrank *lowrank;
    struct mf_shape shape;
    uint32_t bits;

    if (!a || !b)
        return NULL;
    if (!shape_of(a, b, &shape))
        return misfit(d, a, b);
    lowrank =
        mf_derived_new(d, sizeof(*lowrank), &lowrank_ops,
                       (enum mf_type)(base ? base->type : a->type), &shape);
    if (!lowrank)
        return NULL;
    lowrank->base = base;
    lowrank->a = a;
    lowrank->b = b;
    lowrank->product = mf_product_of(d->isa);
    lowrank->scale = scale;
    lowrank->rank = a->dim[a->rank - 2];
    lowrank->columns = a->dim[a->rank - 1];
    memcpy(&bits, &scale, sizeof(bits));
    mf_derived_note(&lowrank->node, base ? base->print : 0);
    mf_derived_note(&lowrank->node, a->print);
    mf_derived_note(&lowrank->node, b->print);
    mf_derived_note(&lowrank->node, bits);
    if (!mf_derived_above(d, &lowrank->node, a) ||
        !mf_derived_above(d, &lowrank->node, b) ||
        (base && !set_base(d, lowrank)))
        return NULL;
    return &lowrank->node;
}

const struct mf_derived *mf_derive_lowrank(const struct mf_derivation *d,
                                           const struct mf_derived *base,
                                           const struct mf_derived *a,
                                           const struct mf_derived *b,
                                           float scale)
{
    if (a->type != b->type) {
        a = mf_derive_cast(d, a, MF_TYPE_F32);
        b = b && a ? mf_derive_cast(d, b, MF_TYPE_F32) : NULL;
    }
    return make(d, scale, base, a, b);
}

/* ---- changing one ---- */

/* Not to be expressed in A and B: a node above will do, or it is refused. */
static bool cannot(const struct mf_derivation *d, const struct lowrank *lowrank,
                   const char *what, const struct mf_derived **out)
{
    *out = NULL;
    if (lowrank->base)
        return false;
    mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s' of an adapter cannot be %s", mf_quote(d->name).text,
            what);
    return true;
}

static const struct mf_derived *changed(const struct mf_derivation *d,
                                        const struct lowrank *like,
                                        const struct mf_derived *base,
                                        const struct mf_derived *a,
                                        const struct mf_derived *b)
{
    return (like->base && !base) ? NULL : make(d, like->scale, base, a, b);
}

bool mf_lowrank_reshape(const struct mf_derivation *d,
                        const struct mf_derived *node, uint32_t rank,
                        const uint64_t *dim, const struct mf_derived **out)
{
    const struct lowrank *lowrank = lowrank_of(node);
    const struct mf_derived *base = NULL;
    uint64_t of_a[MF_DERIVED_RANK], of_b[MF_DERIVED_RANK];

    if (!lowrank)
        return false;
    if (rank < 2 || dim[rank - 1] != lowrank->columns ||
        lowrank->a->count != lowrank->rank * lowrank->columns)
        return cannot(d, lowrank, "given other rows", out);
    for (uint32_t i = 0; i < rank; i++) {
        of_a[i] = i + 1 == rank   ? lowrank->columns
                  : i + 2 == rank ? lowrank->rank
                                  : 1;
        of_b[i] = i + 1 == rank ? lowrank->rank : dim[i];
    }
    if (lowrank->base)
        base = mf_derive_reshape(d, lowrank->base, rank, dim);
    *out =
        changed(d, lowrank, base, mf_derive_reshape(d, lowrank->a, rank, of_a),
                mf_derive_reshape(d, lowrank->b, rank, of_b));
    return true;
}

bool mf_lowrank_swap(const struct mf_derivation *d,
                     const struct mf_derived *node, uint32_t a, uint32_t b,
                     const struct mf_derived **out)
{
    const struct lowrank *lowrank = lowrank_of(node);
    const struct mf_derived *base = NULL;
    bool crossed = a + 1 == node->rank || b + 1 == node->rank;

    if (!lowrank)
        return false;
    if (a == b || (crossed && node->rank != 2) ||
        lowrank->a->count != lowrank->rank * lowrank->columns)
        return cannot(d, lowrank, "transposed", out);
    if (lowrank->base)
        base = mf_derive_swap(d, lowrank->base, a, b);
    *out = crossed
               ? changed(d, lowrank, base, mf_derive_swap(d, lowrank->b, 0, 1),
                         mf_derive_swap(d, lowrank->a, 0, 1))
               : changed(d, lowrank, base, lowrank->a,
                         mf_derive_swap(d, lowrank->b, a, b));
    return true;
}

bool mf_lowrank_slice(const struct mf_derivation *d,
                      const struct mf_derived *node,
                      struct mf_derived_slice slice,
                      const struct mf_derived **out)
{
    const struct lowrank *lowrank = lowrank_of(node);
    const struct mf_derived *base = NULL, *a, *b;
    uint32_t axis = slice.axis;

    if (!lowrank)
        return false;
    if (axis >= node->rank)
        return cannot(d, lowrank, "cut along a dimension that it lacks", out);
    a = lowrank->a;
    b = lowrank->b;
    if (lowrank->base)
        base = mf_derive_slice(d, lowrank->base, slice);
    if (axis + 1 == node->rank || (axis + 2 < node->rank && a->dim[axis] > 1))
        a = mf_derive_slice(d, a, slice);
    if (axis + 1 < node->rank)
        b = mf_derive_slice(d, b, slice);
    *out = changed(d, lowrank, base, a, b);
    return true;
}

/* All are pairs, the A of the first is the A of all. */
static bool share_a(const struct mf_derived *const *nodes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (lowrank_of(nodes[i])->a->print != lowrank_of(nodes[0])->a->print)
            return false;
    return true;
}

/* The As, or the Bs, of nodes; NULL after mf_fail. */
static const struct mf_derived **parts_of(const struct mf_derivation *d,
                                          const struct mf_derived *const *nodes,
                                          size_t count, bool of_a)
{
    const struct mf_derived **parts =
        mf_arena_take(d->arena, count * sizeof(*parts));

    for (size_t i = 0; parts && i < count; i++)
        parts[i] = of_a ? lowrank_of(nodes[i])->a : lowrank_of(nodes[i])->b;
    return parts;
}

bool mf_lowrank_join(const struct mf_derivation *d, uint32_t axis,
                     const struct mf_derived *const *nodes, size_t count,
                     bool stack, const struct mf_derived **out)
{
    const struct lowrank *first = lowrank_of(nodes[0]);
    bool rows = axis + 2 == nodes[0]->rank; /* of B alone */
    const struct mf_derived **a, **b;

    for (size_t i = 0; i < count; i++)
        if (!lowrank_of(nodes[i]) || lowrank_of(nodes[i])->base)
            return first && !first->base &&
                   cannot(d, first, "joined with one that is not of an adapter",
                          out);
    *out = NULL;
    if (!stack && (rows ? !share_a(nodes, count) : axis != 0))
        return cannot(d, first, "joined with others, as their A differ", out);
    a = parts_of(d, nodes, count, true);
    b = a ? parts_of(d, nodes, count, false) : NULL;
    if (!b)
        return true;
    if (stack)
        *out = make(d, first->scale, NULL, mf_derive_stack(d, a, count),
                    mf_derive_stack(d, b, count));
    else
        *out = make(d, first->scale, NULL,
                    rows ? a[0] : mf_derive_join(d, axis, a, count),
                    mf_derive_join(d, axis, b, count));
    return true;
}

bool mf_lowrank_map(const struct mf_derivation *d,
                    const struct mf_derived *node, enum mf_map map,
                    double constant, const struct mf_derived **out)
{
    const struct lowrank *lowrank = lowrank_of(node);

    if (!lowrank)
        return false;
    if (lowrank->base || map != MF_MAP_MUL)
        return cannot(d, lowrank, "computed with", out);
    *out = make(d, lowrank->scale, NULL, lowrank->a,
                mf_derive_map(d, lowrank->b, map, constant));
    return true;
}

bool mf_lowrank_cast(const struct mf_derivation *d,
                     const struct mf_derived *node, enum mf_type type,
                     const struct mf_derived **out)
{
    const struct lowrank *lowrank = lowrank_of(node);

    if (!lowrank || lowrank->base)
        return false;
    *out = make(d, lowrank->scale, NULL, mf_derive_cast(d, lowrank->a, type),
                mf_derive_cast(d, lowrank->b, type));
    return true;
}
