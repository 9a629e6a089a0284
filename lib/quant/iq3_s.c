/* SPDX-License-Identifier: MIT
 *
 * iq3_s.c - 256 numbers of 3.44 bits: codes of a grid
 *
 * half scale, uint8 place[64], uint8 high[8], uint8 signs[32], uint8 parts[4].
 * Two places make eight numbers, and a bit of high is the ninth of a place;
 * each half of a byte of parts is for 32 numbers;
 * number * scale * (2 * part + 1).
 */
#include "lib/quant/grid_3_encode.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 110

static const struct mf_grid_levels levels = { { 1, 3, 5, 7, 9, 11, 13, 15 } };

static const uint16_t grid[512] = {
#include "lib/quant/iq3_s.def"
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            const uint8_t *places = blocks + 2 + 2 * i;
            uint32_t high = (uint32_t)blocks[66 + i / 4] >> i % 4 * 2;
            uint32_t low_code = grid[places[0] | (high & 1) << 8];
            uint32_t high_code = grid[places[1] | (high & 2) << 7];
            int parts = blocks[106 + i / 8] >> (i / 4 % 2 * 4) & 15;

            mf_grid_decode(&levels, 3, low_code | high_code << 12,
                           blocks[74 + i], scale * (float)(1 + 2 * parts), out);
        }
    }
}

/* ---- encoding */

static const struct mf_g3_type type = { .steps = 9, .all = true };

/* After a block of zeros the reference does not go on to the next codes and
 * signs: other blocks take its place. */
static void write_block(const struct mf_g3 *g3, uint8_t *out)
{
    uint8_t part[MF_G3_BLOCKS], *place = out + 2, *signs = out + 74;
    float unit;

    memset(out, 0, BYTES);
    for (size_t b = 0; b < MF_G3_BLOCKS; b++) {
        if (g3->empty[b])
            continue;
        for (size_t k = 0; k < MF_G3_FOURS; k++) {
            int32_t at = g3->map->place[g3->code[b][k] & 0xfff];

            *place++ = (uint8_t)at;
            out[66 + b] |= (uint8_t)(at >> 8 << k);
        }
        mf_put_little_32(signs, g3->signs[b]);
        signs += 4;
    }
    if (!mf_g3_parts(g3, &unit, part))
        return;
    mf_store_scale(out, unit * 1.033f);
    for (size_t i = 0; i < MF_G3_BLOCKS; i += 2)
        out[106 + i / 2] = (uint8_t)(part[i] | part[i + 1] << 4);
}

static bool encode_on_grid(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns)
{
    struct mf_g3 g3 = { .type = &type, .map = map };

    for (size_t i = 0; i < columns; i += BLOCK, blocks += BYTES) {
        mf_g3_load(&g3, row + i, weights ? weights + i : NULL);
        if (!mf_g3_encode(&g3))
            return false;
        write_block(&g3, blocks);
    }
    return true;
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, 0);

const struct mf_codec MF_CODEC(iq3_s) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_on_grid),
    .grid = MF_GRID_IQ3_S,
    MF_MAKEUP(makeup),
};
