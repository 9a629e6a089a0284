/* SPDX-License-Identifier: MIT
 *
 * grid_2_search.h - scales and codes of the groups of grid_2.h
 */
#ifndef MF_LIB_QUANT_GRID_2_SEARCH_H
#define MF_LIB_QUANT_GRID_2_SEARCH_H

#include "lib/quant/grid_2.h"

/* ---- rounding ---- */

/* The reference rounds 0.5 * (t - 1), halves to even: 1 from above 2 on, 2 from
 * 4 on.  The code with that digit below its others. */
static inline mf_ints mf_grid_2_digit(mf_ints code, mf_floats t)
{
#if MF_LANES == 16
    const __m512i one = _mm512_set1_epi32(1);
    __m512i digits = _mm512_slli_epi32((__m512i)code, 2);
    __mmask16 one_more =
        _mm512_cmp_ps_mask((__m512)t, _mm512_set1_ps(2), _CMP_GT_OQ);
    __mmask16 two_more =
        _mm512_cmp_ps_mask((__m512)t, _mm512_set1_ps(4), _CMP_GE_OQ);

    digits = _mm512_mask_add_epi32(digits, one_more, digits, one);
    return (mf_ints)_mm512_mask_add_epi32(digits, two_more, digits, one);
#else
    return (code << 2) - (t > 2.0f) - (t >= 4.0f);
#endif
}

/* The same for a t so large that the reference gets other numbers. */
static inline mf_ints mf_grid_2_far_digit(mf_ints code, mf_floats t)
{
    mf_floats round = mf_lanes_round_any(0.5f * (t - 1.0f));

    return (code << 2) | mf_lanes_clamp_above(round, 0, 2);
}

/* No product of a number and the inverse is so large. */
static inline bool mf_grid_2_is_far(const struct mf_grid_2 *g, int s,
                                    mf_floats inverse)
{
    mf_ints in_range = g->most.side[s] * inverse < mf_lanes_all(MF_NEAR);

    return (~mf_lanes_signs(in_range) & g->live[s]) != 0;
}

/* The code of eight numbers. */
static inline mf_ints mf_grid_2_round(const struct mf_row *x, int s,
                                      mf_floats inverse, bool far)
{
    mf_ints code = { 0 };

    for (int i = 8; i-- > 0;) {
        mf_floats t = inverse * x[i].side[s];

        code = far ? mf_grid_2_far_digit(code, t) : mf_grid_2_digit(code, t);
    }
    return code;
}

/* The codes of all scales that are tried. */
static inline void mf_grid_2_try(struct mf_grid_2 *g, int s)
{
    bool far;

    for (int t = 0; t < MF_GRID_2_TRIED; t++) {
        float factor = 5 + (float)(t - MF_GRID_2_STEPS) * 0.1f;

        g->inverse[t].side[s] = factor / g->top.side[s];
        g->scale[t].side[s] = 1.0f / g->inverse[t].side[s];
    }
    far = mf_grid_2_is_far(g, s, g->inverse[MF_GRID_2_TRIED - 1].side[s]);
    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
        mf_ints before = { 0 }, change = { 0 };

        for (int t = 0; t < MF_GRID_2_TRIED; t++) {
            mf_ints code =
                mf_grid_2_round(g->x + 8 * i, s, g->inverse[t].side[s], far);

            change |= (code != before) & (1 << t);
            g->code[t][i].side[s] = before = code;
        }
        g->change[i].side[s] = change | 1;
    }
}

/* ---- codes that are not in the grid ---- */

/* Scales are tried in descending order. */
static inline float mf_grid_2_tried(const struct mf_grid_2 *g, int t,
                                    size_t lane)
{
    return mf_row_at(&g->scale[t], lane);
}

static inline struct mf_near_point mf_grid_2_point(const struct mf_grid_2 *g,
                                                   size_t lane, size_t i)
{
    return (struct mf_near_point){ &g->flat_x[lane][8 * i],
                                   &g->flat_root[lane][8 * i] };
}

/* The best at one scale; -1 where there is none.  A margin that is NaN: lines
 * are not drawn. */
static inline int mf_grid_2_find(struct mf_grid_2 *g,
                                 const struct mf_near_point *point, float scale,
                                 float margin, bool *only)
{
    *only = false;
    if (margin == margin)
        return mf_near_best(&g->lines, point, scale, margin, only);
    return mf_near_exact(point, g->lines.near, scale);
}

/* The best in place of a code at the scales `from` to `to`. */
static inline bool mf_grid_2_replace(struct mf_grid_2 *g,
                                     const struct mf_near_point *point,
                                     float margin, size_t lane, size_t i,
                                     int from, int to)
{
    bool only;
    int best =
        mf_grid_2_find(g, point, mf_grid_2_tried(g, from, lane), margin, &only);
    bool all = from == to ||
               (only && mf_near_is_best(&g->lines, best,
                                        mf_grid_2_tried(g, to, lane), margin));

    for (int t = from; t <= to && best >= 0; t++) {
        if (t > from && !all)
            best = mf_grid_2_find(g, point, mf_grid_2_tried(g, t, lane), margin,
                                  &only);
        if (best >= 0)
            *mf_int_row_at(&g->code[t][i], lane) =
                g->lines.near.code[best] | MF_OFF_GRID;
    }
    return best >= 0;
}

/* Eight numbers at all scales; false where the reference stops. */
static inline bool mf_grid_2_resolve(struct mf_grid_2 *g, size_t lane, size_t i)
{
    struct mf_near_point point = mf_grid_2_point(g, lane, i);
    uint32_t change = (uint32_t)*mf_int_row_at(&g->change[i], lane);
    int last = MF_GRID_2_TRIED - 1;
    bool prepared = false;
    float margin = 0;

    while (change != 0) {
        int from = __builtin_ctz(change), to;
        int32_t place = g->map->place[*mf_int_row_at(&g->code[from][i], lane)];

        change &= change - 1;
        to = change != 0 ? __builtin_ctz(change) - 1 : last;
        if (place >= 0)
            continue;
        if (!prepared) {
            margin = mf_near_margin(&point, mf_grid_2_tried(g, last, lane),
                                    mf_grid_2_tried(g, 0, lane));
            mf_near_prepare(&g->tables, &point);
            prepared = true;
        }
        g->lines.near = mf_grid_near(g->map, place);
        mf_near_draw(&g->tables, &g->lines);
        if (!mf_grid_2_replace(g, &point, margin, lane, i, from, to))
            return false;
    }
    return true;
}

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
mf_grid_2_fit(const struct mf_grid_2 *g, const struct mf_int_row *code, int s)
{
    struct mf_grid_2_sums sums = { { 0 }, { 0 } };

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        for (int j = 0; j < 8; j++) {
            mf_floats w = g->weight[8 * i + (size_t)j].side[s];
            mf_floats x = g->x[8 * i + (size_t)j].side[s];
            mf_floats q = mf_grid_2_level(code[i].side[s], j);

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

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        g->best[i].side[s] = (mf_ints){ 0 };
    for (int t = 0; t < MF_GRID_2_TRIED; t++) {
        struct mf_grid_2_sums sums = mf_grid_2_fit(g, g->code[t], s);
        mf_floats fits = sums.with_x / sums.squares;
        mf_ints better = (sums.squares > zero) &
                         (sums.with_x * sums.with_x > best * sums.squares);

        scale = mf_lanes_select(better, fits, scale);
        best = mf_lanes_select(better, fits * sums.with_x, best);
        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
            g->best[i].side[s] = mf_ints_select(better, g->code[t][i].side[s],
                                                g->best[i].side[s]);
    }
    g->best_scale.side[s] = scale;
}

/* ---- codes at the best scale ---- */

/* Eight numbers of a group, which round to that code at its scale. */
static inline bool mf_grid_2_settle(struct mf_grid_2 *g, size_t lane, size_t i,
                                    int32_t code)
{
    int32_t *best = mf_int_row_at(&g->best[i], lane);
    int32_t place = g->map->place[code];
    float scale = mf_row_at(&g->best_scale, lane), margin;
    struct mf_near_point point;
    bool only;
    int found;

    if (place >= 0) {
        *best = code;
        return true;
    }
    point = mf_grid_2_point(g, lane, i);
    margin = mf_near_margin(&point, scale, scale);
    g->lines.near = mf_grid_near(g->map, place);
    if (margin == margin) {
        mf_near_prepare(&g->tables, &point);
        mf_near_draw(&g->tables, &g->lines);
    }
    found = mf_grid_2_find(g, &point, scale, margin, &only);
    if (found >= 0)
        *best = g->lines.near.code[found];
    return found >= 0;
}

/* What was not in the grid is rounded again, at the best scale. */
static inline bool mf_grid_2_round_again(struct mf_grid_2 *g, int s)
{
    const mf_floats zero = { 0 };
    mf_ints off = { 0 }, again = g->best_scale.side[s] > zero;
    mf_floats inverse = 1.0f / g->best_scale.side[s];
    struct mf_grid_2_sums sums;
    size_t first = (size_t)s * MF_LANES;
    bool far = mf_grid_2_is_far(g, s, inverse);

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        off |= (g->best[i].side[s] & MF_OFF_GRID) != 0;
    if (!MF_GRID_2_ALL)
        again &= off;
    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
        struct mf_int_row code;
        mf_ints some = again;
        uint32_t left;

        if (!MF_GRID_2_ALL)
            some &= (g->best[i].side[s] & MF_OFF_GRID) != 0;
        code.side[s] = mf_grid_2_round(g->x + 8 * i, s, inverse, far);
        left = mf_lanes_signs(some) & g->live[s];
        for (; left != 0; left &= left - 1) {
            size_t lane = first + (size_t)__builtin_ctz(left);

            if (lane < g->count &&
                !mf_grid_2_settle(g, lane, i, *mf_int_row_at(&code, lane)))
                return false;
        }
    }
    sums = mf_grid_2_fit(g, g->best, s);
    again &= sums.squares > zero;
    g->best_scale.side[s] = mf_lanes_select(again, sums.with_x / sums.squares,
                                            g->best_scale.side[s]);
    return true;
}

/* No scale is negative: signs are turned.  A group of zeros has none.  False
 * where a scale is no number. */
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
    bool good = true;

    for (int s = 0; s < MF_SIDES && good; s++) {
        size_t first = (size_t)s * MF_LANES;

        mf_grid_2_try(g, s);
        for (size_t lane = 0; lane < MF_LANES && first + lane < g->count;
             lane++)
            for (size_t i = 0; i < MF_GRID_2_EIGHTS && (g->live[s] >> lane & 1);
                 i++)
                good = good && mf_grid_2_resolve(g, first + lane, i);
        if (!good)
            break;
        mf_grid_2_choose(g, s);
        good = mf_grid_2_round_again(g, s) && mf_grid_2_finish(g, s);
    }
    return good;
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

#endif
