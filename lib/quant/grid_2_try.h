/* SPDX-License-Identifier: MIT
 *
 * grid_2_try.h - codes of the groups of grid_2.h at the scales that are tried
 */
#ifndef MF_LIB_QUANT_GRID_2_TRY_H
#define MF_LIB_QUANT_GRID_2_TRY_H

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

static inline void mf_grid_2_flatten_scales(struct mf_grid_2 *g, int s)
{
    const float *from[MF_GRID_2_TRIED + MF_TURN];

    for (size_t t = 0; t < MF_GRID_2_TRIED + MF_TURN; t++)
        from[t] = (const float *)(const void *)&g
                      ->scale[t < MF_GRID_2_TRIED ? t : MF_GRID_2_TRIED - 1];
    for (size_t t = 0; t < MF_GRID_2_TRIED; t += MF_TURN)
        for (size_t i = 0; i < MF_LANES; i += MF_TURN) {
            size_t lane = (size_t)s * MF_LANES + i;

            mf_rows_turn(&g->flat_scale[lane][t], MF_GRID_2_FLAT, from + t,
                         lane);
        }
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
    mf_grid_2_flatten_scales(g, s);
    far = mf_grid_2_is_far(g, s, g->inverse[MF_GRID_2_TRIED - 1].side[s]);
    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
        mf_ints before = { 0 }, change = { 0 };

        for (int t = 0; t < MF_GRID_2_TRIED; t++) {
            mf_ints code =
                mf_grid_2_round(g->x + 8 * i, s, g->inverse[t].side[s], far);

            change |= (code != before) & mf_ints_all(1 << t);
            g->code[t][i].side[s] = before = code;
        }
        g->change[i].side[s] = change | 1;
    }
}

/* ---- codes that are not in the grid ---- */

/* How far a line must be below another, at any scale from scale_min to
 * scale_max, so that its code is the better one for sure; NaN where that cannot
 * be said.
 *
 * With u = 2^-24, half a unit in the last place, and m = 5 * s + |x|, which
 * nothing that is squared exceeds: s * q - x is off by at most 2 * u * m, its
 * square times w by 6 * u * w * m^2, and the sum of eight by 13 * u * W, where
 * W is the sum of w * m^2.  Lines, times s, are off by at most 7 * u * W: a by
 * 5 * u, b by 6 * u, a product and a difference.  Two codes: 40 * u * W; what
 * is taken is 64 * u * W / s.  Numbers so small that digits are lost below the
 * least exponent are left out. */
static inline mf_floats mf_grid_2_margin(const struct mf_grid_2 *g, size_t i,
                                         int s, mf_floats scale_min,
                                         mf_floats scale_max)
{
    mf_floats sum = { 0 };
    mf_ints known;

    for (size_t j = 8 * i; j < 8 * i + 8; j++) {
        mf_floats m = 5.0f * scale_max + mf_lanes_abs(g->x[j].side[s]);

        sum += g->root[j].side[s] * m * m;
    }
    known = (sum >= mf_lanes_all(0x1p-80f)) & (sum <= mf_lanes_all(0x1p80f)) &
            (scale_min >= mf_lanes_all(0x1p-70f)) &
            (scale_max <= mf_lanes_all(0x1p10f));
    return mf_lanes_select(known, sum * 0x1p-18f / scale_min,
                           mf_lanes_all(NAN));
}

/* Eight numbers of a group whose code is not in the grid, for scales `from` to
 * `to` of those that are tried. */
struct mf_grid_2_gap {
    const uint16_t *near;
    uint8_t lane, eight, from, to;
};

#define MF_GRID_2_GAPS (MF_LANES * MF_GRID_2_EIGHTS * MF_GRID_2_TRIED)

static inline void mf_grid_2_open(struct mf_grid_2 *g,
                                  const struct mf_grid_2_gap *gap, float margin,
                                  struct mf_near_point *point)
{
    struct mf_near_tables tables;
    size_t at = 8 * gap->eight;

    *point = (struct mf_near_point){ &g->flat_x[gap->lane][at],
                                     &g->flat_root[gap->lane][at],
                                     &g->flat_product[gap->lane][at] };
    g->lines.near = (struct mf_near){ gap->near + 1, *gap->near };
    if (margin == margin) {
        mf_near_prepare(&tables, point);
        mf_near_draw(&tables, &g->lines);
    }
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

static inline float mf_grid_2_scale(const struct mf_grid_2 *g,
                                    const struct mf_grid_2_gap *gap, int t)
{
    return mf_row_at(&g->scale[t], gap->lane);
}

/* The code with that number from scale t on. */
static inline void mf_grid_2_set(struct mf_grid_2 *g,
                                 const struct mf_grid_2_gap *gap, int t,
                                 int number)
{
    *mf_int_row_at(&g->code[t][gap->eight], gap->lane) =
        g->lines.near.code[number] | MF_OFF_GRID;
    *mf_int_row_at(&g->change[gap->eight], gap->lane) |= 1 << t;
}

/* One code is the best at the first scale, another at the last: true where they
 * are all there is, and it is sure which is the better one at each scale. */
static inline bool mf_grid_2_part(struct mf_grid_2 *g,
                                  const struct mf_grid_2_gap *gap, float margin,
                                  int best, int last)
{
    const struct mf_near_lines *lines = &g->lines;
    float a = lines->a[best] - lines->a[last];
    float b = lines->b[best] - lines->b[last];
    int t = gap->from + 1;

    while (t < gap->to && mf_grid_2_scale(g, gap, t) * a < b)
        t++;
    if (!mf_near_is_best(lines, best, mf_grid_2_scale(g, gap, t - 1), margin) ||
        !mf_near_is_best(lines, last, mf_grid_2_scale(g, gap, t), margin))
        return false;
    mf_grid_2_set(g, gap, t, last);
    return true;
}

/* Codes of a short list; false where two are close. */
static inline bool mf_grid_2_fill_each(struct mf_grid_2 *g,
                                       const struct mf_grid_2_gap *gap,
                                       float margin)
{
    int32_t best[1 + MF_LANES] = { -1 };

    for (int t = gap->from; t <= gap->to; t += MF_LANES) {
        int count = gap->to - t + 1;
        uint32_t lanes = count < MF_LANES ? (1u << count) - 1 : UINT32_MAX;
        mf_ints before, now;
        uint32_t other;

        if (mf_near_each(&g->lines, &g->flat_scale[gap->lane][t], margin,
                         best + 1) &
            lanes)
            return false;
        memcpy(&before, best, sizeof(before));
        memcpy(&now, best + 1, sizeof(now));
        other = mf_lanes_signs(before != now) & lanes;
        for (; other != 0; other &= other - 1) {
            int i = __builtin_ctz(other);

            mf_grid_2_set(g, gap, t + i, best[1 + i]);
        }
        best[0] = best[MF_LANES];
    }
    return true;
}

/* A code for each scale; false where the reference stops. */
static inline bool mf_grid_2_fill(struct mf_grid_2 *g,
                                  const struct mf_grid_2_gap *gap, float margin)
{
    struct mf_near_point point;
    bool only, last_only;
    int best, last;

    mf_grid_2_open(g, gap, margin, &point);
    if (margin == margin && g->lines.near.count <= MF_NEAR_FEW &&
        mf_grid_2_fill_each(g, gap, margin))
        return true;
    best = mf_grid_2_find(g, &point, mf_grid_2_scale(g, gap, gap->from), margin,
                          &only);
    if (best < 0)
        return false;
    mf_grid_2_set(g, gap, gap->from, best);
    if (gap->from == gap->to ||
        (only && mf_near_is_best(&g->lines, best,
                                 mf_grid_2_scale(g, gap, gap->to), margin)))
        return true;
    last = mf_grid_2_find(g, &point, mf_grid_2_scale(g, gap, gap->to), margin,
                          &last_only);
    if (only && last_only && mf_grid_2_part(g, gap, margin, best, last))
        return true;
    for (int t = gap->from + 1; t <= gap->to; t++) {
        best = mf_grid_2_find(g, &point, mf_grid_2_scale(g, gap, t), margin,
                              &only);
        if (best < 0)
            return false;
        mf_grid_2_set(g, gap, t, best);
    }
    return true;
}

/* Gaps of a side; returns how many. */
static inline size_t mf_grid_2_gaps(struct mf_grid_2 *g, int s,
                                    struct mf_grid_2_gap *gaps)
{
    size_t count = 0, first = (size_t)s * MF_LANES;

    for (size_t lane = 0; lane < MF_LANES && first + lane < g->count; lane++)
        for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++) {
            uint32_t change =
                (uint32_t)*mf_int_row_at(&g->change[i], first + lane);

            if (!(g->live[s] >> lane & 1))
                continue;
            while (change != 0) {
                int t = __builtin_ctz(change);
                int32_t place =
                    g->map->place[*mf_int_row_at(&g->code[t][i], first + lane)];
                int32_t off = place >> 31;

                change &= change - 1;
                gaps[count] = (struct mf_grid_2_gap){
                    .near = g->map->near + (~place & off),
                    .lane = (uint8_t)(first + lane),
                    .eight = (uint8_t)i,
                    .from = (uint8_t)t,
                    .to = (uint8_t)((change != 0 ? __builtin_ctz(change)
                                                 : MF_GRID_2_TRIED) -
                                    1),
                };
                count += off & 1;
            }
        }
    return count;
}

/* All codes of a side. */
static inline bool mf_grid_2_resolve(struct mf_grid_2 *g, int s)
{
    struct mf_grid_2_gap gaps[MF_GRID_2_GAPS];
    float margin[MF_GRID_2_EIGHTS][MF_LANES];
    size_t count = mf_grid_2_gaps(g, s, gaps);

    for (size_t i = 0; i < MF_GRID_2_EIGHTS; i++)
        mf_lanes_store(margin[i],
                       mf_grid_2_margin(g, i, s,
                                        g->scale[MF_GRID_2_TRIED - 1].side[s],
                                        g->scale[0].side[s]));
    for (size_t i = 0; i < count; i++)
        if (!mf_grid_2_fill(g, &gaps[i],
                            margin[gaps[i].eight][gaps[i].lane % MF_LANES]))
            return false;
    return true;
}

#endif
