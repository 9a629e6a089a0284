/* SPDX-License-Identifier: MIT
 *
 * shifted.h - blocks of 32 numbers, a scale and a minimum: q4_1 and q5_1
 *
 * half scale, half minimum, then the numbers; number * scale + minimum.
 */
#ifndef MF_LIB_QUANT_SHIFTED_H
#define MF_LIB_QUANT_SHIFTED_H

#include "lib/quant/affine.h"
#include "lib/quant/batch.h"
#include "lib/quant/extremes.h"
#include "lib/quant/nibbles.h"
#include "lib/quant/parts.h"

/* What is constant in a codec, and so to the compiler once all is inline. */
struct mf_shifted {
    size_t bytes; /* of a block */
    float most;   /* the largest number */
    void (*load)(const uint8_t *at, mf_ints *numbers);
    void (*store)(const mf_ints *numbers, uint8_t *at);
};

static inline void mf_shifted_decode(const struct mf_shifted *type,
                                     const uint8_t *blocks, float *out,
                                     size_t columns)
{
    for (; columns > 0; columns -= 32, blocks += type->bytes, out += 32) {
        float scale = mf_load_scale(blocks);
        float minimum = mf_load_scale(blocks + 2);
        mf_ints numbers[32 / MF_LANES];

        type->load(blocks + 4, numbers);
        for (size_t i = 0; i < 32 / MF_LANES; i++)
            mf_lanes_store(out + i * MF_LANES,
                           mf_lanes_of(numbers[i]) * scale + minimum);
    }
}

static inline void mf_shifted_block(const struct mf_shifted *type,
                                    const float *row, float minimum,
                                    float inverse, uint8_t *out)
{
    mf_ints numbers[32 / MF_LANES];

    for (size_t i = 0; i < 32 / MF_LANES; i++) {
        mf_floats above = mf_lanes_load(row + i * MF_LANES) - minimum;

        numbers[i] = mf_lanes_clamp(above * inverse + 0.5f, 0, type->most);
    }
    type->store(numbers, out);
}

static inline void mf_shifted_encode(const struct mf_shifted *type,
                                     const float *row, uint8_t *blocks,
                                     size_t columns)
{
    for (size_t left = columns / 32, count; left > 0; left -= count) {
        float scales[MF_GROUP] = { 0 }, inverses[MF_GROUP], minima[MF_GROUP];

        count = left < MF_GROUP ? left : MF_GROUP;
        for (size_t i = 0; i < count; i++) {
            mf_bounds_32(row + i * 32, &minima[i], &scales[i]);
            scales[i] -= minima[i];
        }
        mf_group_scales(scales, inverses, type->most);
        for (size_t i = 0; i < count; i++, row += 32, blocks += type->bytes) {
            mf_store_scale(blocks, scales[i]);
            mf_store_scale(blocks + 2, minima[i]);
            mf_shifted_block(type, row, minima[i], inverses[i], blocks + 4);
        }
    }
}

/* Numbers of a block with what the search found. */
static inline void mf_shifted_found(const struct mf_shifted *type,
                                    const float *row, float code_scale,
                                    float code_minimum, uint8_t *out)
{
    mf_ints numbers[32 / MF_LANES];

    for (size_t i = 0; i < 32 / MF_LANES; i++) {
        mf_floats x = mf_lanes_load(row + i * MF_LANES) - code_minimum;

        x = mf_lanes_clamp_round(mf_lanes_round_any(code_scale * x), 0,
                                 type->most);
        numbers[i] = mf_lanes_truncate(x);
    }
    type->store(numbers, out);
}

static inline void mf_shifted_encode_weighted(const struct mf_shifted *type,
                                              const float *row,
                                              const float *weights,
                                              uint8_t *blocks, size_t columns)
{
    const struct mf_affine_trials trials = { 32,    type->most, -0.9f,
                                             0.05f, 37,         false };
    float variance = mf_mean_square(row, columns);
    struct mf_affine_rows rows;
    struct mf_batch batch;

    mf_batch_begin(&batch, row, weights, 32, 1);
    for (size_t left = columns / 32; left > 0; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_ABREAST);
        for (size_t i = 0; i < batch.count; i++)
            batch.variance[i] = variance;
        mf_batch_load(&batch, 0, batch.row, rows.x);
        mf_batch_weigh(&batch, 0, rows.x, rows.weight);
        mf_affine_search(&trials, &rows, &batch, 0);
        for (size_t i = 0; i < batch.count; i++, blocks += type->bytes) {
            mf_store_scale(blocks, mf_one_nan(batch.scale[i]));
            mf_store_scale(blocks + 2, mf_one_nan(-batch.minimum[i]));
            mf_shifted_found(type, batch.row + 32 * i, batch.code_scale[i],
                             batch.code_minimum[i], blocks + 4);
        }
    }
}

/* ---- a search */

static const mf_depths mf_shifted_depths = {
    { { .scales = 1, .minimums = 1, .scale = 30, .minimum = 30 },
      { .scales = 2,
        .minimums = 1,
        .scale = 10,
        .scale_step = 40,
        .minimum = 30 },
      { .scales = 12,
        .minimums = 12,
        .rounds = 1,
        .scale = -20,
        .scale_step = 12,
        .minimum = -20,
        .minimum_step = 12 } },
    { { .scales = 6,
        .minimums = 6,
        .scale = -20,
        .scale_step = 30,
        .minimum = -20,
        .minimum_step = 30 },
      { .scales = 12,
        .minimums = 12,
        .rounds = 1,
        .scale = -40,
        .scale_step = 20,
        .minimum = -40,
        .minimum_step = 20 },
      { .scales = 32,
        .minimums = 32,
        .rounds = 2,
        .scale = -60,
        .scale_step = 10,
        .minimum = -60,
        .minimum_step = 10 } }
};

#define MF_SHIFTED_MAKEUP(size, most)                                          \
    {                                                                          \
        .bytes = (size), .block_size = 32, .block_count = 1,                   \
        .numbers = MF_NUMBERS_SHIFTED, .high = (most),                         \
        .load = mf_parts_load_scale, .store = store,                           \
        .depths = &mf_shifted_depths                                           \
    }

static inline void mf_shifted_store(const struct mf_shifted *type,
                                    const struct mf_parts *parts,
                                    uint8_t *block)
{
    mf_store_scale(block, parts->unit[0]);
    mf_store_scale(block + 2, -parts->unit[1]);
    mf_parts_store(parts, type->store, block + 4);
}

#endif
