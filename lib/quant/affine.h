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
    size_t size; /* elements of a block */
    float top;   /* the largest code */
    float first, step;
    int count;
    bool absolute; /* errors are summed as they are, not squared */
};

/* What is found.  No minimum is above 0.  Codes come from
 * code_scale * (x - code_minimum), not quite from scale and minimum. */
struct mf_affine {
    mf_floats scale, minimum, code_scale, code_minimum, error;
};

/* What one trial comes to. */
struct mf_affine_trial {
    mf_floats code_scale, sum_l, sum_l2, sum_xl;
};

/* A block in each lane, and what its trials share. */
struct mf_affine_side {
    mf_floats min, max, sum_w, sum_x;
    struct mf_affine_trial trial;
    struct mf_affine best;
};

/* Blocks and the codes of a trial.  They lie so that row i of one is as far
 * from a multiple of 4096 bytes as row i of the others: a processor that
 * compares only the lower bits of addresses would take what is loaded for what
 * was just stored, and wait. */
struct mf_affine_rows {
    struct mf_row x[MF_AFFINE_SIZE], weight[MF_AFFINE_SIZE];
    struct mf_row code[MF_AFFINE_SIZE];
};

static inline mf_floats mf_affine_error(const struct mf_affine_trials *trials,
                                        mf_floats difference)
{
    return trials->absolute ? mf_lanes_abs(difference)
                            : difference * difference;
}

/* What a trial's numbers, scaled, have to be kept from before and after they
 * are rounded. */
enum mf_affine_range {
    MF_AFFINE_INSIDE, /* nothing */
    MF_AFFINE_BELOW,  /* codes below 0 */
    MF_AFFINE_AROUND, /* and codes above the largest */
    MF_AFFINE_FAR     /* and numbers that mf_lanes_whole cannot round */
};

static inline mf_floats mf_affine_code(mf_floats y, float top,
                                       enum mf_affine_range range)
{
    if (range == MF_AFFINE_FAR)
        return mf_lanes_clamp_round(mf_lanes_round_any(y), 0.0f, top);
    y = mf_lanes_whole(y);
    if (range != MF_AFFINE_INSIDE)
        y = mf_lanes_not_below_0(y);
    return range == MF_AFFINE_AROUND ? mf_lanes_not_above(y, top) : y;
}

static inline void mf_affine_codes(size_t size, float top,
                                   enum mf_affine_range range,
                                   struct mf_affine_rows *rows, int s,
                                   struct mf_affine_side *side)
{
    mf_floats l1 = { 0 }, l2 = { 0 }, xl = { 0 };
    mf_floats scale = side->trial.code_scale, minimum = side->best.minimum;

    for (size_t i = 0; i < size; i++) {
        mf_floats x = rows->x[i].side[s];
        mf_floats l = mf_affine_code(scale * (x - minimum), top, range);
        mf_floats wl = rows->weight[i].side[s] * l;

        rows->code[i].side[s] = l;
        l1 += wl;
        l2 += wl * l;
        xl += wl * x;
    }
    side->trial.sum_l = l1;
    side->trial.sum_l2 = l2;
    side->trial.sum_xl = xl;
}

/* Next to never called, and apart so that the compiler does not mix it with
 * the above. */
static __attribute__((noinline)) void
mf_affine_far_codes(size_t size, float top, struct mf_affine_rows *rows, int s,
                    struct mf_affine_side *side)
{
    mf_affine_codes(size, top, MF_AFFINE_FAR, rows, s, side);
}

static inline mf_floats mf_affine_errors(const struct mf_affine_trials *trials,
                                         const struct mf_affine_rows *rows,
                                         int s, mf_floats scale,
                                         mf_floats minimum)
{
    mf_floats error = { 0 };

    for (size_t i = 0; i < trials->size; i++) {
        mf_floats fit = scale * rows->code[i].side[s];
        mf_floats off = fit + minimum - rows->x[i].side[s];

        error += rows->weight[i].side[s] * mf_affine_error(trials, off);
    }
    return error;
}

static inline void mf_affine_judge(const struct mf_affine_trials *trials,
                                   const struct mf_affine_rows *rows, int s,
                                   struct mf_affine_side *side)
{
    const mf_floats zero = { 0 };
    struct mf_affine *best = &side->best;
    mf_floats w = side->sum_w, sum_x = side->sum_x;
    mf_floats l = side->trial.sum_l, l2 = side->trial.sum_l2;
    mf_floats xl = side->trial.sum_xl;
    mf_floats det = w * l2 - l * l;
    mf_floats scale = (w * xl - sum_x * l) / det;
    mf_floats minimum = (l2 * sum_x - l * xl) / det;
    mf_floats error, below = mf_lanes_select_less(zero, det, best->error,
                                                  mf_lanes_all(-INFINITY));

    if (mf_lanes_any_less(zero, minimum)) {
        scale = mf_lanes_select_less(zero, minimum, xl / l2, scale);
        minimum = mf_lanes_select_less(zero, minimum, zero, minimum);
    }
    error = mf_affine_errors(trials, rows, s, scale, minimum);
    best->code_scale = mf_lanes_select_less(
        error, below, side->trial.code_scale, best->code_scale);
    best->code_minimum =
        mf_lanes_select_less(error, below, best->minimum, best->code_minimum);
    best->scale = mf_lanes_select_less(error, below, scale, best->scale);
    best->minimum = mf_lanes_select_less(error, below, minimum, best->minimum);
    best->error = mf_lanes_select_less(error, below, error, best->error);
}

/* What rises with x does so when scaled, and the largest comes to room: so the
 * least tells.  It is far where a trial made a minimum of nearly all that a
 * block has in common, and may then be on the other side of the largest.  Where
 * a block has numbers that are not finite, or differ by more than one can be,
 * its weights sum to no number and no trial wins. */
static inline enum mf_affine_range
mf_affine_range(const struct mf_affine_trials *trials, float room,
                const struct mf_affine_side *side)
{
    const float half = trials->top / 2;
    bool above = room > trials->top + 0.49f;
    mf_floats low = side->min - side->best.minimum;

    low *= side->trial.code_scale;
    if (!above && mf_lanes_every_less(mf_lanes_abs(low - half),
                                      mf_lanes_all(half + 0.49f)))
        return MF_AFFINE_INSIDE;
    if (!mf_lanes_every_less(mf_lanes_abs(low), mf_lanes_all(MF_NEAR)))
        return MF_AFFINE_FAR;
    if (above || mf_lanes_any_less(mf_lanes_all(half), low))
        return MF_AFFINE_AROUND;
    return MF_AFFINE_BELOW;
}

static inline void mf_affine_try(const struct mf_affine_trials *trials,
                                 struct mf_affine_rows *rows, float room,
                                 struct mf_affine_side side[MF_SIDES])
{
    const size_t size = trials->size;
    const float top = trials->top;

    for (int s = 0; s < MF_SIDES; s++) {
        struct mf_affine_side *at = &side[s];

        at->trial.code_scale = room / (at->max - at->best.minimum);
        switch (mf_affine_range(trials, room, at)) {
        case MF_AFFINE_INSIDE:
            mf_affine_codes(size, top, MF_AFFINE_INSIDE, rows, s, at);
            break;
        case MF_AFFINE_BELOW:
            mf_affine_codes(size, top, MF_AFFINE_BELOW, rows, s, at);
            break;
        case MF_AFFINE_AROUND:
            mf_affine_codes(size, top, MF_AFFINE_AROUND, rows, s, at);
            break;
        case MF_AFFINE_FAR:
            mf_affine_far_codes(size, top, rows, s, at);
        }
    }
    for (int s = 0; s < MF_SIDES; s++)
        mf_affine_judge(trials, rows, s, &side[s]);
}

static inline void mf_affine_first_error(const struct mf_affine_trials *trials,
                                         const struct mf_affine_rows *rows,
                                         int s, enum mf_affine_range range,
                                         struct mf_affine_side *side)
{
    mf_floats scale = side->best.scale, minimum = side->best.minimum;
    mf_floats error = { 0 };

    for (size_t i = 0; i < trials->size; i++) {
        mf_floats x = rows->x[i].side[s];
        mf_floats l = mf_affine_code(side->best.code_scale * (x - minimum),
                                     trials->top, range);

        error += rows->weight[i].side[s] *
                 mf_affine_error(trials, scale * l + minimum - x);
    }
    side->best.error = error;
}

/* The sums over the block, and the first guess. */
static inline void mf_affine_first(const struct mf_affine_trials *trials,
                                   const struct mf_affine_rows *rows, int s,
                                   struct mf_affine_side *side)
{
    mf_floats min = rows->x[0].side[s], max = min;
    mf_floats sum_w = rows->weight[0].side[s], sum_x = sum_w * min;
    mf_floats code_scale;

    for (size_t i = 1; i < trials->size; i++) {
        mf_floats x = rows->x[i].side[s], w = rows->weight[i].side[s];

        min = mf_lanes_min(x, min);
        max = mf_lanes_max(x, max);
        sum_w += w;
        sum_x += w * x;
    }
    side->min = min;
    side->max = max;
    min = mf_lanes_min(mf_lanes_all(0.0f), min);
    code_scale = trials->top / (max - min);
    side->sum_w = sum_w;
    side->sum_x = sum_x;
    side->best =
        (struct mf_affine){ 1.0f / code_scale, min, code_scale, min, { 0 } };
    if (mf_lanes_every_less(code_scale * (max - min), mf_lanes_all(MF_NEAR)))
        mf_affine_first_error(trials, rows, s, MF_AFFINE_INSIDE, side);
    else
        mf_affine_first_error(trials, rows, s, MF_AFFINE_FAR, side);
}

/* Blocks of the batch, from number first on; its minimums are what is taken
 * away, so not below 0.  A block of equal elements, none above 0, comes out
 * with scale 0 and codes 0: it divides by 0, the result rounds to 0,
 * and so the determinant is never positive. */
static inline void mf_affine_search(const struct mf_affine_trials *trials,
                                    struct mf_affine_rows *rows,
                                    struct mf_batch *batch, size_t first)
{
    struct mf_affine_side side[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++)
        mf_affine_first(trials, rows, s, &side[s]);
    for (int i = 0; i < trials->count; i++)
        mf_affine_try(trials, rows,
                      trials->first + trials->step * (float)i + trials->top,
                      side);
    for (size_t s = 0; s < MF_SIDES; s++, first += MF_LANES) {
        const struct mf_affine *best = &side[s].best;

        mf_lanes_store(batch->scale + first, best->scale);
        mf_lanes_store(batch->minimum + first, -best->minimum);
        mf_lanes_store(batch->code_scale + first, best->code_scale);
        mf_lanes_store(batch->code_minimum + first, best->code_minimum);
        mf_lanes_store(batch->weight + first, side[s].sum_w);
    }
}

#endif
