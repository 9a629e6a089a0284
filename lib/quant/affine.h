/* SPDX-License-Identifier: MIT
 *
 * affine.h - the search for a scale and a minimum: x = scale * code + minimum
 *
 * What Q2_K, Q4_K, Q5_K and, with weights, Q4_1 and Q5_1 share.  A first guess
 * spans the block from its least to its largest element.  Then trials stretch
 * that a little, each solving for the scale and minimum that suit its codes
 * best.
 */
#ifndef MF_LIB_QUANT_AFFINE_H
#define MF_LIB_QUANT_AFFINE_H

#include "lib/quant/batch.h"

#define MF_AFFINE_SIZE 32 /* elements of a block, at most */

/* Trial i spreads codes as if the largest were top + first + i * step. */
struct mf_affine_trials {
    float top; /* the largest code */
    float first, step;
    int count;
    bool absolute; /* errors are summed as they are, not squared */
};

/* What is found.  No minimum is above 0.  Codes are those of
 * code_scale * (x - code_minimum), not quite those of scale and minimum. */
struct mf_affine {
    struct mf_row scale, minimum, code_scale, code_minimum, error;
};

/* A block in each lane, and what its trials share. */
struct mf_affine_block {
    size_t size;
    const struct mf_row *x, *weight;
    struct mf_row min, max, sum_w, sum_x;
};

/* What one trial comes to. */
struct mf_affine_trial {
    struct mf_row code[MF_AFFINE_SIZE];
    struct mf_row code_scale, sum_l, sum_l2, sum_xl;
    struct mf_row scale, minimum, error;
};

static inline mf_floats mf_affine_error(const struct mf_affine_trials *trials,
                                        mf_floats difference)
{
    return trials->absolute ? mf_lanes_abs(difference)
                            : difference * difference;
}

static inline mf_floats mf_affine_code(const struct mf_affine_trials *trials,
                                       mf_floats round)
{
    return mf_lanes_clamp_round(round, 0.0f, trials->top);
}

/* Whether x, scaled, is in the range of mf_lanes_round.  What rises with x does
 * so when rounded, and so the least and the largest tell.  It is not where a
 * trial made a minimum of nearly all that a block has in common. */
static inline bool mf_affine_near(const struct mf_affine_block *block,
                                  const struct mf_row *code_scale,
                                  const struct mf_row *minimum)
{
    const mf_floats most = mf_lanes_all(MF_NEAR);
    bool near = true;

    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats low = block->min.side[s] - minimum->side[s];
        mf_floats high = block->max.side[s] - minimum->side[s];

        low = mf_lanes_abs(code_scale->side[s] * low);
        high = mf_lanes_abs(code_scale->side[s] * high);
        near &= mf_ints_every((low < most) & (high < most));
    }
    return near;
}

static inline void mf_affine_codes(const struct mf_affine_trials *trials,
                                   const struct mf_affine_block *block,
                                   const struct mf_row *minimum, bool near,
                                   struct mf_affine_trial *trial)
{
    struct mf_row l1 = { { { 0 } } }, l2 = { { { 0 } } }, xl = { { { 0 } } };

    for (size_t i = 0; i < block->size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = block->x[i].side[s];
            mf_floats y = trial->code_scale.side[s] * (x - minimum->side[s]);
            mf_floats l = mf_affine_code(trials, near ? mf_lanes_round(y)
                                                      : mf_lanes_round_any(y));
            mf_floats wl = block->weight[i].side[s] * l;

            trial->code[i].side[s] = l;
            l1.side[s] += wl;
            l2.side[s] += wl * l;
            xl.side[s] += wl * x;
        }
    trial->sum_l = l1;
    trial->sum_l2 = l2;
    trial->sum_xl = xl;
}

/* The mask tells where there is an answer. */
static inline mf_ints mf_affine_solve(const struct mf_affine_block *block,
                                      int s, struct mf_affine_trial *trial)
{
    const mf_floats zero = { 0 };
    mf_floats w = block->sum_w.side[s], x = block->sum_x.side[s];
    mf_floats l = trial->sum_l.side[s], l2 = trial->sum_l2.side[s];
    mf_floats xl = trial->sum_xl.side[s];
    mf_floats det = w * l2 - l * l;
    mf_floats scale = (w * xl - x * l) / det;
    mf_floats minimum = (l2 * x - l * xl) / det;
    mf_ints above = minimum > zero;

    trial->scale.side[s] = mf_lanes_select(above, xl / l2, scale);
    trial->minimum.side[s] = mf_lanes_select(above, zero, minimum);
    return det > zero;
}

static inline void mf_affine_errors(const struct mf_affine_trials *trials,
                                    const struct mf_affine_block *block,
                                    struct mf_affine_trial *trial)
{
    struct mf_row error = { { { 0 } } };

    for (size_t i = 0; i < block->size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats fit = trial->scale.side[s] * trial->code[i].side[s];
            mf_floats off = fit + trial->minimum.side[s] - block->x[i].side[s];

            error.side[s] +=
                block->weight[i].side[s] * mf_affine_error(trials, off);
        }
    trial->error = error;
}

static inline void mf_affine_try(const struct mf_affine_trials *trials,
                                 const struct mf_affine_block *block,
                                 float room, struct mf_affine *best)
{
    struct mf_affine_trial trial;
    mf_ints better[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++)
        trial.code_scale.side[s] =
            room / (block->max.side[s] - best->minimum.side[s]);
    if (mf_affine_near(block, &trial.code_scale, &best->minimum))
        mf_affine_codes(trials, block, &best->minimum, true, &trial);
    else
        mf_affine_codes(trials, block, &best->minimum, false, &trial);
    for (int s = 0; s < MF_SIDES; s++)
        better[s] = mf_affine_solve(block, s, &trial);
    mf_affine_errors(trials, block, &trial);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_ints yes = better[s] & (trial.error.side[s] < best->error.side[s]);

        best->code_scale.side[s] = mf_lanes_select(
            yes, trial.code_scale.side[s], best->code_scale.side[s]);
        best->code_minimum.side[s] = mf_lanes_select(
            yes, best->minimum.side[s], best->code_minimum.side[s]);
        best->scale.side[s] =
            mf_lanes_select(yes, trial.scale.side[s], best->scale.side[s]);
        best->minimum.side[s] =
            mf_lanes_select(yes, trial.minimum.side[s], best->minimum.side[s]);
        best->error.side[s] =
            mf_lanes_select(yes, trial.error.side[s], best->error.side[s]);
    }
}

/* The sums over the block, and the first guess. */
static inline void mf_affine_first(const struct mf_affine_trials *trials,
                                   struct mf_affine_block *block, int s,
                                   struct mf_affine *best)
{
    mf_floats min = block->x[0].side[s], max = min;
    mf_floats sum_w = block->weight[0].side[s], sum_x = sum_w * min;
    mf_floats scale, code_scale, error = { 0 };

    for (size_t i = 1; i < block->size; i++) {
        mf_floats x = block->x[i].side[s], w = block->weight[i].side[s];

        min = mf_lanes_min(x, min);
        max = mf_lanes_max(x, max);
        sum_w += w;
        sum_x += w * x;
    }
    block->min.side[s] = min;
    block->max.side[s] = max;
    min = mf_lanes_min(mf_lanes_all(0.0f), min);
    code_scale = trials->top / (max - min);
    scale = 1.0f / code_scale;
    for (size_t i = 0; i < block->size; i++) {
        mf_floats x = block->x[i].side[s];
        mf_floats l =
            mf_affine_code(trials, mf_lanes_round_any(code_scale * (x - min)));

        error += block->weight[i].side[s] *
                 mf_affine_error(trials, scale * l + min - x);
    }
    block->sum_w.side[s] = sum_w;
    block->sum_x.side[s] = sum_x;
    best->scale.side[s] = scale;
    best->minimum.side[s] = best->code_minimum.side[s] = min;
    best->code_scale.side[s] = code_scale;
    best->error.side[s] = error;
}

static inline void mf_affine_begin(struct mf_affine_block *block, size_t size,
                                   const struct mf_row *x,
                                   const struct mf_row *weight)
{
    block->size = size;
    block->x = x;
    block->weight = weight;
}

/* Blocks of the batch, from number first on; its minimums are what is taken
 * away, so not below 0.  A block of equal elements, none above 0, comes out
 * with scale 0 and codes 0: it divides by 0, what comes of that rounds to 0,
 * and so the determinant is never positive. */
static inline void mf_affine_search(const struct mf_affine_trials *trials,
                                    struct mf_affine_block *block,
                                    struct mf_batch *batch, size_t first)
{
    struct mf_affine best;

    for (int s = 0; s < MF_SIDES; s++)
        mf_affine_first(trials, block, s, &best);
    for (int i = 0; i < trials->count; i++)
        mf_affine_try(trials, block,
                      trials->first + trials->step * (float)i + trials->top,
                      &best);
    for (int s = 0; s < MF_SIDES; s++)
        best.minimum.side[s] = -best.minimum.side[s];
    mf_row_store(batch->scale + first, best.scale);
    mf_row_store(batch->minimum + first, best.minimum);
    mf_row_store(batch->code_scale + first, best.code_scale);
    mf_row_store(batch->code_minimum + first, best.code_minimum);
    mf_row_store(batch->weight + first, block->sum_w);
}

#endif
