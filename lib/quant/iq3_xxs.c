/* SPDX-License-Identifier: MIT
 *
 * iq3_xxs.c - 256 numbers of 3.06 bits: codes of a grid
 *
 * half scale, uint8 place[64], uint32 word[8].  Two places make eight numbers;
 * a word has four times seven signs and a part of the scale for 32 numbers;
 * number * scale * (part + 0.5) / 2.
 */
#include "lib/quant/grid_3_encode.h"
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
    uint32_t word = mf_little_32(block + 66 + i / 4 * 4);

    return (struct mf_grid_eight){
        .code = grid[places[0]] | (uint32_t)grid[places[1]] << 12,
        .signs = mf_grid_eight_signs(word >> i % 4 * 7 & 127),
        .scale = scale * (0.5f + (float)(word >> 28)) * 0.5f,
    };
}

MF_GRID_DECODE(98, 3)

/* ---- encoding */

#define BYTES 98

static const struct mf_g3_type type = {
    .steps = 15,
    .least = 1e-8f,
    .even = true,
};

static void write_block(const struct mf_g3 *g3, uint8_t *out)
{
    uint8_t part[MF_G3_BLOCKS];
    float unit;

    memset(out, 0, BYTES);
    if (!mf_g3_parts(g3, &unit, part))
        return;
    mf_store_scale(out, unit * 1.0125f);
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        uint32_t word = (uint32_t)part[b] << 28;

        for (size_t k = 0; k < MF_G3_FOURS && !g3->empty[b]; k++)
            out[2 + MF_G3_FOURS * b + k] =
                (uint8_t)g3->map->place[g3->code[b][k] & 0xfff];
        for (size_t i = 0; i < 4 && !g3->empty[b]; i++)
            word |= (g3->signs[b] >> 8 * i & 127) << 7 * i;
        mf_put_little_32(out + 66 + 4 * b, word);
    }
}

static bool encode_on_grid(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns)
{
    struct mf_g3 g3 = { .type = &type, .map = map };

    for (size_t i = 0; i < columns; i += MF_K, blocks += BYTES) {
        mf_g3_load(&g3, row + i, weights ? weights + i : NULL);
        if (!mf_g3_encode(&g3))
            return false;
        write_block(&g3, blocks);
    }
    return true;
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, MF_K, 0);

const struct mf_codec MF_CODEC(iq3_xxs) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_on_grid),
    .grid = MF_GRID_IQ3_XXS,
    MF_MAKEUP(makeup),
};
