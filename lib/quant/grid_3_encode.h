/* SPDX-License-Identifier: MIT
 *
 * grid_3_encode.h - the trials of blocks, and the best of them
 */
#ifndef MF_LIB_QUANT_GRID_3_ENCODE_H
#define MF_LIB_QUANT_GRID_3_ENCODE_H

#include "lib/quant/grid_3_search.h"

/* All trials of some blocks: trial number i belongs to block i / trials. */
#define MF_G3_ROOM (MF_G3_BLOCKS * MF_G3_TRIALS + MF_LANES)

struct mf_g3_trials {
    size_t blocks, count; /* trials of a block */
    size_t block[MF_G3_BLOCKS];
    float scale[MF_G3_ROOM], inverse[MF_G3_ROOM];
    float xq[MF_G3_ROOM], q2[MF_G3_ROOM];
    /* By vectors of trials. */
    int32_t code[MF_G3_ROOM / MF_LANES][MF_G3_FOURS][MF_LANES];
};

static inline void mf_g3_begin(const struct mf_g3 *g3, const float *max,
                               struct mf_g3_trials *trials)
{
    size_t end = trials->blocks * trials->count;
    float *inverse = trials->inverse;

    for (size_t i = 0; i < trials->blocks; i++)
        for (int step = -g3->type->steps; step <= g3->type->steps; step++)
            *inverse++ = mf_g3_numerator(step) / max[trials->block[i]];
    for (size_t i = 0; i < MF_LANES; i++)
        *inverse++ = trials->inverse[end - 1];
    for (size_t i = 0; i < end; i += MF_LANES)
        mf_lanes_store(trials->scale + i,
                       1.0f / mf_lanes_load(trials->inverse + i));
}

/* Trials side by side are of one block, or the last ones of the next. */
struct mf_g3_pair {
    size_t one, other; /* where numbers of the blocks begin */
    bool two;
    mf_ints others; /* lanes of the other one */
};

static inline struct mf_g3_pair mf_g3_pair_at(const struct mf_g3_trials *trials,
                                              size_t at)
{
    size_t first = at / trials->count;
    size_t next = first + 1 < trials->blocks ? first + 1 : first;
    size_t left = (first + 1) * trials->count - at;
    struct mf_g3_pair pair = { MF_G3_SIZE * trials->block[first],
                               MF_G3_SIZE * trials->block[next],
                               left < MF_LANES,
                               { 0 } };

    if (pair.two)
        pair.others = mf_ints_from(pair.others, (unsigned)left, -1);
    return pair;
}

static inline mf_floats mf_g3_of_two(const float *from, struct mf_g3_pair pair)
{
    return mf_lanes_select(pair.others, mf_lanes_all(from[pair.other]),
                           mf_lanes_all(from[pair.one]));
}

/* The numbers of blocks for the trials from `at` on. */
static inline void mf_g3_fill(const struct mf_g3 *g3,
                              const struct mf_g3_trials *trials, size_t at,
                              struct mf_g3_pair pair, struct mf_g3_rows *rows)
{
    rows->count = MF_G3_FOURS;
    for (size_t k = 0; k < MF_G3_FOURS; k++) {
        struct mf_g3_lanes *in = &rows->in[k];

        in->scale = mf_lanes_load(trials->scale + at);
        in->inverse = mf_lanes_load(trials->inverse + at);
        for (size_t i = 0; i < 4; i++) {
            in->x[i] = mf_g3_of_two(g3->x + 4 * k + i, pair);
            in->root[i] = mf_g3_of_two(g3->root + 4 * k + i, pair);
        }
    }
}

/* The trials from `at` on, as many as there are lanes. */
static inline bool mf_g3_try(const struct mf_g3 *g3, struct mf_g3_rows *rows,
                             struct mf_g3_trials *trials, size_t at)
{
    struct mf_g3_pair pair = mf_g3_pair_at(trials, at);
    mf_floats xq = { 0 }, q2 = { 0 };

    mf_g3_fill(g3, trials, at, pair, rows);
    mf_g3_find_cells(rows);
    for (size_t k = 0; k < MF_G3_FOURS; k++) {
        mf_ints codes;

        if (!mf_g3_search(g3->map, rows, k, &codes))
            return false;
        memcpy(trials->code[at / MF_LANES][k], &codes, sizeof(codes));
        for (size_t i = 0; i < 4; i++) {
            mf_floats q = mf_g3_level(codes >> (int32_t)(3 * i));
            mf_floats weight = mf_g3_of_two(g3->weight + 4 * k + i, pair);

            xq += weight * rows->in[k].x[i] * q;
            q2 += weight * q * q;
        }
    }
    mf_lanes_store(trials->xq + at, xq);
    mf_lanes_store(trials->q2 + at, q2);
    return true;
}

/* The best trial of each block. */
static inline void mf_g3_choose(struct mf_g3 *g3,
                                const struct mf_g3_trials *trials)
{
    for (size_t i = 0; i < trials->blocks; i++) {
        size_t block = trials->block[i], end = (i + 1) * trials->count;
        size_t chosen = end;
        float best = 0;

        for (size_t at = i * trials->count; at < end; at++) {
            float xq = trials->xq[at], q2 = trials->q2[at];

            if (q2 > 0 && xq * xq > best * q2) {
                g3->scale[block] = xq / q2;
                best = g3->scale[block] * xq;
                chosen = at;
            }
        }
        for (size_t k = 0; k < MF_G3_FOURS && chosen < end; k++)
            g3->code[block][k] =
                (uint16_t)trials->code[chosen / MF_LANES][k][chosen % MF_LANES];
    }
}

/* ---- the last search: with the scale that was found */

struct mf_g3_last {
    size_t count;
    uint8_t four[MF_G3_BLOCKS * MF_G3_FOURS]; /* by their numbers */
};

/* The fours from `at` on. */
static inline void mf_g3_last_fill(const struct mf_g3 *g3,
                                   const struct mf_g3_last *last, size_t at,
                                   struct mf_g3_lanes *in)
{
    float x[4][MF_LANES], root[4][MF_LANES], scale[MF_LANES];

    for (size_t lane = 0; lane < MF_LANES; lane++) {
        size_t four = last->four[at + lane < last->count ? at + lane : at];

        for (size_t i = 0; i < 4; i++) {
            x[i][lane] = g3->x[4 * four + i];
            root[i][lane] = g3->root[4 * four + i];
        }
        scale[lane] = g3->scale[four / MF_G3_FOURS];
    }
    for (size_t i = 0; i < 4; i++) {
        in->x[i] = mf_lanes_load(x[i]);
        in->root[i] = mf_lanes_load(root[i]);
    }
    in->scale = mf_lanes_load(scale);
    in->inverse = 1.0f / in->scale;
}

/* As many rows as there are from `at` on. */
static inline bool mf_g3_last_rows(struct mf_g3 *g3,
                                   const struct mf_g3_last *last, size_t at,
                                   struct mf_g3_rows *rows)
{
    rows->count = 0;
    for (size_t i = at; i < last->count && rows->count < MF_G3_ROWS;
         i += MF_LANES)
        mf_g3_last_fill(g3, last, i, &rows->in[rows->count++]);
    mf_g3_find_cells(rows);
    for (size_t row = 0; row < rows->count; row++, at += MF_LANES) {
        mf_ints codes;

        if (!mf_g3_search(g3->map, rows, row, &codes))
            return false;
        for (size_t i = 0; i < MF_LANES && at + i < last->count; i++) {
            size_t four = last->four[at + i];

            g3->code[four / MF_G3_FOURS][four % MF_G3_FOURS] =
                (uint16_t)codes[i];
        }
    }
    return true;
}

/* The same for a block with numbers that are out of all proportion to it. */
static inline bool mf_g3_last_odd(struct mf_g3 *g3, size_t block,
                                  unsigned fours)
{
    float scale = g3->scale[block], inverse = 1 / scale;

    for (size_t k = 0; k < MF_G3_FOURS; k++) {
        const float *x = g3->x + MF_G3_SIZE * block + 4 * k;
        const float *root = g3->root + MF_G3_SIZE * block + 4 * k;

        if ((fours >> k & 1) &&
            !mf_g3_four(g3->map, x, root, scale, inverse, &g3->code[block][k]))
            return false;
    }
    return true;
}

/* The scales of blocks whose codes were found again: of all blocks at once,
 * since additions of one wait for each other. */
static inline void mf_g3_sum_again(struct mf_g3 *g3,
                                   const unsigned again[MF_G3_BLOCKS])
{
    float xq[MF_G3_BLOCKS] = { 0 }, q2[MF_G3_BLOCKS] = { 0 };

    for (size_t i = 0; i < MF_G3_SIZE; i++)
        for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
            size_t at = MF_G3_SIZE * b + i;
            float q = (float)(2 * (g3->code[b][i / 4] >> 3 * (i % 4) & 7) + 1);

            xq[b] += g3->weight[at] * g3->x[at] * q;
            q2[b] += g3->weight[at] * q * q;
        }
    for (size_t b = 0; b < MF_G3_BLOCKS; b++)
        if (again[b] != 0 && q2[b] > 0)
            g3->scale[b] = xq[b] / q2[b];
}

static inline bool mf_g3_last(struct mf_g3 *g3, const bool *odd,
                              struct mf_g3_rows *rows)
{
    struct mf_g3_last last = { 0 };
    unsigned again[MF_G3_BLOCKS] = { 0 };

    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        unsigned off = 0;

        for (size_t k = 0; k < MF_G3_FOURS; k++)
            off |= (unsigned)(g3->code[b][k] >> 12 & 1) << k;
        if (g3->empty[b] || off == 0 || !(g3->scale[b] > 0))
            continue;
        again[b] = g3->type->all ? 255 : off;
        if (odd[b] || !(g3->most[b] * (1 / g3->scale[b]) < 0x1p21f)) {
            if (!mf_g3_last_odd(g3, b, again[b]))
                return false;
            continue;
        }
        for (unsigned fours = again[b]; fours != 0; fours &= fours - 1)
            last.four[last.count++] =
                (uint8_t)(MF_G3_FOURS * b + (unsigned)__builtin_ctz(fours));
    }
    for (size_t at = 0; at < last.count; at += MF_G3_ROWS * MF_LANES)
        if (!mf_g3_last_rows(g3, &last, at, rows))
            return false;
    mf_g3_sum_again(g3, again);
    return true;
}

/* ---- a super-block */

/* The largest of a block, of numbers that may be negative; where one is NaN, as
 * the reference finds it. */
static inline float mf_g3_max(const float *x, float most)
{
    float lanes[MF_LANES], max;
    mf_floats all = mf_lanes_load(x);

    if (most == most) {
        for (size_t i = MF_LANES; i < MF_G3_SIZE; i += MF_LANES)
            all = mf_lanes_max(all, mf_lanes_load(x + i));
        mf_lanes_store(lanes, all);
        max = lanes[0];
        for (size_t i = 1; i < MF_LANES; i++)
            max = max > lanes[i] ? max : lanes[i];
        return max;
    }
    max = x[0];
    for (size_t i = 1; i < MF_G3_SIZE; i++)
        max = max > x[i] ? max : x[i];
    return max;
}

/* Finds codes and scales; false where the reference stops. */
static inline bool mf_g3_encode(struct mf_g3 *g3)
{
    struct mf_g3_trials trials;
    struct mf_g3_rows rows;
    float max[MF_G3_BLOCKS];
    bool odd[MF_G3_BLOCKS];

    trials.blocks = 0;
    trials.count = 2 * (size_t)g3->type->steps + 1;
    memset(g3->code, 0, sizeof(g3->code));
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        const float *x = g3->x + MF_G3_SIZE * b;
        mf_ints most = { 0 };

        for (size_t i = 0; i < MF_G3_SIZE; i += MF_LANES)
            most =
                mf_ints_max(most, (mf_ints)mf_lanes_load(x + i) & 0x7fffffff);
        g3->most[b] = mf_float_of_bits((uint32_t)mf_ints_most(most));
        max[b] = mf_g3_max(x, g3->most[b]);
        g3->empty[b] = max[b] < g3->type->least || max[b] == 0;
        g3->scale[b] = g3->empty[b] ? 0 : max[b] / 15;
        odd[b] = !(max[b] >= 1e-30f && g3->most[b] <= 1e30f &&
                   g3->most[b] <= 1e5f * max[b]);
        if (g3->empty[b])
            continue;
        if (g3->type->all) /* even where no trial is chosen */
            for (size_t k = 0; k < MF_G3_FOURS; k++)
                g3->code[b][k] = MF_G3_OFF;
        if (!odd[b])
            trials.block[trials.blocks++] = b;
        else if (!mf_g3_try_odd(g3, b, max[b]))
            return false;
    }
    if (trials.blocks > 0)
        mf_g3_begin(g3, max, &trials);
    for (size_t i = 0; i < trials.blocks * trials.count; i += MF_LANES)
        if (!mf_g3_try(g3, &rows, &trials, i))
            return false;
    mf_g3_choose(g3, &trials);
    if (!mf_g3_last(g3, odd, &rows))
        return false;
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        if (g3->scale[b] < 0) {
            g3->scale[b] = -g3->scale[b];
            g3->signs[b] = ~g3->signs[b];
        }
        if (!(g3->scale[b] >= 0))
            return false;
    }
    return true;
}

#endif
