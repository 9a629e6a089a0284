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

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[1024] = {
#include "lib/quant/iq2_s.def"
};

static inline struct mf_grid_eight eight(const uint8_t *block, size_t i,
                                         float scale)
{
    uint32_t high = block[66 + i / 4] >> (i % 4 * 2) & 3;
    int part = block[74 + i / 4] >> (i / 2 % 2 * 4) & 15;

    return (struct mf_grid_eight){
        .code = grid[block[2 + i] | high << 8],
        .signs = block[34 + i],
        .scale = scale * (0.5f + (float)part) * 0.25f,
    };
}

MF_GRID_DECODE(82, 2)

const struct mf_codec MF_CODEC(iq2_s) = { .decode = decode };
