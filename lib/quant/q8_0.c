/* SPDX-License-Identifier: MIT
 *
 * q8_0.c - 32 numbers of 8 bits and a scale
 *
 * half scale, int8 number[32]; number * scale.
 */
#include "lib/quant/extremes.h"
#include "lib/quant/parts.h"
#include "lib/quant/quant.h"

#define BLOCK 32
#define BYTES 34

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, out += BLOCK) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < BLOCK; i += MF_LANES)
            mf_lanes_store(out + i,
                           mf_lanes_of(mf_ints_of_i8(blocks + 2 + i)) * scale);
    }
}

static void encode_block(const float *row, float inverse, uint8_t *numbers)
{
    mf_ints lanes[BLOCK / MF_LANES];

    for (size_t i = 0; i < BLOCK / MF_LANES; i++)
        lanes[i] = mf_lanes_clamp(
            mf_lanes_away(mf_lanes_load(row + i * MF_LANES) * inverse), -127,
            127);
    mf_i8_of_ints(lanes, numbers);
    mf_i8_of_ints(lanes + 16 / MF_LANES, numbers + 16);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (size_t left = columns / BLOCK, count; left > 0; left -= count) {
        float scales[MF_GROUP] = { 0 }, inverses[MF_GROUP];

        count = left < MF_GROUP ? left : MF_GROUP;
        for (size_t i = 0; i < count; i++)
            scales[i] = mf_largest(row + i * BLOCK, BLOCK);
        mf_group_scales(scales, inverses, 127);
        for (size_t i = 0; i < count; i++, row += BLOCK, blocks += BYTES) {
            mf_store_scale(blocks, scales[i]);
            encode_block(row, inverses[i], blocks + 2);
        }
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    mf_store_scale(block, parts->unit[0]);
    for (size_t i = 0; i < BLOCK; i++)
        block[2 + i] = (uint8_t)(parts->code[i] - 127);
}

static const mf_depths depths = MF_DEPTHS_ALIKE(
    { .scales = 3, .scale_step = 8 }, { .scales = 6, .scale_step = 6 },
    { .scales = 200, .scale = -2, .scale_step = 1 });

static const struct mf_makeup makeup = {
    .bytes = BYTES,
    .block_size = BLOCK,
    .block_count = 1,
    .numbers = MF_NUMBERS_WHOLE,
    .low = -127,
    .high = 127,
    .by_halves = true,
    .load = mf_parts_load_scale,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(q8_0) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
