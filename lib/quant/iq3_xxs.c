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

static const struct mf_grid_levels levels = { { 4, 12, 20, 28, 36, 44, 52,
                                                62 } };

static const uint16_t grid[256] = {
#include "lib/quant/iq3_xxs.def"
};

static inline struct mf_grid_eight eight(const uint8_t *block, size_t i,
                                         float scale)
{
    const uint8_t *places = block + 2 + 2 * i;
    uint32_t word;

    memcpy(&word, block + 66 + i / 4 * 4, sizeof(word));
    return (struct mf_grid_eight){
        .code = grid[places[0]] | (uint32_t)grid[places[1]] << 12,
        .signs = mf_grid_eight_signs(word >> i % 4 * 7 & 127),
        .scale = scale * (0.5f + (float)(word >> 28)) * 0.5f,
    };
}

MF_GRID_DECODE(98, 3)

const struct mf_codec MF_CODEC(iq3_xxs) = { .decode = decode };
