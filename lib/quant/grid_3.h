/* SPDX-License-Identifier: MIT
 *
 * grid_3.h - the search that iq3_xxs and iq3_s have in common
 *
 * Super-blocks of 8 blocks of 32 numbers.  Of a block some scales are tried; of
 * each, four numbers at a time become the code of the grid that fits best, and
 * the scale with which all codes fit best is found again.  Trials are
 * independent of each other, so each has a lane, those of a block in turn.
 */
#ifndef MF_LIB_QUANT_GRID_3_H
#define MF_LIB_QUANT_GRID_3_H

#include <float.h>

#include "lib/quant/kblock.h"

#include "lib/quant/grid.h"
#include "lib/quant/grid_cells.h"
#include "lib/quant/grid_map.h"

#define MF_G3_BLOCKS 8      /* of a super-block */
#define MF_G3_SIZE   32     /* numbers of a block */
#define MF_G3_FOURS  8      /* codes of a block */
#define MF_G3_TRIALS 31     /* of a block, at most */
#define MF_G3_OFF    0x1000 /* a code that was not in the grid, but near */

/* What iq3_xxs and iq3_s differ in. */
struct mf_g3_type {
    int steps;   /* trials on either side of the first guess */
    float least; /* a block of nothing larger counts as zeros */
    bool all;    /* the last search is for all codes, not for those off the grid
                    alone */
    bool even;   /* the number of negative ones is made even */
};

struct mf_g3 {
    const struct mf_g3_type *type;
    const struct mf_grid_map *map;
    float x[MF_K]; /* magnitudes; one that is given a wrong sign is negative */
    float weight[MF_K], root[MF_K]; /* the root of weight */
    float most[MF_G3_BLOCKS];       /* of the block's magnitudes */
    float scale[MF_G3_BLOCKS];
    uint32_t signs[MF_G3_BLOCKS];
    uint16_t code[MF_G3_BLOCKS][MF_G3_FOURS];
    bool empty[MF_G3_BLOCKS];
};

/* ---- one at a time */

/* The point of the lattice that is nearest to four numbers. */
static inline unsigned mf_g3_point(const float *x, float inverse)
{
    unsigned point = 0;

    for (int i = 0; i < 4; i++) {
        int32_t l = mf_k_round(0.5f * (inverse * x[i] - 1));

        point |= (unsigned)(l < 0 ? 0 : l > 7 ? 7 : l) << 3 * i;
    }
    return point;
}

/* The code for four numbers; false where none fits. */
static inline bool mf_g3_four(const struct mf_grid_map *map, const float *x,
                              const float *root, float scale, float inverse,
                              uint16_t *code)
{
    unsigned point = mf_g3_point(x, inverse);
    struct mf_near near;
    float least = FLT_MAX, error[4][8];

    *code = (uint16_t)point;
    if (map->place[point] >= 0)
        return true;
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < 8; l++) {
            float off = scale * (float)(2 * l + 1) - x[i];

            error[i][l] = root[i] * off * off;
        }
    near = mf_grid_near(map, map->place[point]);
    for (unsigned j = 0; j < near.count; j++) {
        unsigned near_code = near.code[j];
        float sum = error[0][near_code & 7] + error[1][near_code >> 3 & 7];

        sum = sum + error[2][near_code >> 6 & 7] + error[3][near_code >> 9];
        *code = sum < least ? near.code[j] | MF_G3_OFF : *code;
        least = sum < least ? sum : least;
    }
    return least < FLT_MAX;
}

/* Sums over the numbers of a block with those codes. */
struct mf_g3_sums {
    float xq, q2;
};

static inline struct mf_g3_sums mf_g3_sum(const struct mf_g3 *g3, size_t block,
                                          const uint16_t code[MF_G3_FOURS])
{
    const float *x = g3->x + MF_G3_SIZE * block;
    const float *weight = g3->weight + MF_G3_SIZE * block;
    struct mf_g3_sums sums = { 0, 0 };

    for (size_t i = 0; i < MF_G3_SIZE; i++) {
        float q = (float)(2 * (code[i / 4] >> 3 * (i % 4) & 7) + 1);

        sums.xq += weight[i] * x[i] * q;
        sums.q2 += weight[i] * q * q;
    }
    return sums;
}

static inline float mf_g3_numerator(int step)
{
    return 15.0f + (float)step * 0.2f;
}

/* The best trial of a block with odd numbers; false where the reference stops.
 */
static inline bool mf_g3_try_odd(struct mf_g3 *g3, size_t block, float max)
{
    const float *x = g3->x + MF_G3_SIZE * block;
    const float *root = g3->root + MF_G3_SIZE * block;
    float best = 0;

    for (int step = -g3->type->steps; step <= g3->type->steps; step++) {
        float inverse = mf_g3_numerator(step) / max, scale = 1 / inverse;
        uint16_t code[MF_G3_FOURS];
        struct mf_g3_sums sums;

        for (size_t k = 0; k < MF_G3_FOURS; k++)
            if (!mf_g3_four(g3->map, x + 4 * k, root + 4 * k, scale, inverse,
                            &code[k]))
                return false;
        sums = mf_g3_sum(g3, block, code);
        if (sums.q2 > 0 && sums.xq * sums.xq > best * sums.q2) {
            g3->scale[block] = sums.xq / sums.q2;
            best = g3->scale[block] * sums.xq;
            memcpy(g3->code[block], code, sizeof(code));
        }
    }
    return true;
}

/* ---- a super-block */

/* What each number counts; variance: of the super-block, or near it. */
static inline void mf_g3_weigh(struct mf_g3 *g3, const float *row,
                               const float *weights, float variance)
{
    for (size_t i = 0; i < MF_K; i += MF_LANES) {
        mf_floats x = mf_lanes_load(row + i), weight = x * x;

        if (weights)
            weight =
                mf_lanes_load(weights + i) * mf_lanes_root(variance + weight);
        mf_lanes_store(g3->weight + i, weight);
        mf_lanes_store(g3->root + i, mf_lanes_root(weight));
        mf_lanes_store(g3->x + i, mf_lanes_abs(x));
    }
}

/* Of eight numbers with an odd number of negative ones the one that counts
 * least is given the wrong sign. */
static inline uint32_t mf_g3_make_even(struct mf_g3 *g3, size_t at,
                                       uint32_t signs)
{
    const float *weight = g3->weight + at;
    float *x = g3->x + at, least;
    size_t flip = 0;

    if (!__builtin_parity(signs))
        return signs;
    least = weight[0] * x[0] * x[0];
    for (size_t i = 1; i < 8; i++) {
        float one = weight[i] * x[i] * x[i];

        flip = one < least ? i : flip;
        least = one < least ? one : least;
    }
    x[flip] = -x[flip];
    return signs ^ 1u << flip;
}

static inline void mf_g3_signs(struct mf_g3 *g3, const float *row)
{
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        const size_t at = MF_G3_SIZE * b;
        uint32_t signs = 0;

        for (size_t i = 0; i < MF_G3_SIZE; i += MF_LANES)
            signs |= mf_lanes_signs(mf_lanes_load(row + at + i) < 0.0f) << i;
        for (size_t i = 0; g3->type->even && i < MF_G3_SIZE; i += 8) {
            uint32_t eight = signs >> i & 255;

            signs ^= (eight ^ mf_g3_make_even(g3, at + i, eight)) << i;
        }
        g3->signs[b] = signs;
    }
}

static inline void mf_g3_load(struct mf_g3 *g3, const float *row,
                              const float *weights)
{
    float sum = 0;

    for (size_t i = 0; weights && i < MF_K; i++)
        sum += row[i] * row[i];
    mf_g3_weigh(g3, row, weights, 2 * sum / MF_K);
    mf_g3_signs(g3, row);
}

/* The scale of the super-block; the block's multiples of it, 2 * part + 1.
 * False where all are 0. */
static inline bool mf_g3_parts(const struct mf_g3 *g3, float *unit,
                               uint8_t part[MF_G3_BLOCKS])
{
    float most = 0, inverse;

    for (size_t b = 0; b < MF_G3_BLOCKS; b++)
        most = most > g3->scale[b] ? most : g3->scale[b];
    *unit = most / 31;
    if (most == 0)
        return false;
    inverse = 1 / *unit;
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        int32_t l = mf_k_round(0.5f * (inverse * g3->scale[b] - 1));

        part[b] = (uint8_t)(l < 0 ? 0 : l > 15 ? 15 : l);
    }
    return true;
}

#endif
