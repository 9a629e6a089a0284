/* SPDX-License-Identifier: MIT
 *
 * further_scale.h - the search for a block's own scale, without a super-block
 */
#ifndef MF_LIB_QUANT_FURTHER_SCALE_H
#define MF_LIB_QUANT_FURTHER_SCALE_H

#include "lib/quant/further_chunk.h"

/* The best of a chunk so far. */
struct fit {
    struct mf_row scale, minimum, gain;
};

/* Takes the scale and minimum that suit the codes which these lead to, where
 * they explain more than the best. */
static void try_fit(const struct mf_makeup *makeup, const struct chunk *chunk,
                    const struct totals *all, const struct mf_row *scale,
                    const struct mf_row *minimum, struct fit *best)
{
    struct sums sum;

    sums_of(makeup, chunk, scale, minimum, &sum);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats l = sum.l.side[s], l2 = sum.l2.side[s], xl = sum.xl.side[s];
        mf_floats fit = xl / l2, low = { 0 }, gain;

        if (makeup->numbers == MF_NUMBERS_SHIFTED) {
            mf_floats w = all->w.side[s], x = all->x.side[s];
            mf_floats det = w * l2 - l * l;

            fit = (w * xl - x * l) / det;
            low = (l * xl - l2 * x) / det;
            gain = fit * xl - low * x;
        } else {
            gain = fit * xl;
        }
        best->scale.side[s] = mf_lanes_select_less(best->gain.side[s], gain,
                                                   fit, best->scale.side[s]);
        best->minimum.side[s] = mf_lanes_select_less(
            best->gain.side[s], gain, low, best->minimum.side[s]);
        best->gain.side[s] = mf_lanes_select_less(best->gain.side[s], gain,
                                                  gain, best->gain.side[s]);
    }
}

/* The farthest element is tried as a little more and less than the last
 * number, on either side. */
static void fit_scales(const struct mf_makeup *makeup,
                       const struct chunk *chunk, const struct totals *all,
                       const struct mf_depth *depth, struct fit *best)
{
    const float end[2] = { makeup->low, makeup->high };
    const struct mf_row zero = { { { 0 } } };

    for (int side = 0; side < 2; side++)
        for (int i = 0; i < depth->scales; i++) {
            float room =
                end[side] * part_at(depth->scale, depth->scale_step, i);
            struct mf_row scale;

            for (int s = 0; s < MF_SIDES; s++)
                scale.side[s] = all->farthest.side[s] / room;
            try_fit(makeup, chunk, all, &scale, &zero, best);
        }
}

/* The least and the largest element, each moved by parts of what is between. */
static void fit_spans(const struct mf_makeup *makeup, const struct chunk *chunk,
                      const struct totals *all, const struct mf_depth *depth,
                      struct fit *best)
{
    for (int i = 0; i < depth->scales; i++)
        for (int j = 0; j < depth->minimums; j++) {
            float above = part_at(depth->scale, depth->scale_step, i);
            float below = part_at(depth->minimum, depth->minimum_step, j);
            struct mf_row scale, minimum;

            for (int s = 0; s < MF_SIDES; s++) {
                mf_floats span = all->most.side[s] - all->least.side[s];

                minimum.side[s] = -(all->least.side[s] + span * below);
                scale.side[s] = span * ((1.0f - above - below) / makeup->high);
            }
            try_fit(makeup, chunk, all, &scale, &minimum, best);
        }
}

/* Scales of own blocks, in best. */
static void fit_chunk(struct work *work, size_t first)
{
    const struct mf_depth *depth = work->depth;
    const struct mf_makeup *makeup = work->makeup;
    const struct chunk *chunk = &work->chunk[first / MF_ABREAST];
    struct fit best = { 0 };
    struct totals all;

    add_totals(makeup, chunk, &all);
    if (makeup->numbers == MF_NUMBERS_SHIFTED)
        fit_spans(makeup, chunk, &all, depth, &best);
    else
        fit_scales(makeup, chunk, &all, depth, &best);
    for (int i = 0; i < depth->rounds; i++) {
        struct fit from = best;

        try_fit(makeup, chunk, &all, &from.scale, &from.minimum, &best);
    }
    mf_row_store(work->best.unit[0] + first, best.scale);
    mf_row_store(work->best.unit[1] + first, best.minimum);
}

/* A half that is so many steps farther from 0; of none is it 0 or infinite. */
static float step_half(float half, int steps)
{
    uint8_t bytes[2];
    int bits;

    mf_store_scale(bytes, half);
    bits = mf_little_16(bytes);
    if ((bits & 0x7fff) + steps < 1 || (bits & 0x7fff) + steps > 0x7bff)
        return half;
    mf_put_little_16(bytes, (uint16_t)(bits + steps));
    return mf_load_scale(bytes);
}

/* Halves around the reference's, one after the other: with many numbers what a
 * scale leaves is a matter of chance. */
static void try_halves(struct work *work, size_t first)
{
    const struct mf_depth *depth = work->depth;
    const struct mf_row zero = { { { 0 } } };
    const struct chunk *chunk = &work->chunk[first / MF_ABREAST];
    struct mf_row best = load(work->best.error + first), found = zero;

    for (int i = 0; i < depth->scales; i++) {
        float halves[MF_ABREAST];
        struct mf_row scale, error;

        for (size_t j = 0; j < MF_ABREAST; j++)
            halves[j] = step_half(work->now.unit[0][first + j],
                                  depth->scale + i * depth->scale_step);
        scale = load(halves);
        errors_of(work->makeup, chunk, &scale, &zero, &error);
        for (int s = 0; s < MF_SIDES; s++) {
            found.side[s] = mf_lanes_select_less(error.side[s], best.side[s],
                                                 scale.side[s], found.side[s]);
            best.side[s] = mf_lanes_select_less(error.side[s], best.side[s],
                                                error.side[s], best.side[s]);
        }
    }
    mf_row_store(work->best.unit[0] + first, found);
}

#endif
