/* SPDX-License-Identifier: MIT
 *
 * grid_2_search.h - scales and codes of the groups of grid_2.h
 */
#ifndef MF_LIB_QUANT_GRID_2_SEARCH_H
#define MF_LIB_QUANT_GRID_2_SEARCH_H

#include "lib/quant/grid_2_try.h"

/* ---- the fit ---- */

/* 1, 3 or 5 by digit i. */
static inline mf_floats mf_grid_2_level(mf_ints code, int i)
{
#if MF_LANES == 16
    const __m512 levels = _mm512_set4_ps(7, 5, 3, 1);

    return (mf_floats)_mm512_permutevar_ps(levels, (__m512i)(code >> 2 * i));
#elif MF_LANES == 8
    const __m256 levels = _mm256_setr_ps(1, 3, 5, 7, 1, 3, 5, 7);

    return (mf_floats)_mm256_permutevar_ps(levels, (__m256i)(code >> 2 * i));
#else
    return mf_lanes_of((code >> 2 * i & 3) * 2 + 1);
#endif
}

/* Sums of products of numbers and codes, and of squares of codes. */
struct mf_grid_2_sums {
    mf_floats with_x, squares;
};

static inline struct mf_grid_2_sums
mf_grid_2_fit(const struct mf_grid_2 *g, const mf_ints code[MF_GRID_2_EIGHTS],
              int s)
{
    struct mf_grid_2_sums sums = { { 0 }, { 0 } };

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        for (int j = 0; j < 8; j++) {
            mf_floats w = g->weight[8 * i + (size_t)j].side[s];
            mf_floats x = g->x[8 * i + (size_t)j].side[s];
            mf_floats q = mf_grid_2_level(code[i], j);

            sums.with_x += w * x * q;
            sums.squares += w * q * q;
        }
    return sums;
}

/* The scale whose codes fit best, and these. */
static inline void mf_grid_2_choose(struct mf_grid_2 *g, int s)
{
    const mf_floats zero = { 0 };
    mf_floats best = zero, scale = g->best_scale.side[s];
    mf_ints code[MF_GRID_2_EIGHTS], chosen[MF_GRID_2_EIGHTS] = { { 0 } };

    for (int t = 0; t < MF_GRID_2_TRIED; t++) {
        struct mf_grid_2_sums sums;
        mf_floats fits;
        mf_ints better;

        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
            mf_ints changed = (g->change[i].side[s] & mf_ints_all(1 << t)) != 0;

            code[i] = t == 0 ? g->code[t][i].side[s]
                             : mf_ints_select(changed, g->code[t][i].side[s],
                                              code[i]);
        }
        sums = mf_grid_2_fit(g, code, s);
        fits = sums.with_x / sums.squares;
        better = (sums.squares > zero) &
                 (sums.with_x * sums.with_x > best * sums.squares);
        scale = mf_lanes_select(better, fits, scale);
        best = mf_lanes_select(better, fits * sums.with_x, best);
        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
            chosen[i] = mf_ints_select(better, code[i], chosen[i]);
    }
    g->best_scale.side[s] = scale;
    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        g->best[i].side[s] = chosen[i];
}

/* ---- codes at the best scale ---- */

/* The codes of eight numbers of some groups, which round to these at their
 * scales; false where the reference stops. */
static inline bool mf_grid_2_place(struct mf_grid_2 *g, int s, size_t i,
                                   uint32_t some, mf_ints code)
{
    mf_floats scale = g->best_scale.side[s];
    struct mf_near_point point;
    int32_t rounded[MF_LANES];
    float margin[MF_LANES];

    memcpy(rounded, &code, sizeof(rounded));
    mf_lanes_store(margin, mf_grid_2_margin(g, i, s, scale, scale));
    for (; some != 0; some &= some - 1) {
        size_t j = (size_t)__builtin_ctz(some);
        size_t lane = (size_t)s * MF_LANES + j;
        int32_t *best = mf_int_row_at(&g->best[i], lane);
        int32_t place = g->map->place[rounded[j]];
        struct mf_grid_2_gap gap = { .lane = (uint8_t)lane,
                                     .eight = (uint8_t)i };
        bool only;
        int found;

        *best = rounded[j];
        if (place >= 0)
            continue;
        gap.near = g->map->near + ~place;
        mf_grid_2_open(g, &gap, margin[j], &point);
        found = mf_grid_2_find(g, &point, mf_row_at(&g->best_scale, lane),
                               margin[j], &only);
        if (found < 0)
            return false;
        *best = g->lines.near.code[found];
    }
    return true;
}

/* What was not in the grid is rounded again, at the best scale. */
static inline bool mf_grid_2_round_again(struct mf_grid_2 *g, int s)
{
    const mf_floats zero = { 0 };
    mf_ints off = { 0 }, again = g->best_scale.side[s] > zero;
    mf_floats inverse = 1.0f / g->best_scale.side[s];
    bool far = mf_grid_2_is_far(g, s, inverse);
    size_t first = (size_t)s * MF_LANES;
    size_t left = g->count > first ? g->count - first : 0;
    uint32_t lanes = left < MF_LANES ? (1u << left) - 1 : UINT32_MAX;
    mf_ints code[MF_GRID_2_EIGHTS];
    struct mf_grid_2_sums sums;

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
        mf_ints some = MF_GRID_2_ALL
                           ? again
                           : again & ((g->best[i].side[s] & MF_OFF_GRID) != 0);

        off |= some;
        code[i] = mf_grid_2_round(g->x + 8 * i, s, inverse, far);
        if (!mf_grid_2_place(g, s, i, mf_lanes_signs(some) & g->live[s] & lanes,
                             code[i]))
            return false;
        code[i] = g->best[i].side[s];
    }
    sums = mf_grid_2_fit(g, code, s);
    g->best_scale.side[s] =
        mf_lanes_select(off & (sums.squares > zero), sums.with_x / sums.squares,
                        g->best_scale.side[s]);
    return true;
}

/* No scale is negative: signs are turned.  A group of zeros has none.  False
 * where a scale is a NaN. */
static inline bool mf_grid_2_finish(struct mf_grid_2 *g, int s)
{
    const mf_floats zero = { 0 };
    mf_floats scale = g->best_scale.side[s];
    mf_ints live = mf_ints_of_bits(g->live[s], 0);
    mf_ints minus = scale < zero;

    scale = mf_lanes_abs(scale);
    g->best_scale.side[s] = mf_lanes_select(live, scale, zero);
    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
        g->signs[i].side[s] = (g->signs[i].side[s] ^ (minus & 255)) & live;
        g->best[i].side[s] &= live & 0xffff;
    }
    return (mf_lanes_signs(~(scale >= zero)) & g->live[s]) == 0;
}

/* The scale and the codes of the groups that are loaded; false where the
 * reference stops. */
static inline bool mf_grid_2_search(struct mf_grid_2 *g)
{
    for (int s = 0; s < MF_SIDES; s++) {
        mf_grid_2_try(g, s);
        if (!mf_grid_2_resolve(g, s))
            return false;
        mf_grid_2_choose(g, s);
        if (!mf_grid_2_round_again(g, s) || !mf_grid_2_finish(g, s))
            return false;
    }
    return true;
}

/* All groups of a batch. */
static inline bool mf_grid_2_encode(const struct mf_grid_map *map,
                                    const struct mf_batch *batch,
                                    struct mf_grid_2_found *found)
{
    size_t groups = batch->count * batch->block_count;
    struct mf_grid_2 g;

    g.map = map;
    for (size_t i = 0; i < groups; i += MF_ABREAST) {
        mf_grid_2_load(&g, batch, i);
        if (!mf_grid_2_search(&g))
            return false;
        mf_grid_2_store(&g, found + i);
    }
    return true;
}

/* The parts of a block's greatest scale that its groups have: numbers of 0 to
 * 15.  Returns that scale. */
static inline float mf_grid_2_parts(const struct mf_grid_2_found *found,
                                    uint8_t part[MF_K / MF_GRID_2_SIZE])
{
    float most = 0, inverse;

    for (size_t i = 0; i < MF_K / MF_GRID_2_SIZE; i++)
        most = most > found[i].scale ? most : found[i].scale;
    inverse = 1 / (most / 31);
    for (size_t i = 0; i < MF_K / MF_GRID_2_SIZE; i++) {
        int32_t number = mf_k_round(0.5f * (inverse * found[i].scale - 1));

        part[i] = (uint8_t)(number < 0 ? 0 : number > 15 ? 15 : number);
    }
    return most;
}

/* What is constant in a codec, and so to the compiler once all is inline. */
struct mf_grid_2_type {
    size_t bytes;     /* of a block of MF_K numbers */
    float importance; /* weights are times the root of this times the block's
                         mean square, plus the square of the number */
    void (*write)(const struct mf_grid_map *map,
                  const struct mf_grid_2_found *found, uint8_t *out);
};

/* A row, as a codec's encode_on_grid. */
static inline bool mf_grid_2_encode_row(const struct mf_grid_2_type *type,
                                        const struct mf_grid_map *map,
                                        const float *row, const float *weights,
                                        uint8_t *blocks, size_t columns)
{
    enum { GROUPS = MF_K / MF_GRID_2_SIZE };
    struct mf_grid_2_found found[GROUPS * MF_LANES];
    struct mf_batch batch;

    mf_batch_begin(&batch, row, weights, MF_GRID_2_SIZE, GROUPS);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_LANES);
        mf_batch_square_sums(&batch);
        for (size_t i = 0; i < batch.count; i++)
            batch.variance[i] = type->importance * batch.variance[i] / MF_K;
        if (!mf_grid_2_encode(map, &batch, found))
            return false;
        for (size_t i = 0; i < batch.count; i++, blocks += type->bytes)
            type->write(map, found + GROUPS * i, blocks);
    }
    return true;
}

#endif
