/* SPDX-License-Identifier: MIT
 *
 * scaled.h - blocks of 32 numbers and a scale: q4_0 and q5_0
 *
 * half scale, then the numbers; (number - zero) * scale, where numbers go from
 * 0 to 2 * zero - 1.
 */
#ifndef MF_LIB_QUANT_SCALED_H
#define MF_LIB_QUANT_SCALED_H

#include "lib/quant/extremes.h"
#include "lib/quant/nibbles.h"
#include "lib/quant/search.h"

/* What is constant in a codec, and so to the compiler once all is inline. */
struct mf_scaled {
    size_t bytes; /* of a block */
    int32_t zero;
    void (*load)(const uint8_t *at, mf_ints *numbers);
    void (*store)(const mf_ints *numbers, uint8_t *at);
};

static inline void mf_scaled_decode(const struct mf_scaled *type,
                                    const uint8_t *blocks, float *out,
                                    size_t columns)
{
    for (; columns > 0; columns -= 32, blocks += type->bytes, out += 32) {
        float scale = mf_load_scale(blocks);
        mf_ints numbers[32 / MF_LANES];

        type->load(blocks + 2, numbers);
        for (size_t i = 0; i < 32 / MF_LANES; i++)
            mf_lanes_store(out + i * MF_LANES,
                           mf_lanes_of(numbers[i] - type->zero) * scale);
    }
}

static inline void mf_scaled_block(const struct mf_scaled *type,
                                   const float *row, float inverse,
                                   uint8_t *out)
{
    float zero = (float)type->zero;
    mf_ints numbers[32 / MF_LANES];

    for (size_t i = 0; i < 32 / MF_LANES; i++)
        numbers[i] = mf_lanes_clamp(
            mf_lanes_load(row + i * MF_LANES) * inverse + (zero + 0.5f), 0,
            2 * zero - 1);
    type->store(numbers, out);
}

/* The farthest number becomes -zero, so that its side has all the numbers. */
static inline void mf_scaled_encode(const struct mf_scaled *type,
                                    const float *row, uint8_t *blocks,
                                    size_t columns)
{
    for (size_t left = columns / 32, count; left > 0; left -= count) {
        float scales[MF_GROUP] = { 0 }, inverses[MF_GROUP];

        count = left < MF_GROUP ? left : MF_GROUP;
        for (size_t i = 0; i < count; i++)
            scales[i] = mf_farthest_32(row + i * 32);
        mf_group_scales(scales, inverses, (float)-type->zero);
        for (size_t i = 0; i < count; i++, row += 32, blocks += type->bytes) {
            mf_store_scale(blocks, scales[i]);
            mf_scaled_block(type, row, inverses[i], blocks + 2);
        }
    }
}

static inline void mf_scaled_encode_weighted(const struct mf_scaled *type,
                                             const float *row,
                                             const float *weights,
                                             uint8_t *blocks, size_t columns)
{
    float mean_square = mf_mean_square(row, columns);
    mf_ints numbers[32], block[32 / MF_LANES];
    struct mf_blocks_32 b;

    for (size_t left = columns / 32, count; left > 0; left -= count) {
        mf_floats scales;

        count = left < MF_LANES ? left : MF_LANES;
        mf_blocks_load(&b, row, weights, count, mean_square);
        scales = mf_search_scale(&b, (float)type->zero, numbers);
        for (size_t i = 0; i < count; i++, blocks += type->bytes) {
            mf_store_scale(blocks, scales[i]);
            mf_blocks_numbers(numbers, i, block);
            type->store(block, blocks + 2);
        }
        row += 32 * count;
        weights += 32 * count;
    }
}

#endif
