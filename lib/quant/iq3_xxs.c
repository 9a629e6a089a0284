/* SPDX-License-Identifier: MIT
 *
 * iq3_xxs.c - 256 numbers of 3.06 bits: codes of a grid
 *
 * half scale, uint8 place[64], uint32 word[8].  Two places make eight numbers;
 * a word has four times seven signs and a part of the scale for 32 numbers;
 * number * scale * (part + 0.5) / 2.
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 98

static const struct mf_grid_levels levels = { { 4, 12, 20, 28, 36, 44, 52,
                                                62 } };

static const uint16_t grid[256] = {
#include "lib/quant/iq3_xxs.def"
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            const uint8_t *places = blocks + 2 + 2 * i;
            uint32_t code = grid[places[0]] | (uint32_t)grid[places[1]] << 12;
            uint32_t word;
            float part;

            memcpy(&word, blocks + 66 + i / 4 * 4, sizeof(word));
            part = scale * (0.5f + (float)(word >> 28)) * 0.5f;
            mf_grid_decode(&levels, 3, code,
                           mf_grid_eight_signs(word >> i % 4 * 7 & 127), part,
                           out);
        }
    }
}

const struct mf_codec MF_CODEC(iq3_xxs) = { decode, NULL };
