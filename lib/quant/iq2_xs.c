/* SPDX-License-Identifier: MIT
 *
 * iq2_xs.c - 256 numbers of 2.31 bits: codes of a grid
 *
 * half scale, uint16 place[32], uint8 parts[8].  A place has 9 bits, and above
 * them seven signs; each half of a byte of parts is for 16 numbers;
 * number * scale * (part + 0.5) / 4.
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[512] = {
#include "lib/quant/iq2_xs.def"
};

static inline struct mf_grid_eight eight(const uint8_t *block, size_t i,
                                         float scale)
{
    uint32_t place = mf_load_u16(block + 2 + 2 * i);
    int part = block[66 + i / 4] >> (i / 2 % 2 * 4) & 15;

    return (struct mf_grid_eight){
        .code = grid[place & 511],
        .signs = mf_grid_eight_signs(place >> 9),
        .scale = scale * (0.5f + (float)part) * 0.25f,
    };
}

MF_GRID_CODEC(iq2_xs, 74, 2);
