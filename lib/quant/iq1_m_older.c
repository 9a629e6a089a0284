/* SPDX-License-Identifier: MIT
 *
 * iq1_m_older.c - IQ1_M, as the reference encoded it before version 0.25.1
 *
 * Only what is added up is different: each pair's sums from the start, number
 * by number.
 */
#include "lib/quant/iq1_m.h"

static void judge(struct mf_iq1 *block, int low, int high)
{
    float qx[4] = { 0 }, q2[4] = { 0 };

    for (int i = 0; i < MF_IQ1_SIZE; i++) {
        int column = (int)mf_float_bits(block->column[i]),
            digit = (i >= low) + (i >= high);
        float x = block->x[column], weight = block->weight[column];

        for (int k = 0; k < 4; k++) {
            int side = mf_iq1_side(2 * column / MF_IQ1_SIZE, k);
            float level = mf_iq1_levels[side][digit];

            qx[k] += weight * level * x;
            q2[k] += weight * level * level;
        }
    }
    for (int k = 0; k < 4; k++)
        mf_iq1_offer(block, low, high, k, qx[k], q2[k]);
}

static bool encode(const struct mf_grid_map *map, const float *restrict row,
                   const float *restrict weights, uint8_t *restrict blocks,
                   size_t columns)
{
    return mf_iq1_m_encode(judge, map, row, weights, blocks, columns);
}

const struct mf_codec MF_CODEC(iq1_m_older) = {
    .decode = mf_iq1_m_decode,
    .encode_on_grid = encode,
    .grid = MF_GRID_IQ1,
};
