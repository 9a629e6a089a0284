/* SPDX-License-Identifier: MIT
 *
 * scaled.h - blocks of 32 numbers and a scale: q4_0 and q5_0
 *
 * half scale, then the numbers; (number - zero) * scale, where numbers go from
 * 0 to 2 * zero - 1.
 */
#ifndef MF_LIB_QUANT_SCALED_H
#define MF_LIB_QUANT_SCALED_H

#include "lib/quant/batch.h"
#include "lib/quant/extremes.h"
#include "lib/quant/nibbles.h"
#include "lib/quant/parts.h"
#include "lib/quant/scale.h"

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

/* Numbers of a block with what the search found. */
static inline void mf_scaled_found(const struct mf_scaled *type,
                                   const float *row, float code_scale,
                                   uint8_t *out)
{
    float zero = (float)type->zero;
    mf_ints numbers[32 / MF_LANES];

    for (size_t i = 0; i < 32 / MF_LANES; i++) {
        mf_floats x = mf_lanes_load(row + i * MF_LANES);

        x = mf_lanes_clamp_round(mf_lanes_round(code_scale * x), -zero,
                                 zero - 1);
        numbers[i] = mf_lanes_truncate(x + zero);
    }
    type->store(numbers, out);
}

static inline void mf_scaled_encode_weighted(const struct mf_scaled *type,
                                             const float *row,
                                             const float *weights,
                                             uint8_t *blocks, size_t columns)
{
    float variance = mf_mean_square(row, columns);
    struct mf_row x[32], weight[32];
    struct mf_batch batch;
    struct mf_scale search;

    mf_batch_begin(&batch, row, weights, 32, 1);
    mf_scale_begin(&search, 32, (float)type->zero, x, weight);
    for (size_t left = columns / 32; left > 0; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_ABREAST);
        for (size_t i = 0; i < batch.count; i++)
            batch.variance[i] = variance;
        mf_batch_load(&batch, 0, batch.row, x);
        mf_batch_weigh(&batch, 0, x, weight);
        mf_scale_search(&search);
        mf_row_store(batch.scale, search.scale);
        mf_row_store(batch.code_scale, search.code_scale);
        for (size_t i = 0; i < batch.count; i++, blocks += type->bytes) {
            mf_store_scale(blocks, mf_one_nan(batch.scale[i]));
            mf_scaled_found(type, batch.row + 32 * i, batch.code_scale[i],
                            blocks + 2);
        }
    }
}

/* ---- a search */

#define MF_SCALED_MAKEUP(size, zero)                                           \
    {                                                                          \
        .bytes = (size), .block_size = 32, .block_count = 1,                   \
        .numbers = MF_NUMBERS_WHOLE, .low = -(zero), .high = (zero)-1,         \
        .load = mf_parts_load_scale, .store = store, .depths = &depths         \
    }

static inline void mf_scaled_store(const struct mf_scaled *type,
                                   const struct mf_parts *parts, uint8_t *block)
{
    mf_store_scale(block, parts->unit[0]);
    mf_parts_store(parts, type->store, block + 2);
}

#endif
