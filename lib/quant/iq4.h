/* SPDX-License-Identifier: MIT
 *
 * iq4.h - sixteen numbers that lie closer around 0, and a scale for 32 of them
 *
 * What IQ4_NL and IQ4_XS share: a code is the place of the number.
 */
#ifndef MF_LIB_QUANT_IQ4_H
#define MF_LIB_QUANT_IQ4_H

#include "lib/quant/kblock.h"
#include "lib/quant/nibbles.h"

#define MF_IQ4_SIZE  32
#define MF_IQ4_TRIES 7

static const float mf_iq4_values[16] = {
    -127.0f, -104.0f, -83.0f, -65.0f, -49.0f, -35.0f, -22.0f, -10.0f,
    1.0f,    13.0f,   25.0f,  38.0f,  53.0f,  69.0f,  89.0f,  113.0f,
};

/* What lies half-way between two of them, in the order of a search: 1 first,
 * then 2 * i on the lower side of number i, 2 * i + 1 on the upper one.  Where
 * x is near one of these, its distances to both values are exact, so that x
 * need not be taken from either. */
static const float mf_iq4_middles[16] = {
    0.0f,    -4.5f,  -57.0f, 45.5f,  -93.5f, -28.5f, 19.0f, 79.0f,
    -115.5f, -74.0f, -42.0f, -16.0f, 7.0f,   31.5f,  61.0f, 101.0f,
};

#if MF_LANES > 4

/* The numbers of a table of eight; of an index the last three bits count. */
static inline mf_floats mf_lanes_look_up_8(const float table[8], mf_ints index)
{
#if MF_LANES == 16
    __m256d half = _mm256_castps_pd(_mm256_loadu_ps(table));

    return _mm512_permutexvar_ps(
        (__m512i)index, _mm512_castpd_ps(_mm512_broadcast_f64x4(half)));
#else
    return _mm256_permutevar8x32_ps(mf_lanes_load(table), (__m256i)index);
#endif
}

#endif

/* The numbers of a table of 16. */
static inline mf_floats mf_lanes_look_up(const float table[16], mf_ints index)
{
#if MF_LANES == 16
    return _mm512_permutexvar_ps((__m512i)index, mf_lanes_load(table));
#elif MF_LANES == 8
    return mf_lanes_select(index > 7, mf_lanes_look_up_8(table + 8, index),
                           mf_lanes_look_up_8(table, index));
#else
    return (mf_floats){ table[index[0]], table[index[1]], table[index[2]],
                        table[index[3]] };
#endif
}

/* The code whose value is nearest; of two the upper one; of a NaN the last. */
static inline mf_ints mf_iq4_code(mf_floats x)
{
    mf_ints place = { 0 };

#if MF_LANES > 4
    place += 1;
    for (int i = 0; i < 3; i++)
        place += place - ~(x < mf_lanes_look_up_8(mf_iq4_middles, place));
    place += place - ~(x < mf_lanes_look_up_8(mf_iq4_middles + 8, place));
    return place - 16;
#else
    for (int i = 1; i < 16; i++)
        place -= ~(x < mf_iq4_middles[i]);
    return place;
#endif
}

/* A block in each lane, and the scale that is found. */
struct mf_iq4 {
    const struct mf_row *x, *weight;
    struct mf_row farthest, scale;
    struct mf_row gain; /* by how much its error is less than with scale 0 */
};

static inline void mf_iq4_sums(const struct mf_iq4 *search,
                               const struct mf_row *inverse,
                               struct mf_row *sum_xv, struct mf_row *sum_v2)
{
    struct mf_row xv = { { { 0 } } }, v2 = { { { 0 } } };

    for (size_t i = 0; i < MF_IQ4_SIZE; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = search->x[i].side[s];
            mf_ints code = mf_iq4_code(inverse->side[s] * x);
            mf_floats v = mf_lanes_look_up(mf_iq4_values, code);
            mf_floats wv = search->weight[i].side[s] * v;

            xv.side[s] += wv * x;
            v2.side[s] += wv * v;
        }
    *sum_xv = xv;
    *sum_v2 = v2;
}

static inline void mf_iq4_begin(struct mf_iq4 *search)
{
    const mf_floats zero = { 0 };
    struct mf_row inverse, xv, v2;

    search->farthest = mf_rows_farthest(search->x, MF_IQ4_SIZE);
    for (int s = 0; s < MF_SIDES; s++)
        inverse.side[s] = 1.0f / (-search->farthest.side[s] / mf_iq4_values[0]);
    mf_iq4_sums(search, &inverse, &xv, &v2);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats scale = xv.side[s] / v2.side[s];

        scale = mf_lanes_select(v2.side[s] > zero, scale, zero);
        search->scale.side[s] = scale;
        search->gain.side[s] = scale * xv.side[s];
    }
}

static inline void mf_iq4_try(struct mf_iq4 *search, float value)
{
    struct mf_row inverse, xv, v2;

    for (int s = 0; s < MF_SIDES; s++)
        inverse.side[s] = value / search->farthest.side[s];
    mf_iq4_sums(search, &inverse, &xv, &v2);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats gain = search->gain.side[s];
        mf_floats scale = xv.side[s] / v2.side[s];
        mf_ints better =
            (v2.side[s] > 0.0f) & (xv.side[s] * xv.side[s] > gain * v2.side[s]);

        search->gain.side[s] =
            mf_lanes_select(better, scale * xv.side[s], gain);
        search->scale.side[s] =
            mf_lanes_select(better, scale, search->scale.side[s]);
    }
}

/* Scales of the blocks from number first on.  The element farthest from 0 is
 * given the first value, and numbers around it. */
static inline void mf_iq4_search(struct mf_batch *batch, size_t first)
{
    struct mf_row x[MF_IQ4_SIZE], weight[MF_IQ4_SIZE];
    struct mf_iq4 search;

    search.x = x;
    search.weight = weight;
    mf_batch_load(batch, first, batch->row, x);
    if (batch->weights)
        mf_batch_weigh(batch, first, x, weight);
    else
        mf_batch_squares(batch, x, weight);
    mf_iq4_begin(&search);
    for (int i = -MF_IQ4_TRIES; i <= MF_IQ4_TRIES; i++)
        mf_iq4_try(&search, (float)i + mf_iq4_values[0]);
    for (int s = 0; s < MF_SIDES; s++)
        search.scale.side[s] =
            mf_lanes_if_any(search.farthest.side[s], search.scale.side[s]);
    mf_row_store(batch->scale + first, search.scale);
}

/* Writes the codes of a block, 16 bytes. */
static inline void mf_iq4_write_codes(const float *row, float inverse,
                                      uint8_t *out)
{
    mf_ints code[MF_IQ4_SIZE / MF_LANES];

    for (size_t i = 0; i < MF_IQ4_SIZE; i += MF_LANES)
        code[i / MF_LANES] = mf_iq4_code(inverse * mf_lanes_load(row + i));
    mf_nibbles_store(code, out);
}

static inline void mf_iq4_decode(const uint8_t *codes, float scale, float *out)
{
    mf_ints code[MF_IQ4_SIZE / MF_LANES];

    mf_nibbles_load(codes, code);
    for (size_t i = 0; i < MF_IQ4_SIZE; i += MF_LANES)
        mf_lanes_store(out + i, scale * mf_lanes_look_up(mf_iq4_values,
                                                         code[i / MF_LANES]));
}

#endif
