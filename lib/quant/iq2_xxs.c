/* SPDX-License-Identifier: MIT
 *
 * iq2_xxs.c - 256 numbers of 2.06 bits: codes of a grid
 *
 * half scale, and for every 32 numbers 8 bytes: four codes' places in the grid,
 * then 32 bits, four times seven signs and a part of the scale;
 * number * scale * (part + 0.5) / 4.
 */
#define MF_GRID_2_SIZE   32
#define MF_GRID_2_STEPS  6
#define MF_GRID_2_LEAST  1e-15f
#define MF_GRID_2_EVEN   1
#define MF_GRID_2_ALL    1
#define MF_POSITIVE_SIZE 32
#include "lib/quant/positive.h"

#include "lib/quant/grid_2_search.h"

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
            uint32_t word = mf_little_32(places + 4);
            float part = scale * (0.5f + (float)(word >> 28)) * 0.25f;

            for (int i = 0; i < 4; i++, out += 8)
                mf_grid_decode(&levels, 2, grid[places[i]],
                               mf_grid_eight_signs(word >> 7 * i & 127), part,
                               out);
        }
    }
}

/* ---- encoding ---- */

static void write_block(const struct mf_grid_map *map,
                        const struct mf_grid_2_found *found, uint8_t *out)
{
    uint8_t part[8];
    float most = mf_grid_2_parts(found, part);

    memset(out, 0, BYTES);
    if (most == 0)
        return;
    mf_store_scale(out, most / 31);
    out += 2;
    for (size_t i = 0; i < 8; i++, out += 8) {
        uint32_t word = (uint32_t)part[i] << 28;

        for (size_t j = 0; j < 4; j++) {
            out[j] = (uint8_t)map->place[found[i].code[j]];
            word |= (found[i].signs[j] & UINT32_C(127)) << 7 * j;
        }
        mf_put_little_32(out + 4, word);
    }
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

const struct mf_codec MF_CODEC(iq2_xxs) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_on_grid),
    .grid = MF_GRID_IQ2_XXS,
    .needs_weights = true,
    MF_MAKEUP(makeup),
};
