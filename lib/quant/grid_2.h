/* SPDX-License-Identifier: MIT
 *
 * grid_2.h - the search that iq2_xxs, iq2_xs and iq2_s have in common
 *
 * The magnitude of a number is a digit of 0 to 2, which stands for 1, 3 or 5
 * times a scale; a code has eight.  A group of 16 or 32 numbers has a scale of
 * its own: of several that are tried the one whose codes fit best.  Groups lie
 * abreast, a lane each, but where a code is not in the grid: then the codes
 * near it are looked at for one group at a time (grid_2_near.h), and only once
 * for scales in a row that round to the same code.
 */
#ifndef MF_LIB_QUANT_GRID_2_H
#define MF_LIB_QUANT_GRID_2_H

#ifndef MF_WIDE_LANES
#define MF_WIDE_LANES
#endif
#include "lib/quant/grid.h"
#include "lib/quant/grid_2_near.h"
#include "lib/quant/kblock.h"
#include "lib/quant/positive.h"

/* What the file that includes this has to say of its type:
 *     MF_GRID_2_SIZE   numbers of a group, 16 or 32
 *     MF_GRID_2_STEPS  scales that are tried to either side of the first
 *     MF_GRID_2_LEAST  a group of nothing larger is zeros
 *     MF_GRID_2_EVEN   1: of each eight numbers an even count is negative
 *     MF_GRID_2_ALL    1: the first scale is mf_positive_search's, and at
 * the best scale all codes are made again, 0: those that were not in the grid
 */
#define MF_GRID_2_EIGHTS (MF_GRID_2_SIZE / 8)
#define MF_GRID_2_TRIED  (2 * MF_GRID_2_STEPS + 1)
#define MF_GRID_2_FLAT   ((size_t)40)

/* Above a code of the grid: it stands for one that the grid does not have. */
#define MF_OFF_GRID 0x10000

/* Of each group that is abreast, an integer. */
struct mf_int_row {
    mf_ints side[MF_SIDES];
};

/* Elements of groups, group after group. */
typedef float mf_grid_2_flat[MF_ABREAST][MF_GRID_2_SIZE];

struct mf_grid_2 {
    const struct mf_grid_map *map;
    size_t count; /* of groups; other lanes have copies of the last */
    struct mf_row x[MF_GRID_2_SIZE], weight[MF_GRID_2_SIZE];
    struct mf_row most;      /* the greatest magnitude */
    struct mf_row top;       /* five times the first scale */
    uint32_t live[MF_SIDES]; /* groups that are not zeros */
    /* Numbers, roots of their weights, and twice the product of both. */
    mf_grid_2_flat flat_x, flat_root, flat_product;
    struct mf_row root[MF_GRID_2_SIZE];
    /* For each scale that is tried. */
    struct mf_row inverse[MF_GRID_2_TRIED], scale[MF_GRID_2_TRIED];
    /* The scales, group after group; after them anything. */
    float flat_scale[MF_ABREAST][MF_GRID_2_FLAT];
    struct mf_int_row code[MF_GRID_2_TRIED][MF_GRID_2_EIGHTS];
    /* Bit t is set where code t is another than the one before; where it is
     * clear code t does not count. */
    struct mf_int_row change[MF_GRID_2_EIGHTS];
    struct mf_near_lines lines;
    /* The first scale, then the best. */
    struct mf_row best_scale;
    struct mf_int_row best[MF_GRID_2_EIGHTS], signs[MF_GRID_2_EIGHTS];
};

static inline int32_t *mf_int_row_at(struct mf_int_row *row, size_t lane)
{
    return (int32_t *)(void *)row + lane;
}

static inline float mf_row_at(const struct mf_row *row, size_t lane)
{
    return ((const float *)(const void *)row)[lane];
}

static inline mf_ints mf_ints_select(mf_ints mask, mf_ints a, mf_ints b)
{
    return (a & mask) | (b & ~mask);
}

/* ---- numbers and signs ---- */

/* Where the eight numbers at x have an odd count of minus signs that of the
 * least important is turned, and its magnitude becomes negative. */
static inline mf_ints mf_grid_2_make_even(struct mf_row *x,
                                          const struct mf_row *weight, int s,
                                          mf_ints odd)
{
    mf_ints which = { 0 }, turned = { 0 };
    mf_floats least = weight[0].side[s] * x[0].side[s] * x[0].side[s];

    for (int i = 1; i < 8; i++) {
        mf_floats matters = weight[i].side[s] * x[i].side[s] * x[i].side[s];
        mf_ints less = matters < least;

        least = mf_lanes_select(less, matters, least);
        which = mf_ints_select(less, mf_ints_all(i), which);
    }
    for (int i = 0; i < 8; i++) {
        mf_ints turn = odd & (which == i);

        x[i].side[s] =
            (mf_floats)((mf_ints)x[i].side[s] ^ (turn & (int32_t)0x80000000));
        turned |= turn & mf_ints_all(1 << i);
    }
    return turned;
}

/* Numbers become magnitudes; returns a bit for each that was negative. */
static inline mf_ints mf_grid_2_take_signs(struct mf_row *x,
                                           const struct mf_row *weight, int s)
{
    mf_ints signs = { 0 }, odd = { 0 };

    for (int i = 0; i < 8; i++) {
        mf_ints minus = ~(x[i].side[s] >= mf_lanes_all(0.0f));

        signs |= minus & mf_ints_all(1 << i);
        odd ^= minus;
        x[i].side[s] = mf_lanes_abs(x[i].side[s]);
    }
    if (MF_GRID_2_EVEN)
        signs ^= mf_grid_2_make_even(x, weight, s, odd);
    return signs;
}

static inline void mf_grid_2_flatten(const struct mf_row *rows,
                                     mf_grid_2_flat out)
{
    const float *from[MF_GRID_2_SIZE];

    for (size_t i = 0; i < MF_GRID_2_SIZE; i++)
        from[i] = (const float *)(const void *)&rows[i];
    for (size_t i = 0; i < MF_GRID_2_SIZE; i += MF_TURN)
        for (size_t lane = 0; lane < MF_ABREAST; lane += MF_TURN)
            mf_rows_turn(&out[lane][i], MF_GRID_2_SIZE, from + i, lane);
}

/* Weights without a matrix. */
static inline void mf_grid_2_weigh(const struct mf_batch *batch, size_t first,
                                   const struct mf_row *x,
                                   struct mf_row *weight)
{
    size_t last = batch->count * batch->block_count - 1;
    float add[MF_ABREAST];
    struct mf_row row;

    for (size_t i = 0; i < MF_ABREAST; i++)
        add[i] = 0.25f * batch->variance[(first + i < last ? first + i : last) /
                                         batch->block_count];
    row = mf_row_load(add);
    for (size_t i = 0; i < MF_GRID_2_SIZE; i++)
        for (int s = 0; s < MF_SIDES; s++)
            weight[i].side[s] = row.side[s] + x[i].side[s] * x[i].side[s];
}

/* The first scale, where a search with codes of its own finds it. */
static inline void mf_grid_2_guess(struct mf_grid_2 *g)
{
    struct mf_positive search = {
        .size = MF_GRID_2_SIZE, .top = 4, .x = g->x, .weight = g->weight
    };

    mf_positive_search(&search);
    g->best_scale = search.scale;
    for (int s = 0; s < MF_SIDES; s++) {
        g->top.side[s] = search.scale.side[s] * 3.0f;
        g->live[s] &= ~mf_lanes_signs(g->top.side[s] <= mf_lanes_all(0.0f));
    }
}

/* The groups from number `first` of the batch on. */
static inline void mf_grid_2_load(struct mf_grid_2 *g,
                                  const struct mf_batch *batch, size_t first)
{
    size_t all = batch->count * batch->block_count;
    struct mf_row product[MF_GRID_2_SIZE];

    g->count = all - first < MF_ABREAST ? all - first : MF_ABREAST;
    mf_batch_load(batch, first, batch->row, g->x);
    if (batch->weights)
        mf_batch_weigh(batch, first, g->x, g->weight);
    else
        mf_grid_2_weigh(batch, first, g->x, g->weight);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats most, top;

        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
            g->signs[i].side[s] =
                mf_grid_2_take_signs(g->x + 8 * i, g->weight + 8 * i, s);
        top = g->x[0].side[s];
        most = mf_lanes_abs(top);
        for (size_t i = 0; i < MF_GRID_2_SIZE; i++) {
            mf_floats x = g->x[i].side[s];

            g->root[i].side[s] = mf_lanes_root(g->weight[i].side[s]);
            product[i].side[s] = 2.0f * g->root[i].side[s] * x;
            top = mf_lanes_max(top, x);
            most = mf_lanes_max(mf_lanes_abs(x), most);
        }
        g->top.side[s] = top;
        g->best_scale.side[s] = top / 5.0f;
        g->most.side[s] = most;
        g->live[s] =
            ~mf_lanes_signs(top < MF_GRID_2_LEAST) & ((1u << MF_LANES) - 1);
    }
    if (MF_GRID_2_ALL)
        mf_grid_2_guess(g);
    mf_grid_2_flatten(g->x, g->flat_x);
    mf_grid_2_flatten(g->root, g->flat_root);
    mf_grid_2_flatten(product, g->flat_product);
}

/* What a group of a batch becomes. */
struct mf_grid_2_found {
    float scale;
    uint16_t code[MF_GRID_2_EIGHTS];
    uint8_t signs[MF_GRID_2_EIGHTS];
};

static inline void mf_grid_2_store(struct mf_grid_2 *g,
                                   struct mf_grid_2_found *found)
{
    for (size_t lane = 0; lane < g->count; lane++) {
        found[lane].scale = mf_row_at(&g->best_scale, lane);
        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
            found[lane].code[i] = (uint16_t)*mf_int_row_at(&g->best[i], lane);
            found[lane].signs[i] = (uint8_t)*mf_int_row_at(&g->signs[i], lane);
        }
    }
}

#endif
