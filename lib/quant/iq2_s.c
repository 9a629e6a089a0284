/* SPDX-License-Identifier: MIT
 *
 * iq2_s.c - 256 numbers of 2.56 bits: codes of a grid
 *
 * half scale, uint8 place[32], uint8 signs[32], uint8 high[8], uint8 parts[8].
 * A byte of high has two more bits for each of four places; each half of a byte
 * of parts is for 16 numbers; number * scale * (part + 0.5) / 4.
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 82

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[1024] = {
#include "lib/quant/iq2_s.def"
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            uint32_t high = blocks[66 + i / 4] >> (i % 4 * 2) & 3;
            int parts = blocks[74 + i / 4] >> (i / 2 % 2 * 4) & 15;
            float part = scale * (0.5f + (float)parts) * 0.25f;

            mf_grid_decode(&levels, 2, grid[blocks[2 + i] | high << 8],
                           blocks[34 + i], part, out);
        }
    }
}

const struct mf_codec MF_CODEC(iq2_s) = { decode, NULL };
