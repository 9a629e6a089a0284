/* SPDX-License-Identifier: MIT
 *
 * scale.h - the search for a scale: x = scale * code
 *
 * What Q3_K, Q6_K and, with weights, Q4_0 and Q5_0 share.  Codes go from -top
 * to top - 1.  A first guess
 * makes the element that is farthest from 0 a -top; trials make it a little
 * less or more.
 */
#ifndef MF_LIB_QUANT_SCALE_H
#define MF_LIB_QUANT_SCALE_H

#include "lib/quant/rows.h"

#define MF_SCALE_SIZE 32 /* elements of a block, at most */

/* A block in each lane.  Codes found are those of code_scale * x; in a block
 * that counts as zeros that is a NaN, and codes are -top. */
struct mf_scale {
    size_t size; /* elements */
    float top;
    bool finite; /* x is, so that none leaves the range of mf_lanes_round */
    const struct mf_row *x, *weight;
    struct mf_row weighted_x[MF_SCALE_SIZE], farthest;
    struct mf_row scale, code_scale; /* what is found */
    struct mf_row gain; /* by how much its error is less than that of 0 */
};

/* The code of a scaled element.  The lower bound is only asked for where that
 * may round to less: where the farthest element is given half a code more. */
static inline mf_floats mf_scale_code(const struct mf_scale *search, bool low,
                                      mf_floats y)
{
    y = search->finite ? mf_lanes_round(y) : mf_lanes_round_any(y);
    if (low || !search->finite)
        y = mf_lanes_max(y, mf_lanes_all(MF_ROUND - search->top));
    return mf_lanes_min(y, mf_lanes_all(MF_ROUND + search->top - 1)) - MF_ROUND;
}

static inline void mf_scale_sums(const struct mf_scale *search, bool low,
                                 const struct mf_row *code_scale,
                                 struct mf_row *sum_xl, struct mf_row *sum_l2)
{
    struct mf_row xl = { { { 0 } } }, l2 = { { { 0 } } };

    for (size_t i = 0; i < search->size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats y = code_scale->side[s] * search->x[i].side[s];
            mf_floats l = mf_scale_code(search, low, y);

            xl.side[s] += search->weighted_x[i].side[s] * l;
            l2.side[s] += search->weight[i].side[s] * l * l;
        }
    *sum_xl = xl;
    *sum_l2 = l2;
}

static inline void mf_scale_first(struct mf_scale *search)
{
    const mf_floats zero = { 0 };
    struct mf_row xl, l2;

    search->farthest = mf_rows_farthest(search->x, search->size);
    for (size_t i = 0; i < search->size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            search->weighted_x[i].side[s] =
                search->weight[i].side[s] * search->x[i].side[s];
    for (int s = 0; s < MF_SIDES; s++)
        search->code_scale.side[s] = -search->top / search->farthest.side[s];
    mf_scale_sums(search, false, &search->code_scale, &xl, &l2);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats scale = xl.side[s] / l2.side[s];

        scale = mf_lanes_select(l2.side[s] == zero, zero, scale);
        search->scale.side[s] = scale;
        search->gain.side[s] = scale * xl.side[s];
    }
}

/* The farthest element is given more than -top. */
static inline void mf_scale_try(struct mf_scale *search, float more)
{
    struct mf_row code_scale, xl, l2;

    for (int s = 0; s < MF_SIDES; s++)
        code_scale.side[s] = -(search->top + more) / search->farthest.side[s];
    if (more < 0.45f)
        mf_scale_sums(search, false, &code_scale, &xl, &l2);
    else
        mf_scale_sums(search, true, &code_scale, &xl, &l2);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats gain = search->gain.side[s];
        mf_floats scale = xl.side[s] / l2.side[s];
        mf_ints better =
            (l2.side[s] > 0.0f) & (xl.side[s] * xl.side[s] > gain * l2.side[s]);

        search->gain.side[s] =
            mf_lanes_select(better, scale * xl.side[s], gain);
        search->scale.side[s] =
            mf_lanes_select(better, scale, search->scale.side[s]);
        search->code_scale.side[s] = mf_lanes_select(
            better, code_scale.side[s], search->code_scale.side[s]);
    }
}

static inline void mf_scale_begin(struct mf_scale *search, size_t size,
                                  float top, const struct mf_row *x,
                                  const struct mf_row *weight)
{
    search->size = size;
    search->top = top;
    search->finite = true;
    search->x = x;
    search->weight = weight;
}

static inline void mf_scale_search(struct mf_scale *search)
{
    mf_scale_first(search);
    for (int i = -9; i <= 9; i++)
        if (i != 0)
            mf_scale_try(search, 0.1f * (float)i);
    for (int s = 0; s < MF_SIDES; s++)
        search->scale.side[s] =
            mf_lanes_if_any(search->farthest.side[s], search->scale.side[s]);
}

#endif
