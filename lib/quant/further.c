/* SPDX-License-Identifier: MIT
 *
 * further.c - better blocks than the reference's, in the same format
 *
 * The reference has encoded a row.  Of each super-block its answer is what has
 * to be beaten: a search looks for scales, and minimums, with which the squared
 * error, times the weights where there are some, is less.  Errors that decide
 * are those of what the decoder makes of the bytes, in doubles, and summed in
 * one order; so no super-block is worse than before, whatever the search did.
 *
 * Blocks are searched side by side, one in each lane (rows.h); all arithmetic
 * is that of a lane, so that every instruction set finds the same.
 */
#include "lib/quant/quant.h"

#include "lib/quant/iq4.h"

/* Blocks that are searched together: of a few whole super-blocks. */
#define BLOCKS 32
#define CHUNKS (BLOCKS / MF_ABREAST)
#define SIZE   32 /* elements of a block, at most */

_Static_assert(BLOCKS % MF_ABREAST == 0, "chunks are full");

/* So many thousandths. */
static inline float part_of(int thousandths)
{
    return (float)thousandths / 1000.0f;
}

/* From `first` on, number i of parts. */
static inline float part_at(int first, int step, int i)
{
    return part_of(first + step * i);
}

/* A block in each lane. */
struct chunk {
    struct mf_row x[SIZE], weight[SIZE];
};

/* Of each block, its scale and minimum as products, and by what they err. */
struct choice {
    float unit[2][BLOCKS], multiple[2][BLOCKS], error[BLOCKS];
};

struct work {
    const struct mf_makeup *makeup;
    const struct mf_depth *depth;
    const float *row, *weights;
    size_t count, supers; /* blocks, and super-blocks */
    struct chunk chunk[CHUNKS];
    struct choice now, best;
};

/* ---- numbers of a block */

/* The numbers nearest to y. */
static inline mf_floats nearest(enum mf_makeup_numbers numbers,
                                const struct mf_makeup *makeup, mf_floats y)
{
    if (numbers == MF_NUMBERS_TABLE)
        return mf_lanes_look_up(mf_iq4_values, mf_iq4_code(y));
    y = mf_lanes_max(y, mf_lanes_all(makeup->low));
    y = mf_lanes_min(y, mf_lanes_all(makeup->high));
    return mf_lanes_round(y) - MF_ROUND;
}

static inline mf_floats inverse_of(mf_floats scale)
{
    return mf_lanes_select(scale == 0.0f, scale, 1.0f / scale);
}

/* The weighted squared errors with these scales and minimums.  With a scale of
 * 0 none is less than with another: that is left out. */
static inline __attribute__((always_inline)) void
add_errors(enum mf_makeup_numbers numbers, const struct mf_makeup *makeup,
           const struct chunk *chunk, const struct mf_row *scale,
           const struct mf_row *minimum, struct mf_row *error)
{
    mf_floats sum[MF_SIDES], inverse[MF_SIDES], add[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++) {
        sum[s] = mf_lanes_all(0.0f);
        inverse[s] = 1.0f / scale->side[s];
        add[s] = minimum->side[s] * inverse[s];
    }
    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats y = chunk->x[i].side[s] * inverse[s];

            if (numbers == MF_NUMBERS_SHIFTED)
                y += add[s];
            y -= nearest(numbers, makeup, y);
            sum[s] += chunk->weight[i].side[s] * y * y;
        }
    for (int s = 0; s < MF_SIDES; s++)
        error->side[s] = sum[s] * (scale->side[s] * scale->side[s]);
}

/* Sums of weights times numbers l, their squares, and their products with x. */
struct sums {
    struct mf_row l, l2, xl;
};

static inline __attribute__((always_inline)) void
add_sums(enum mf_makeup_numbers numbers, const struct mf_makeup *makeup,
         const struct chunk *chunk, const struct mf_row *scale,
         const struct mf_row *minimum, struct sums *out)
{
    struct sums sum = { 0 };
    mf_floats inverse[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++)
        inverse[s] = inverse_of(scale->side[s]);
    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = chunk->x[i].side[s], y = x, l, wl;

            if (numbers == MF_NUMBERS_SHIFTED)
                y += minimum->side[s];
            l = nearest(numbers, makeup, y * inverse[s]);
            wl = chunk->weight[i].side[s] * l;
            if (numbers == MF_NUMBERS_SHIFTED)
                sum.l.side[s] += wl;
            sum.l2.side[s] += wl * l;
            sum.xl.side[s] += wl * x;
        }
    *out = sum;
}

/* Both, for each kind of numbers. */
static void errors_of(const struct mf_makeup *makeup, const struct chunk *chunk,
                      const struct mf_row *scale, const struct mf_row *minimum,
                      struct mf_row *error)
{
    switch (makeup->numbers) {
    case MF_NUMBERS_TABLE:
        add_errors(MF_NUMBERS_TABLE, makeup, chunk, scale, minimum, error);
        break;
    case MF_NUMBERS_SHIFTED:
        add_errors(MF_NUMBERS_SHIFTED, makeup, chunk, scale, minimum, error);
        break;
    default:
        add_errors(MF_NUMBERS_WHOLE, makeup, chunk, scale, minimum, error);
    }
}

static void sums_of(const struct mf_makeup *makeup, const struct chunk *chunk,
                    const struct mf_row *scale, const struct mf_row *minimum,
                    struct sums *out)
{
    switch (makeup->numbers) {
    case MF_NUMBERS_TABLE:
        add_sums(MF_NUMBERS_TABLE, makeup, chunk, scale, minimum, out);
        break;
    case MF_NUMBERS_SHIFTED:
        add_sums(MF_NUMBERS_SHIFTED, makeup, chunk, scale, minimum, out);
        break;
    default:
        add_sums(MF_NUMBERS_WHOLE, makeup, chunk, scale, minimum, out);
    }
}

/* ---- a batch of blocks */

/* Turns the elements of blocks from number first on; the last fills up. */
static void load_chunk(struct work *work, size_t first)
{
    const size_t size = work->makeup->block_size, last = work->count - 1;
    struct chunk *chunk = &work->chunk[first / MF_ABREAST];
    const float *from[MF_ABREAST];
    size_t at[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++) {
        at[i] = size * (first + i < last ? first + i : last);
        from[i] = work->row + at[i];
    }
    mf_rows_load(chunk->x, from, size);
    for (size_t i = 0; i < MF_ABREAST && work->weights; i++)
        from[i] = work->weights + at[i];
    if (work->weights)
        mf_rows_load(chunk->weight, from, size);
    for (size_t i = 0; i < size && !work->weights; i++)
        for (int s = 0; s < MF_SIDES; s++)
            chunk->weight[i].side[s] = mf_lanes_all(1.0f);
}

static inline struct mf_row load(const float *at)
{
    return mf_row_load(at);
}

static inline struct mf_row product(struct mf_row a, struct mf_row b)
{
    for (int s = 0; s < MF_SIDES; s++)
        a.side[s] *= b.side[s];
    return a;
}

/* What the reference made of a batch, where a search may begin.  Lanes that are
 * left repeat the first blocks. */
static void load_reference(struct work *work, const uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t count = makeup->block_count;
    struct choice *now = &work->now;

    for (size_t i = 0; i < BLOCKS; i += count) {
        struct mf_parts parts;

        makeup->load(blocks + (i < work->count ? i / count * makeup->bytes : 0),
                     &parts);
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < 2; k++) {
                now->unit[k][i + j] = parts.unit[k];
                now->multiple[k][i + j] = parts.multiple[k][j];
            }
    }
}

/* ---- blocks with a scale of their own */

/* The best of a chunk so far. */
struct fit {
    struct mf_row scale, minimum, gain;
};

/* What the sums of a chunk do not depend on. */
struct totals {
    struct mf_row w, x, least, most, farthest;
};

static void add_totals(const struct mf_makeup *makeup,
                       const struct chunk *chunk, struct totals *out)
{
    struct totals all = { .least = chunk->x[0], .most = chunk->x[0] };

    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = chunk->x[i].side[s], w = chunk->weight[i].side[s];

            all.w.side[s] += w;
            all.x.side[s] += w * x;
            all.least.side[s] = mf_lanes_min(x, all.least.side[s]);
            all.most.side[s] = mf_lanes_max(x, all.most.side[s]);
        }
    for (int s = 0; s < MF_SIDES; s++)
        all.farthest.side[s] =
            mf_lanes_select_less(all.most.side[s], -all.least.side[s],
                                 all.least.side[s], all.most.side[s]);
    *out = all;
}

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

/* ---- super-blocks */

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

/* ---- what is found, and whether it is better */

typedef double four_doubles __attribute__((vector_size(32)));

/* Not as a result, which would be passed in another way without AVX. */
static inline void load_doubles(const float *at, four_doubles *out)
{
#ifdef __AVX2__
    *out = (four_doubles)_mm256_cvtps_pd(_mm_loadu_ps(at));
#else
    *out = (four_doubles){ (double)at[0], (double)at[1], (double)at[2],
                           (double)at[3] };
#endif
}

/* What both answers err by.  Eight sums, of every eighth column, are
 * independent of each other, and a vector of any size has the same. */
struct errors {
    double before, after;
};

static inline double sum_of(const four_doubles sum[2])
{
    const four_doubles all = sum[0] + sum[1];

    return (all[0] + all[2]) + (all[1] + all[3]);
}

static struct errors compare(const float *row, const float *weights,
                             const float *before, const float *after,
                             size_t count)
{
    four_doubles old[2] = { { 0 } }, new[2] = { { 0 } };

    for (size_t i = 0; i < count; i += 8)
        for (size_t j = 0; j < 2; j++) {
            size_t at = i + 4 * j;
            four_doubles x, a, b, w;

            load_doubles(row + at, &x);
            load_doubles(before + at, &a);
            load_doubles(after + at, &b);
            a -= x;
            b -= x;
            a *= a;
            b *= b;
            if (weights) {
                load_doubles(weights + at, &w);
                a *= w;
                b *= w;
            }
            old[j] += a;
            new[j] += b;
        }
    return (struct errors){ sum_of(old), sum_of(new) };
}

/* Codes of a block, less the lowest. */
static void find_codes(const struct mf_makeup *makeup, const float *row,
                       float scale, float minimum, uint8_t *code)
{
    mf_floats inverse = inverse_of(mf_lanes_all(scale));

    for (size_t i = 0; i < makeup->block_size; i += MF_LANES) {
        mf_floats y = (mf_lanes_load(row + i) + minimum) * inverse;

        if (makeup->numbers == MF_NUMBERS_TABLE)
            y = mf_lanes_of(mf_iq4_code(y));
        else
            y = nearest(MF_NUMBERS_WHOLE, makeup, y) - makeup->low;
        mf_lanes_store_bytes(code + i, y);
    }
}

/* The super-block that begins with block number first of the batch. */
static void put_together(const struct work *work, size_t first,
                         struct mf_parts *parts)
{
    const struct mf_makeup *makeup = work->makeup;
    const struct choice *best = &work->best;

    for (size_t k = 0; k < 2; k++) {
        parts->unit[k] = half_of((double)best->unit[k][first]);
        for (size_t i = 0; i < makeup->block_count; i++)
            parts->multiple[k][i] = makeup->least < makeup->most
                                        ? best->multiple[k][first + i]
                                        : 1.0f;
    }
    for (size_t i = 0; i < makeup->block_count; i++)
        find_codes(makeup, work->row + makeup->block_size * (first + i),
                   parts->unit[0] * parts->multiple[0][i],
                   parts->unit[1] * parts->multiple[1][i],
                   parts->code + makeup->block_size * i);
}

#define ELEMENTS   1024 /* of a batch, at most */
#define BYTES_MOST 2048 /* likewise, its blocks */

/* A batch as blocks and decoded, before and after. */
struct answers {
    float before[ELEMENTS], after[ELEMENTS];
    uint8_t blocks[BYTES_MOST];
};

/* Codes that stay: numbers that are decoded are multiples of the unit. */
static void fit_kept(const struct mf_makeup *makeup, const float *row,
                     const float *weights, const float *decoded, uint8_t *block)
{
    double xv = 0, vv = 0;

    for (size_t i = 0; i < makeup->block_size; i++) {
        double v = (double)decoded[i];
        double wv = weights ? (double)weights[i] * v : v;

        xv += wv * (double)row[i];
        vv += wv * v;
    }
    block += makeup->unit;
    if (vv > 0)
        mf_store_scale(block,
                       (float)((double)mf_load_scale(block) * (xv / vv)));
}

/* Writes what a batch becomes. */
static void make_blocks(struct work *work, const uint8_t *blocks,
                        struct answers *out)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t size = makeup->block_size * makeup->block_count;
    const size_t step = makeup->block_count;
    struct mf_parts parts;

    for (size_t i = 0; i < work->supers; i++) {
        const float *weights = work->weights ? work->weights + size * i : NULL;
        uint8_t *block = out->blocks + makeup->bytes * i;

        if (makeup->numbers == MF_NUMBERS_KEPT) {
            memcpy(block, blocks + makeup->bytes * i, makeup->bytes);
            fit_kept(makeup, work->row + size * i, weights,
                     out->before + size * i, block);
        } else {
            put_together(work, step * i, &parts);
            makeup->store(&parts, block);
        }
    }
}

/* Replaces the super-blocks that err less now: by more than another order of
 * additions could make of the same.  Which they are is hard to predict, so that
 * all are copied. */
static void keep_better(const struct work *work, const struct answers *answers,
                        uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t size = makeup->block_size * makeup->block_count;

    for (size_t i = 0; i < work->supers; i++) {
        const float *weights = work->weights ? work->weights + size * i : NULL;
        uint8_t *block = blocks + makeup->bytes * i;
        const uint8_t *better = answers->blocks + makeup->bytes * i;
        struct errors error =
            compare(work->row + size * i, weights, answers->before + size * i,
                    answers->after + size * i, size);

        memmove(block,
                error.after < error.before * (1 - 1e-12) ? better : block,
                makeup->bytes);
    }
}

static void search_batch(struct work *work, const uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const bool super = makeup->least < makeup->most;

    for (size_t first = 0; first < work->count; first += MF_ABREAST)
        load_chunk(work, first);
    for (size_t i = 0; i < BLOCKS; i++)
        work->best.error[i] = INFINITY;
    if (super || makeup->by_halves)
        load_reference(work, blocks);
    if (super)
        search_units(work);
    for (size_t first = 0; first < work->count && !super; first += MF_ABREAST)
        if (makeup->by_halves)
            try_halves(work, first);
        else
            fit_chunk(work, first);
}

void MF_FURTHER(const struct mf_codec *codec, const struct mf_makeup *makeup,
                int effort, const float *row, const float *weights,
                uint8_t *blocks, size_t columns)
{
    const bool kept = makeup->numbers == MF_NUMBERS_KEPT;
    const size_t most = kept ? ELEMENTS / makeup->block_size : BLOCKS;
    struct work work = { .makeup = makeup, .row = row, .weights = weights };
    struct answers answers;

    if (!kept)
        work.depth =
            &(*makeup->depths)[weights != NULL][effort - MF_EFFORT_LEAST - 1];
    for (size_t left = columns / makeup->block_size; left > 0;
         left -= work.count) {
        work.count = left < most ? left : most;
        work.supers = work.count / makeup->block_count;
        codec->decode(blocks, answers.before, work.count * makeup->block_size);
        if (!kept)
            search_batch(&work, blocks);
        make_blocks(&work, blocks, &answers);
        codec->decode(answers.blocks, answers.after,
                      work.count * makeup->block_size);
        keep_better(&work, &answers, blocks);
        work.row += work.count * makeup->block_size;
        if (weights)
            work.weights += work.count * makeup->block_size;
        blocks += work.supers * makeup->bytes;
    }
}
