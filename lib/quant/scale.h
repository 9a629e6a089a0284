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

/* A block in each lane.  Codes come from code_scale * x; in a block
 * that counts as zeros that is a NaN, and codes are -top. */
struct mf_scale {
    size_t size; /* elements */
    float top;
    bool finite; /* x is, so that none leaves the range of mf_lanes_round */
    const struct mf_row *x, *weight;
    struct mf_row weighted_x[MF_SCALE_SIZE], farthest;
    struct mf_row scale, code_scale; /* what is found */
    struct mf_row gain; /* by how much its error is less than with scale 0 */
};

/* The code of a scaled element.  The lower bound is only asked for where that
 * may round to less: where the farthest element is given half a code more. */
static inline mf_floats mf_scale_code(const struct mf_scale *search, bool low,
                                      mf_floats y)
{
    y = search->finite ? mf_lanes_whole(y) : mf_lanes_round_any(y) - MF_ROUND;
    if (low || !search->finite)
        y = mf_lanes_max(y, mf_lanes_all(-search->top));
    return mf_lanes_min(y, mf_lanes_all(search->top - 1));
}

/* Of one side. */
struct mf_scale_trial {
    mf_floats code_scale, xl, l2;
};

/* Trials do not wait for each other until they are judged: as many as there are
 * registers for are made together. */
#define MF_SCALE_TOGETHER 3

static inline void mf_scale_sums(const struct mf_scale *search, bool low, int s,
                                 struct mf_scale_trial *trial, size_t count)
{
    mf_floats xl[MF_SCALE_TOGETHER] = { { 0 } };
    mf_floats l2[MF_SCALE_TOGETHER] = { { 0 } };

    for (size_t i = 0; i < search->size; i++)
        for (size_t j = 0; j < count; j++) {
            mf_floats y = trial[j].code_scale * search->x[i].side[s];
            mf_floats l = mf_scale_code(search, low, y);

            xl[j] += search->weighted_x[i].side[s] * l;
            l2[j] += search->weight[i].side[s] * l * l;
        }
    for (size_t j = 0; j < count; j++) {
        trial[j].xl = xl[j];
        trial[j].l2 = l2[j];
    }
}

static inline void mf_scale_first(struct mf_scale *search)
{
    const mf_floats zero = { 0 };
    search->farthest = mf_rows_farthest(search->x, search->size);
    for (size_t i = 0; i < search->size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            search->weighted_x[i].side[s] =
                search->weight[i].side[s] * search->x[i].side[s];
    for (int s = 0; s < MF_SIDES; s++) {
        struct mf_scale_trial trial;
        mf_floats scale;

        trial.code_scale = -search->top / search->farthest.side[s];
        mf_scale_sums(search, false, s, &trial, 1);
        scale = mf_lanes_select(trial.l2 == zero, zero, trial.xl / trial.l2);
        search->code_scale.side[s] = trial.code_scale;
        search->scale.side[s] = scale;
        search->gain.side[s] = scale * trial.xl;
    }
}

static inline void mf_scale_judge(struct mf_scale *search, int s,
                                  const struct mf_scale_trial *trial)
{
    mf_floats gain = search->gain.side[s];
    mf_floats scale = trial->xl / trial->l2, least = gain * trial->l2;
    mf_floats square =
        mf_lanes_select_less(mf_lanes_all(0.0f), trial->l2,
                             trial->xl * trial->xl, mf_lanes_all(-INFINITY));

    search->gain.side[s] =
        mf_lanes_select_less(least, square, scale * trial->xl, gain);
    search->scale.side[s] =
        mf_lanes_select_less(least, square, scale, search->scale.side[s]);
    search->code_scale.side[s] = mf_lanes_select_less(
        least, square, trial->code_scale, search->code_scale.side[s]);
}

/* The farthest element is given more than -top: first tenths, and so on. */
static inline void mf_scale_try(struct mf_scale *search, int first)
{
    for (int s = 0; s < MF_SIDES; s++) {
        struct mf_scale_trial trial[MF_SCALE_TOGETHER];

        for (int j = 0; j < MF_SCALE_TOGETHER; j++)
            trial[j].code_scale = -(search->top + 0.1f * (float)(first + j)) /
                                  search->farthest.side[s];
        mf_scale_sums(search, first > 0, s, trial, MF_SCALE_TOGETHER);
        for (int j = 0; j < MF_SCALE_TOGETHER; j++)
            mf_scale_judge(search, s, &trial[j]);
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
    for (int i = -9; i <= 7; i += i == -3 ? 4 : MF_SCALE_TOGETHER)
        mf_scale_try(search, i);
    for (int s = 0; s < MF_SIDES; s++)
        search->scale.side[s] =
            mf_lanes_if_any(search->farthest.side[s], search->scale.side[s]);
}

#endif
