/* SPDX-License-Identifier: MIT
 *
 * batch.h - blocks of a row that are encoded together
 *
 * A search over a block finds its scale; a search over the scales of the blocks
 * of a super-block comes after that, in the same way.
 */
#ifndef MF_LIB_QUANT_BATCH_H
#define MF_LIB_QUANT_BATCH_H

#include "lib/quant/rows.h"

#define MF_BATCH_BLOCKS 16 /* of a super-block, at most */

/* Super-blocks that are encoded together: no more than are abreast, so that a
 * search over the scales of each can run abreast, too.  Blocks are numbered on
 * through all of them. */
struct mf_batch {
    const float *row, *weights;
    size_t count, block_size, block_count; /* block_count: of a super-block */
    float variance[MF_ABREAST];            /* or something near it */
    float scale[MF_BATCH_BLOCKS * MF_ABREAST],
        minimum[MF_BATCH_BLOCKS * MF_ABREAST];
    float code_scale[MF_BATCH_BLOCKS * MF_ABREAST];
    float code_minimum[MF_BATCH_BLOCKS * MF_ABREAST];
    float weight[MF_BATCH_BLOCKS * MF_ABREAST]; /* the sum of its elements' */
};

static inline void mf_batch_begin(struct mf_batch *batch, const float *row,
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
static inline void mf_batch_advance(struct mf_batch *batch, size_t left,
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
static inline void mf_batch_load(const struct mf_batch *batch, size_t first,
                                 const float *at, struct mf_row *rows)
{
    size_t last = batch->count * batch->block_count - 1;
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++)
        from[i] =
            at + batch->block_size * (first + i < last ? first + i : last);
    mf_rows_load(rows, from, batch->block_size);
}

/* The sums of squares of super-blocks, into variance.  Additions of one wait
 * for each other, so MF_LANES are done at a time. */
static inline void mf_batch_square_sums(struct mf_batch *batch)
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
        memcpy(batch->variance + first, sum, sizeof(sum));
    }
}

static inline float mf_mean_square(const float *row, size_t columns)
{
    float sum = 0;

    for (size_t i = 0; i < columns; i++)
        sum += row[i] * row[i];
    return sum / (float)columns;
}

/* Weights of the matrix, times the root of the variance plus the square of x.
 */
static inline void mf_batch_weigh(const struct mf_batch *batch, size_t first,
                                  const struct mf_row *x, struct mf_row *weight)
{
    size_t last = batch->count * batch->block_count - 1;
    float square[MF_ABREAST];
    struct mf_row add;

    mf_batch_load(batch, first, batch->weights, weight);
    for (size_t i = 0; i < MF_ABREAST; i++)
        square[i] = batch->variance[(first + i < last ? first + i : last) /
                                    batch->block_count];
    add = mf_row_load(square);
    for (size_t i = 0; i < batch->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            weight[i].side[s] *=
                mf_lanes_root(add.side[s] + x[i].side[s] * x[i].side[s]);
}

/* Weights of their own. */
static inline void mf_batch_squares(const struct mf_batch *batch,
                                    const struct mf_row *x,
                                    struct mf_row *weight)
{
    for (size_t i = 0; i < batch->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            weight[i].side[s] = x[i].side[s] * x[i].side[s];
}

#endif
