/* SPDX-License-Identifier: MIT
 *
 * ascend.h - blocks of up to 32 numbers in ascending order, many at a time
 */
#ifndef MF_LIB_QUANT_ASCEND_H
#define MF_LIB_QUANT_ASCEND_H

#include "lib/quant/fp16.h"
#include "lib/quant/rows.h"

#define MF_ASCEND 32 /* columns, at most */

struct mf_ascend { /* a key of each block that is abreast */
    mf_ints side[MF_SIDES];
};

static inline void mf_ascend_swap(struct mf_ascend *a, struct mf_ascend *b)
{
    for (int s = 0; s < MF_SIDES; s++) {
        mf_ints x = a->side[s], y = b->side[s];

        a->side[s] = ~mf_ints_max(~x, ~y);
        b->side[s] = mf_ints_max(x, y);
    }
}

/* Batcher's merge exchange: all blocks in the same steps. */
static inline void mf_ascend_keys(struct mf_ascend *key, int size)
{
    for (int p = 1; p < size; p *= 2)
        for (int k = p; k > 0; k /= 2)
            for (int j = k % p; j + k < size; j += 2 * k)
                for (int i = j; i < j + k && i + k < size; i++)
                    if (i / (2 * p) == (i + k) / (2 * p))
                        mf_ascend_swap(&key[i], &key[i + k]);
}

/* The columns of blocks that are abreast in ascending order, as far as all but
 * the last five bits of x tell; those of one block are MF_ASCEND apart from the
 * next one's.  A float's bits are ordered as it is once those of negative ones
 * are turned over; the column takes the place of the last five. */
static inline void mf_ascend_blocks(const struct mf_row *x, int size,
                                    float *order)
{
    struct mf_ascend key[MF_ASCEND];
    struct mf_row sorted[MF_ASCEND];
    const float *from[MF_TURN];

    for (int i = 0; i < size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_ints bits = (mf_ints)(x[i].side[s] + 0.0f); /* no -0 */

            bits ^= bits >> 31 & 0x7fffffff;
            key[i].side[s] = (bits & ~(MF_ASCEND - 1)) | i;
        }
    mf_ascend_keys(key, size);
    for (int i = 0; i < size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            sorted[i].side[s] = (mf_floats)(key[i].side[s] & (MF_ASCEND - 1));
    for (int at = 0; at < size; at += MF_TURN) {
        for (int i = 0; i < MF_TURN; i++)
            from[i] = (const float *)(sorted + at + i);
        for (size_t lane = 0; lane < MF_ABREAST; lane += MF_TURN)
            mf_rows_turn(order + lane * MF_ASCEND + at, MF_ASCEND, from, lane);
    }
}

/* The order of one block, with the last five bits as well; of equal numbers,
 * and of +0 and -0, the first comes first. */
static inline void mf_ascend_block(const float *x, int size, const float *order,
                                   uint8_t *out)
{
    for (int i = 0; i < size; i++) {
        uint8_t column = (uint8_t)mf_float_bits(order[i]);
        int j = i;

        for (; j > 0 && (x[out[j - 1]] > x[column] ||
                         (x[out[j - 1]] == x[column] && out[j - 1] > column));
             j--)
            out[j] = out[j - 1];
        out[j] = column;
    }
}

#endif
