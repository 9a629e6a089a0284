/* SPDX-License-Identifier: MIT
 *
 * iq2_s.c - 256 numbers of 2.56 bits: codes of a grid
 *
 * half scale, uint8 place[32], uint8 signs[32], uint8 high[8], uint8 parts[8].
 * A byte of high has two more bits for each of four places; each half of a byte
 * of parts is for 16 numbers; number * scale * (part + 0.5) / 4.
 */
#define MF_GRID_2_SIZE  16
#define MF_GRID_2_STEPS 9
#define MF_GRID_2_LEAST 1e-8f
#define MF_GRID_2_EVEN  0
#define MF_GRID_2_ALL   0
#include "lib/quant/grid_2_search.h"

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

/* ---- encoding ---- */

enum { BLOCK = 256, BYTES = 82, PLACES = 2, SIGNS = 34, HIGH = 66, PARTS = 74 };

static void write_block(const struct mf_grid_map *map,
                        const struct mf_grid_2_found *found, uint8_t *out)
{
    uint8_t part[16];
    float most = mf_grid_2_parts(found, part);

    memset(out, 0, BYTES);
    for (size_t i = 0; i < 32; i++) {
        const struct mf_grid_2_found *group = &found[i / 2];
        unsigned place = (unsigned)map->place[group->code[i % 2]];

        out[PLACES + i] = (uint8_t)place;
        out[HIGH + i / 4] |= (uint8_t)(place >> 8 << i % 4 * 2);
        out[SIGNS + i] = group->signs[i % 2];
    }
    if (most == 0)
        return;
    mf_store_scale(out, most / 31 * 0.9875f);
    for (size_t i = 0; i < 8; i++)
        out[PARTS + i] = (uint8_t)(part[2 * i] | part[2 * i + 1] << 4);
}

static const struct mf_grid_2_type type = { BYTES, 2.0f, write_block };

static bool encode_on_grid(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns)
{
    return mf_grid_2_encode_row(&type, map, row, weights, blocks, columns);
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, 0);

const struct mf_codec MF_CODEC(iq2_s) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_on_grid),
    .grid = MF_GRID_IQ2_S,
    MF_MAKEUP(makeup),
};
