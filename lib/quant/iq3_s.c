/* SPDX-License-Identifier: MIT
 *
 * iq3_s.c - 256 numbers of 3.44 bits: codes of a grid
 *
 * half scale, uint8 place[64], uint8 high[8], uint8 signs[32], uint8 parts[4].
 * Two places make eight numbers, and a bit of high is the ninth of a place;
 * each half of a byte of parts is for 32 numbers;
 * number * scale * (2 * part + 1).
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 110

static const struct mf_grid_levels levels = { { 1, 3, 5, 7, 9, 11, 13, 15 } };

static const uint16_t grid[512] = {
#include "lib/quant/iq3_s.def"
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            const uint8_t *places = blocks + 2 + 2 * i;
            uint32_t high = (uint32_t)blocks[66 + i / 4] >> i % 4 * 2;
            uint32_t low_code = grid[places[0] | (high & 1) << 8];
            uint32_t high_code = grid[places[1] | (high & 2) << 7];
            int parts = blocks[106 + i / 8] >> (i / 4 % 2 * 4) & 15;

            mf_grid_decode(&levels, 3, low_code | high_code << 12,
                           blocks[74 + i], scale * (float)(1 + 2 * parts), out);
        }
    }
}

const struct mf_codec MF_CODEC(iq3_s) = { .decode = decode };
