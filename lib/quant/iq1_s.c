/* SPDX-License-Identifier: MIT
 *
 * iq1_s.c - 256 numbers of 1.56 bits: codes of a grid
 *
 * half scale, uint8 place[32], uint16 high[8].  Of each word of high, for 32
 * numbers, four times three bits belong to places, three are a part of the
 * scale, and the last is a shift's sign;
 * (number +- 1/8) * scale * (2 * part + 1).
 */
#define MF_WIDE_LANES
#define MF_IQ1_SIZE  32
#define MF_IQ1_PARTS 1
#include "lib/quant/grid_1.h"
#include "lib/quant/iq1_batch.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 50
enum { PLACES = 2, HIGH = 34 };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 8; i++) {
            const uint8_t *places = blocks + PLACES + 4 * i;
            uint32_t high = mf_little_16(blocks + HIGH + 2 * i);
            float part = scale * (float)(2 * (high >> 12 & 7) + 1);

            for (size_t j = 0; j < 4; j++, out += 8)
                mf_grid_1_decode(places[j] | (high >> 3 * j & 7) << 8,
                                 high & 0x8000, part, out);
        }
    }
}

/* In the reference's order of operations. */
static void judge(struct mf_iq1 *block, int low, int high)
{
    const struct mf_iq1_sums *sums = &block->part[0];
    float x[3] = { sums->x[low], sums->x[high] - sums->x[low],
                   sums->x[MF_IQ1_SIZE] - sums->x[high] };
    float weight[3] = { sums->weight[low],
                        sums->weight[high] - sums->weight[low],
                        sums->weight[MF_IQ1_SIZE] - sums->weight[high] };

    for (int k = 0; k < 2; k++) {
        const float *level = mf_iq1_levels[k];

        mf_iq1_offer(block, low, high, k,
                     x[0] * level[0] + x[1] * level[1] + x[2] * level[2],
                     weight[0] * level[0] * level[0] +
                         weight[1] * level[1] * level[1] +
                         weight[2] * level[2] * level[2]);
    }
}

static void write_block(const struct mf_grid_map *map,
                        const struct mf_iq1_found *found, uint8_t *out)
{
    uint32_t part[8];
    float most = mf_iq1_parts(found, part);

    mf_store_scale(out, most / 15 * 1.125f);
    for (size_t i = 0; i < 8; i++) {
        uint32_t high = 0;

        for (size_t j = 0; j < 4; j++) {
            uint32_t place =
                (uint32_t)map->place[found[i].digits >> 16 * j & 0xffff];

            out[PLACES + 4 * i + j] = (uint8_t)place;
            high |= place >> 8 << 3 * j;
        }
        if (most != 0)
            high |= part[i] << 12 | (uint32_t)found[i].variant << 15;
        mf_put_little_16(out + HIGH + 2 * i, (uint16_t)high);
    }
}

static bool encode(const struct mf_grid_map *map, const float *restrict row,
                   const float *restrict weights, uint8_t *restrict blocks,
                   size_t columns)
{
    struct mf_iq1_batch all;
    size_t left = columns / BLOCK;

    all.map = map;
    all.judge = judge;
    all.least = 1e-12f;
    mf_batch_begin(&all.batch, row, weights, 32, 8);
    for (; left > 0; left -= all.batch.count) {
        mf_batch_advance(&all.batch, left, MF_LANES);
        if (!mf_iq1_batch_blocks(&all))
            return false;
        for (size_t i = 0; i < all.batch.count; i++, blocks += BYTES)
            write_block(map, all.found + 8 * i, blocks);
    }
    return true;
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, MF_K, 0);

const struct mf_codec MF_CODEC(iq1_s) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode),
    .grid = MF_GRID_IQ1,
    .needs_weights = true,
    MF_MAKEUP(makeup),
};
