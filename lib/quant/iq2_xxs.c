/* SPDX-License-Identifier: MIT
 *
 * iq2_xxs.c - 256 numbers of 2.06 bits: codes of a grid
 *
 * half scale, and for every 32 numbers 8 bytes: four codes' places in the grid,
 * then 32 bits, four times seven signs and a part of the scale;
 * number * scale * (part + 0.5) / 4.
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 66

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[256] = {
#include "lib/quant/iq2_xxs.def"
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t at = 2; at < BYTES; at += 8) {
            const uint8_t *places = blocks + at;
            uint32_t word;
            float part;

            memcpy(&word, places + 4, sizeof(word));
            part = scale * (0.5f + (float)(word >> 28)) * 0.25f;
            for (int i = 0; i < 4; i++, out += 8)
                mf_grid_decode(&levels, 2, grid[places[i]],
                               mf_grid_eight_signs(word >> 7 * i & 127), part,
                               out);
        }
    }
}

const struct mf_codec MF_CODEC(iq2_xxs) = { .decode = decode };
