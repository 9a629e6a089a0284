/* SPDX-License-Identifier: MIT
 *
 * iq1_m.c - IQ1_M, as the reference encodes it since version 0.25.1
 */
#include "lib/quant/iq1_m.h"

/* Sums of the first numbers of both halves, in the reference's order of
 * operations. */
static void judge(struct mf_iq1 *block, int low, int high)
{
    float qx[2][2], q2[2][2];

    for (int half = 0; half < 2; half++) {
        const struct mf_iq1_sums *sums = &block->part[half];
        float x = sums->x[low] + sums->x[high];
        float whole = sums->x[MF_IQ1_SIZE], weight = sums->weight[MF_IQ1_SIZE];

        for (int k = 0; k < 2; k++) {
            const float *level = mf_iq1_levels[k];
            float middle = level[1] * level[1];

            qx[k][half] = whole * level[2] - x;
            q2[k][half] = weight * level[2] * level[2] +
                          sums->weight[low] * (level[0] * level[0] - middle) +
                          sums->weight[high] * (middle - level[2] * level[2]);
        }
    }
    for (int k = 0; k < 4; k++)
        mf_iq1_offer(block, low, high, k, qx[k / 2][0] + qx[k % 2][1],
                     q2[k / 2][0] + q2[k % 2][1]);
}

static bool encode(const struct mf_grid_map *map, const float *restrict row,
                   const float *restrict weights, uint8_t *restrict blocks,
                   size_t columns)
{
    return mf_iq1_m_encode(judge, map, row, weights, blocks, columns);
}

const struct mf_codec MF_CODEC(iq1_m) = {
    .decode = mf_iq1_m_decode,
    .encode_on_grid = encode,
    .grid = MF_GRID_IQ1,
};
