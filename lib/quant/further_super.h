/* SPDX-License-Identifier: MIT
 *
 * further_super.h - the search for a super-block's multiples and their units
 */
#ifndef MF_LIB_QUANT_FURTHER_SUPER_H
#define MF_LIB_QUANT_FURTHER_SUPER_H

#include "lib/quant/further_chunk.h"

/* A chunk's tries of multiples: of which units, and around which scales and
 * minimum. */
struct around {
    const struct mf_makeup *makeup;
    const struct mf_depth *depth;
    struct mf_row unit[2], multiple[2]; /* those before */
    struct mf_row scale[2], minimum;
};

static inline mf_floats bound(mf_floats value, float least, float most)
{
    value = mf_lanes_max(value, mf_lanes_all(least));
    value = mf_lanes_min(value, mf_lanes_all(most));
    return mf_lanes_round(value) - MF_ROUND;
}

/* The scales that just span a block, of either sign. */
static void span_blocks(struct around *at, const struct totals *all)
{
    const struct mf_makeup *makeup = at->makeup;
    const float low = makeup->low - 0.5f, high = makeup->high + 0.5f;

    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats least = all->least.side[s], most = all->most.side[s];

        at->minimum.side[s] = -least;
        if (makeup->numbers == MF_NUMBERS_SHIFTED) {
            least = mf_lanes_min(least, mf_lanes_all(0.0f));
            at->scale[0].side[s] = (most - least) / makeup->high;
            continue;
        }
        at->scale[0].side[s] = mf_lanes_max(most / high, least / low);
        at->scale[1].side[s] = -mf_lanes_max(most / -low, least / -high);
    }
}

/* The multiple number i of those that are tried, which are at least 1 apart. */
static struct mf_row place_scale(const struct around *at, int i, int sign)
{
    const struct mf_depth *depth = at->depth;
    struct mf_row out;

    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats whole = at->scale[sign].side[s] / at->unit[0].side[s];
        mf_floats from = whole * part_of(depth->scale);
        mf_floats step = whole * part_of(depth->scale_step);
        mf_ints away = (mf_ints)step & INT32_MIN;

        step = mf_lanes_max(mf_lanes_abs(step), mf_lanes_all(1.0f));
        step = (mf_floats)((mf_ints)step | away);
        out.side[s] =
            bound(from + step * (float)i, at->makeup->least, at->makeup->most);
    }
    return out;
}

static struct mf_row place_minimum(const struct around *at,
                                   const struct mf_row *scale, int i)
{
    const struct mf_depth *depth = at->depth;
    struct mf_row out;

    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats unit = at->unit[1].side[s], step = scale->side[s] / unit;
        mf_floats from =
            at->minimum.side[s] / unit + step * part_of(depth->minimum);

        step = mf_lanes_max(step * part_of(depth->minimum_step),
                            mf_lanes_all(1.0f));
        out.side[s] =
            bound(from + step * (float)i, 0.0f, at->makeup->most_minimum);
    }
    return out;
}

/* What is chosen for the blocks of a chunk so far. */
struct chosen {
    struct mf_row multiple[2], error;
};

static void try_multiples(const struct around *at, const struct chunk *chunk,
                          const struct mf_row *multiple,
                          const struct mf_row *low, struct chosen *best)
{
    struct mf_row scale = product(at->unit[0], *multiple);
    struct mf_row minimum = product(at->unit[1], *low), error;

    errors_of(at->makeup, chunk, &scale, &minimum, &error);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats old = best->error.side[s], new = error.side[s];

        best->multiple[0].side[s] = mf_lanes_select_less(
            new, old, multiple->side[s], best->multiple[0].side[s]);
        best->multiple[1].side[s] = mf_lanes_select_less(
            new, old, low->side[s], best->multiple[1].side[s]);
        best->error.side[s] = mf_lanes_select_less(new, old, new, old);
    }
}

static bool has_minimums(const struct mf_makeup *makeup)
{
    return makeup->numbers == MF_NUMBERS_SHIFTED;
}

static struct mf_row step_from(const struct mf_row *multiple, int by,
                               float least, float most)
{
    struct mf_row out;

    for (int s = 0; s < MF_SIDES; s++)
        out.side[s] = bound(multiple->side[s] + (float)by, least, most);
    return out;
}

/* Multiples next to those before. */
static void choose_near(const struct around *at, const struct chunk *chunk,
                        struct chosen *best)
{
    const struct mf_makeup *makeup = at->makeup;
    const int near = at->depth->near;
    const int lows = has_minimums(makeup) ? near : 0;

    for (int i = -near; i <= near; i++)
        for (int j = -lows; j <= lows; j++) {
            struct mf_row multiple =
                step_from(&at->multiple[0], i, makeup->least, makeup->most);
            struct mf_row low =
                step_from(&at->multiple[1], j, 0.0f, makeup->most_minimum);

            try_multiples(at, chunk, &multiple, &low, best);
        }
}

/* Multiples for scales that span a block, or a little less or more. */
static void choose_far(struct around *at, const struct chunk *chunk,
                       struct chosen *best)
{
    const struct mf_depth *depth = at->depth;
    const int signs = at->makeup->least < 0 ? 2 : 1;
    struct totals all;

    add_totals(at->makeup, chunk, &all);
    span_blocks(at, &all);
    for (int i = 0; i < signs * depth->scales; i++) {
        struct mf_row multiple = place_scale(at, i / signs, i % signs);
        struct mf_row scale = product(at->unit[0], multiple);
        struct mf_row low = { { { 0 } } };

        for (int j = 0; j < depth->minimums; j++) {
            if (has_minimums(at->makeup))
                low = place_minimum(at, &scale, j);
            try_multiples(at, chunk, &multiple, &low, best);
        }
    }
}

/* With these units, the best multiples for the blocks of a chunk. */
static void choose(struct work *work, size_t first, bool far)
{
    const struct chunk *chunk = &work->chunk[first / MF_ABREAST];
    struct choice *now = &work->now;
    struct around at = { .makeup = work->makeup, .depth = work->depth };
    struct chosen best;

    for (size_t k = 0; k < 2; k++) {
        at.unit[k] = load(now->unit[k] + first);
        at.multiple[k] = load(now->multiple[k] + first);
        best.multiple[k] = at.multiple[k];
    }
    for (int s = 0; s < MF_SIDES; s++)
        best.error.side[s] = mf_lanes_all(INFINITY);
    choose_near(&at, chunk, &best);
    if (far)
        choose_far(&at, chunk, &best);
    mf_row_store(now->multiple[0] + first, best.multiple[0]);
    mf_row_store(now->multiple[1] + first, best.multiple[1]);
    mf_row_store(now->error + first, best.error);
}

/* Keeps what is better than before, super-block by super-block. */
static void keep(struct work *work)
{
    const size_t count = work->makeup->block_count;
    struct choice *now = &work->now, *best = &work->best;

    for (size_t i = 0; i < work->count; i += count) {
        double error = 0, least = 0;

        for (size_t j = i; j < i + count; j++) {
            error += (double)now->error[j];
            least += (double)best->error[j];
        }
        for (size_t j = i; j < i + count && error < least; j++) {
            for (size_t k = 0; k < 2; k++) {
                best->unit[k][j] = now->unit[k][j];
                best->multiple[k][j] = now->multiple[k][j];
            }
            best->error[j] = now->error[j];
        }
    }
}

static float half_of(double value)
{
    uint8_t bytes[2];

    mf_store_scale(bytes, (float)value);
    return mf_load_scale(bytes);
}

/* Sums over a batch, by its blocks. */
struct lists {
    float w[BLOCKS], x[BLOCKS], l[BLOCKS], l2[BLOCKS], xl[BLOCKS];
};

/* The units with which the codes of a super-block err least. */
static void solve(const struct choice *now, const struct lists *list,
                  size_t first, size_t count, float unit[2])
{
    double mm = 0, mk = 0, kk = 0, mx = 0, kx = 0, det;

    for (size_t i = first; i < first + count; i++) {
        double m = (double)now->multiple[0][i];
        double k = (double)now->multiple[1][i];

        mm += m * m * (double)list->l2[i];
        mk += m * k * (double)list->l[i];
        kk += k * k * (double)list->w[i];
        mx += m * (double)list->xl[i];
        kx += k * (double)list->x[i];
    }
    det = mm * kk - mk * mk;
    if (det > 0 && mk * mx - mm * kx >= 0) {
        unit[0] = half_of((mx * kk - mk * kx) / det);
        unit[1] = half_of((mk * mx - mm * kx) / det);
    } else if (mm > 0) {
        unit[0] = half_of((mx + mk * (double)unit[1]) / mm);
    }
}

/* Fits the units to the codes that these multiples lead to. */
static void refit(struct work *work)
{
    const size_t count = work->makeup->block_count;
    struct choice *now = &work->now;
    struct lists list;

    for (size_t first = 0; first < work->count; first += MF_ABREAST) {
        const struct chunk *chunk = &work->chunk[first / MF_ABREAST];
        struct mf_row scale =
            product(load(now->unit[0] + first), load(now->multiple[0] + first));
        struct mf_row minimum =
            product(load(now->unit[1] + first), load(now->multiple[1] + first));
        struct totals all;
        struct sums sum;

        add_totals(work->makeup, chunk, &all);
        sums_of(work->makeup, chunk, &scale, &minimum, &sum);
        mf_row_store(list.w + first, all.w);
        mf_row_store(list.x + first, all.x);
        mf_row_store(list.l + first, sum.l);
        mf_row_store(list.l2 + first, sum.l2);
        mf_row_store(list.xl + first, sum.xl);
    }
    for (size_t i = 0; i < work->count; i += count) {
        float unit[2] = { now->unit[0][i], now->unit[1][i] };

        solve(now, &list, i, count, unit);
        for (size_t j = i; j < i + count; j++)
            for (size_t k = 0; k < 2; k++)
                now->unit[k][j] = unit[k];
    }
}

/* Units are tried as they are, then by turns a little larger and smaller. */
static void search_units(struct work *work)
{
    const struct mf_depth *depth = work->depth;
    const struct choice start = work->now;

    for (int i = 0; i < depth->units; i++) {
        int away = (i % 2 ? 1 : -1) * ((i + 1) / 2);
        float factor = part_at(1000, depth->unit_step, away);

        work->now = start;
        for (size_t j = 0; j < BLOCKS; j++)
            work->now.unit[0][j] = half_of((double)(start.unit[0][j] * factor));
        for (int round = 0; round <= depth->rounds; round++) {
            if (round > 0)
                refit(work);
            for (size_t first = 0; first < work->count; first += MF_ABREAST)
                choose(work, first, round == 0);
            keep(work);
        }
    }
}

#endif
