/* SPDX-License-Identifier: MIT
 *
 * rows.h - blocks turned, so that each has a lane of its own
 *
 * A search over a block adds floats, and the order of additions is part of its
 * result.  So one block is not spread over a vector: each lane has a block of
 * its own and does what a scalar would do, in the same order.  Code that uses
 * this is written once, for any number of lanes.
 */
#ifndef MF_LIB_QUANT_ROWS_H
#define MF_LIB_QUANT_ROWS_H

#include "lib/quant/round.h"

/* One vector's additions wait for each other; a second vector's fill the
 * gaps. */
#define MF_SIDES   2
#define MF_ABREAST (MF_SIDES * MF_LANES)

/* Of each block that is abreast, one element. */
struct mf_row {
    mf_floats side[MF_SIDES];
};

static inline struct mf_row mf_row_load(const float *at)
{
    struct mf_row row;

    memcpy(&row, at, sizeof(row));
    return row;
}

static inline void mf_row_store(float *at, struct mf_row row)
{
    memcpy(at, &row, sizeof(row));
}

#if defined(__AVX2__)

/* Element at + i of the block from[j] becomes element j of row i, for MF_TURN
 * of both.  Rows lie so many floats apart. */
#define MF_TURN 8

static inline void mf_rows_turn(float *out, size_t apart,
                                const float *const *from, size_t at)
{
    __m256 row[8], pair[8], four[8];

    for (int i = 0; i < 8; i++)
        row[i] = _mm256_loadu_ps(from[i] + at);
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_ps(out + i * apart,
                         _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(out + (i + 4) * apart,
                         _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

#elif defined(__SSE2__)

#define MF_TURN 4

static inline void mf_rows_turn(float *out, size_t apart,
                                const float *const *from, size_t at)
{
    __m128 row[4];

    for (int i = 0; i < 4; i++)
        row[i] = _mm_loadu_ps(from[i] + at);
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (size_t i = 0; i < 4; i++)
        _mm_storeu_ps(out + i * apart, row[i]);
}

#else

#define MF_TURN 4

static inline void mf_rows_turn(float *out, size_t apart,
                                const float *const *from, size_t at)
{
    for (size_t i = 0; i < 4; i++)
        for (int lane = 0; lane < 4; lane++)
            out[i * apart + (size_t)lane] = from[lane][at + i];
}

#endif

/* Rows 0 to count - 1, a multiple of 8, of the blocks at from. */
static inline void mf_rows_load(struct mf_row *out,
                                const float *const from[MF_ABREAST],
                                size_t count)
{
    for (size_t at = 0; at < count; at += MF_TURN)
        for (size_t lane = 0; lane < MF_ABREAST; lane += MF_TURN)
            mf_rows_turn((float *)(out + at) + lane, MF_ABREAST, from + lane,
                         at);
}

#define MF_LEAST 1e-15f /* a block of nothing larger counts as zeros */

/* The first element of each block that is farthest from 0; of a block that
 * counts as zeros a NaN, of which no search makes anything. */
static inline struct mf_row mf_rows_farthest(const struct mf_row *x,
                                             size_t count)
{
    struct mf_row most = { { { 0 } } }, farthest = most;

    for (size_t i = 0; i < count; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats value = x[i].side[s], far = mf_lanes_abs(value);

            farthest.side[s] = mf_lanes_select_less(most.side[s], far, value,
                                                    farthest.side[s]);
            most.side[s] = mf_lanes_max(far, most.side[s]);
        }
    for (int s = 0; s < MF_SIDES; s++)
        farthest.side[s] = mf_lanes_select(most.side[s] < MF_LEAST,
                                           mf_lanes_all(NAN), farthest.side[s]);
    return farthest;
}

/* 0 where the farthest is NaN. */
static inline mf_floats mf_lanes_if_any(mf_floats farthest, mf_floats scale)
{
    return mf_lanes_select(farthest == farthest, scale, mf_lanes_all(0.0f));
}

#endif
