/* SPDX-License-Identifier: MIT
 *
 * iq2_xs.c - 256 numbers of 2.31 bits: codes of a grid
 *
 * half scale, uint16 place[32], uint8 parts[8].  A place has 9 bits, and above
 * them seven signs; each half of a byte of parts is for 16 numbers;
 * number * scale * (part + 0.5) / 4.
 */
#define MF_GRID_2_SIZE  16
#define MF_GRID_2_STEPS 9
#define MF_GRID_2_LEAST 1e-15f
#define MF_GRID_2_EVEN  1
#define MF_GRID_2_ALL   0
#include "lib/quant/grid_2_search.h"

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[512] = {
#include "lib/quant/iq2_xs.def"
};

static inline struct mf_grid_eight eight(const uint8_t *block, size_t i,
                                         float scale)
{
    uint32_t place = mf_little_16(block + 2 + 2 * i);
    int part = block[66 + i / 4] >> (i / 2 % 2 * 4) & 15;

    return (struct mf_grid_eight){
        .code = grid[place & 511],
        .signs = mf_grid_eight_signs(place >> 9),
        .scale = scale * (0.5f + (float)part) * 0.25f,
    };
}

MF_GRID_DECODE(74, 2)

/* ---- encoding ---- */

enum { BLOCK = 256, BYTES = 74, PLACES = 2, PARTS = 66 };

static void write_block(const struct mf_grid_map *map,
                        const struct mf_grid_2_found *found, uint8_t *out)
{
    uint8_t part[16];
    float most = mf_grid_2_parts(found, part);

    memset(out, 0, BYTES);
    if (most == 0)
        return;
    mf_store_scale(out, most / 31);
    for (size_t i = 0; i < 32; i++) {
        const struct mf_grid_2_found *group = &found[i / 2];
        unsigned place = (unsigned)map->place[group->code[i % 2]];
        unsigned signs = group->signs[i % 2] & 127u;

        mf_put_little_16(out + PLACES + 2 * i, (uint16_t)(place | signs << 9));
    }
    for (size_t i = 0; i < 8; i++)
        out[PARTS + i] = (uint8_t)(part[2 * i] | part[2 * i + 1] << 4);
}

static const struct mf_grid_2_type type = { BYTES, 1.0f, write_block };

static bool encode_on_grid(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns)
{
    return mf_grid_2_encode_row(&type, map, row, weights, blocks, columns);
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, 0);

const struct mf_codec MF_CODEC(iq2_xs) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_on_grid),
    .grid = MF_GRID_IQ2_XS,
    .needs_weights = true,
    MF_MAKEUP(makeup),
};
