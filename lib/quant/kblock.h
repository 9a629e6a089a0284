/* SPDX-License-Identifier: MIT
 *
 * kblock.h - super-blocks of 256 elements, some of them at a time
 *
 * What Q2_K to Q6_K share.  A super-block has 8 blocks of 32 elements, or 16 of
 * 16, and their scales are multiples of a number of its own.
 */
#ifndef MF_LIB_QUANT_KBLOCK_H
#define MF_LIB_QUANT_KBLOCK_H

#include "lib/quant/fp16.h"
#include "lib/quant/rows.h"

#define MF_K        256
#define MF_K_BLOCKS 16 /* of a super-block, at most */

/* Super-blocks that are encoded together: no more than are abreast, so that a
 * search over the scales of each can run abreast, too.  Blocks are numbered on
 * through all of them. */
struct mf_k_batch {
    const float *row, *weights;
    size_t count, block_size, block_count; /* block_count: of a super-block */
    float square_sum[ABREAST];
    float scale[MF_K_BLOCKS * ABREAST], minimum[MF_K_BLOCKS * ABREAST];
    float code_scale[MF_K_BLOCKS * ABREAST];
    float code_minimum[MF_K_BLOCKS * ABREAST];
    float weight[MF_K_BLOCKS * ABREAST]; /* the sum of its elements' */
};

static inline void mf_k_begin(struct mf_k_batch *batch, const float *row,
                              const float *weights, size_t block_size,
                              size_t block_count)
{
    batch->row = row;
    batch->weights = weights;
    batch->count = 0;
    batch->block_size = block_size;
    batch->block_count = block_count;
}

/* Goes on to the next super-blocks, of as many as are left. */
static inline void mf_k_advance(struct mf_k_batch *batch, size_t left,
                                size_t most)
{
    size_t done = batch->count * batch->block_count * batch->block_size;

    batch->row += done;
    if (batch->weights)
        batch->weights += done;
    batch->count = left < most ? left : most;
}

/* Rows of the blocks from number first on, out of at, which is the batch's row
 * or its weights.  The last block fills what lanes are left. */
static inline void mf_k_load(const struct mf_k_batch *batch, size_t first,
                             const float *at, struct mf_row *rows)
{
    size_t last = batch->count * batch->block_count - 1;
    const float *from[ABREAST];

    for (size_t i = 0; i < ABREAST; i++)
        from[i] =
            at + batch->block_size * (first + i < last ? first + i : last);
    mf_rows_load(rows, from, batch->block_size);
}

/* Rows of what the batch holds for each block, one super-block in each lane of
 * a side. */
static inline void mf_k_load_sides(const struct mf_k_batch *batch,
                                   const float *side0, const float *side1,
                                   struct mf_row *rows)
{
    const float *from[ABREAST];

    for (size_t i = 0; i < MF_LANES; i++) {
        from[i] = side0 + batch->block_count * (i < batch->count ? i : 0);
        from[MF_LANES + i] =
            side1 + batch->block_count * (i < batch->count ? i : 0);
    }
    mf_rows_load(rows, from, batch->block_count);
}

/* The additions of one super-block wait for each other, so MF_LANES are done at
 * a time. */
static inline void mf_k_square_sums(struct mf_k_batch *batch)
{
    size_t size = batch->block_size * batch->block_count;

    for (size_t first = 0; first < batch->count; first += MF_LANES) {
        float sum[MF_LANES] = { 0 };
        const float *from[MF_LANES];

        for (size_t i = 0; i < MF_LANES; i++)
            from[i] = batch->row +
                      size * (first + i < batch->count ? first + i : first);
        for (size_t j = 0; j < size; j++)
            for (size_t i = 0; i < MF_LANES; i++)
                sum[i] += from[i][j] * from[i][j];
        memcpy(batch->square_sum + first, sum, sizeof(sum));
    }
}

/* Weights of the matrix, times the root of something, here in the place of the
 * sum of squares, and the square of x. */
static inline void mf_k_weigh(const struct mf_k_batch *batch, size_t first,
                              const struct mf_row *x, struct mf_row *weight)
{
    size_t last = batch->count * batch->block_count - 1;
    float square[ABREAST];
    struct mf_row add;

    mf_k_load(batch, first, batch->weights, weight);
    for (size_t i = 0; i < ABREAST; i++)
        square[i] = batch->square_sum[(first + i < last ? first + i : last) /
                                      batch->block_count];
    add = mf_row_load(square);
    for (size_t i = 0; i < batch->block_size; i++)
        for (int s = 0; s < SIDES; s++)
            weight[i].side[s] *=
                mf_lanes_root(add.side[s] + x[i].side[s] * x[i].side[s]);
}

/* Weights of their own. */
static inline void mf_k_squares(const struct mf_k_batch *batch,
                                const struct mf_row *x, struct mf_row *weight)
{
    for (size_t i = 0; i < batch->block_size; i++)
        for (int s = 0; s < SIDES; s++)
            weight[i].side[s] = x[i].side[s] * x[i].side[s];
}

/* The whole number nearest to value, as mf_lanes_round_any finds it. */
static inline int32_t mf_k_round(float value)
{
    float sum = (value == value ? value : 0.0f) + MF_ROUND;

    return (int32_t)(mf_float_bits(sum) & 0x007fffff) - 0x400000;
}

/* Codes of two bits, of which every 128 have 32 bytes: byte i holds codes i,
 * 32 + i, 64 + i and 96 + i, the first lowest. */
static inline void mf_k_write_2bit(const uint8_t code[MF_K], uint8_t *out)
{
    for (size_t i = 0; i < MF_K; i += 128, out += 32)
        for (size_t j = 0; j < 32; j++) {
            const uint8_t *c = code + i + j;

            out[j] = (uint8_t)((c[0] & 3) | (c[32] & 3) << 2 |
                               (c[64] & 3) << 4 | c[96] << 6);
        }
}

#endif
