/* SPDX-License-Identifier: MIT
 *
 * ascend.h - the ascending order of blocks of up to 32 numbers, many at a time
 */
#ifndef MF_LIB_QUANT_ASCEND_H
#define MF_LIB_QUANT_ASCEND_H

#include <stdbool.h>

#include "lib/quant/fp16.h"
#include "lib/quant/rows.h"

#define MF_ASCEND 32 /* columns, at most */

static inline void mf_ascend_swap(struct mf_row *a, struct mf_row *b)
{
    for (int s = 0; s < MF_SIDES; s++) {
        mf_ints x = (mf_ints)a->side[s], y = (mf_ints)b->side[s];

        a->side[s] = (mf_floats)~mf_ints_max(~x, ~y);
        b->side[s] = (mf_floats)mf_ints_max(x, y);
    }
}

/* Batcher's merge exchange: all blocks in the same steps. */
static inline void mf_ascend_keys(struct mf_row *key, int size)
{
    for (int p = 1; p < size; p *= 2)
        for (int k = p; k > 0; k /= 2)
            for (int j = k % p; j + k < size; j += 2 * k)
                for (int i = j; i < j + k && i + k < size; i++)
                    if (i / (2 * p) == (i + k) / (2 * p))
                        mf_ascend_swap(&key[i], &key[i + k]);
}

/* The columns of blocks that are abreast in ascending order, integers, as far
 * as all but the last five bits of x tell.  A float's bits are ordered as it is
 * once those of negative ones are turned over; the column takes the place of
 * the last five. */
static inline void mf_ascend_rows(const struct mf_row *x, int size,
                                  struct mf_row *column)
{
    for (int i = 0; i < size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_ints bits = (mf_ints)(x[i].side[s] + 0.0f); /* no -0 */

            bits ^= bits >> 31 & 0x7fffffff;
            column[i].side[s] = (mf_floats)((bits & ~(MF_ASCEND - 1)) | i);
        }
    mf_ascend_keys(column, size);
    for (int i = 0; i < size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            column[i].side[s] =
                (mf_floats)((mf_ints)column[i].side[s] & (MF_ASCEND - 1));
}

/* Rows become blocks again, which lie so many floats apart. */
static inline void mf_ascend_turn(const struct mf_row *row, int size,
                                  float *out, size_t apart)
{
    const float *from[MF_TURN];

    for (int at = 0; at < size; at += MF_TURN) {
        for (int i = 0; i < MF_TURN; i++)
            from[i] = (const float *)(row + at + i);
        for (size_t lane = 0; lane < MF_ABREAST; lane += MF_TURN)
            mf_rows_turn(out + lane * apart + at, apart, from, lane);
    }
}

/* Numbers of a block in that order. */
static inline void mf_ascend_pick(const float *from, const float *column,
                                  int size, float *out)
{
#if MF_LANES == 16
    __m512 low = _mm512_loadu_ps(from);
    __m512 high = size > 16 ? _mm512_loadu_ps(from + 16) : low;

    for (int i = 0; i < size; i += 16)
        _mm512_storeu_ps(out + i,
                         _mm512_permutex2var_ps(
                             low, (__m512i)mf_lanes_load(column + i), high));
#else
    for (int i = 0; i < size; i++)
        out[i] = from[mf_float_bits(column[i])];
#endif
}

/* Whether no number is above the next one; where it is, the last five bits are
 * wrong. */
static inline bool mf_ascend_holds(const float *sorted, int size)
{
    float next[MF_ASCEND];
    mf_ints above = { 0 };

    memcpy(next, sorted + 1, sizeof(*next) * (size_t)(size - 1));
    next[size - 1] = INFINITY;
    for (int i = 0; i < size; i += MF_LANES)
        above |= mf_lanes_load(sorted + i) > mf_lanes_load(next + i);
    return mf_lanes_signs(above) == 0;
}

/* Puts them right; of equal numbers, and of +0 and -0, the first comes
 * first. */
static inline void mf_ascend_repair(const float *x, int size, float *column)
{
    for (int i = 1; i < size; i++) {
        uint32_t one = mf_float_bits(column[i]);
        int j = i;

        for (; j > 0; j--) {
            uint32_t other = mf_float_bits(column[j - 1]);

            if (!(x[other] > x[one] || (x[other] == x[one] && other > one)))
                break;
            column[j] = column[j - 1];
        }
        column[j] = mf_float_of_bits(one);
    }
}

#endif
