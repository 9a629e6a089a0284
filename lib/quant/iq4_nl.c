/* SPDX-License-Identifier: MIT
 *
 * iq4_nl.c - IQ4_NL: 32 codes of 4 bits for numbers of a table
 *
 * half scale, 16 bytes of codes as in nibbles.h; scale * number.
 */
#include "lib/quant/iq4.h"
#include "lib/quant/parts.h"
#include "lib/quant/quant.h"

enum { BLOCK = 18 };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_IQ4_SIZE, blocks += BLOCK, out += MF_IQ4_SIZE)
        mf_iq4_decode(blocks + 2, mf_load_scale(blocks), out);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    struct mf_batch batch;

    mf_batch_begin(&batch, row, weights, MF_IQ4_SIZE, 1);
    for (size_t left = columns / MF_IQ4_SIZE; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_ABREAST);
        if (weights)
            mf_batch_square_sums(&batch);
        for (size_t i = 0; weights && i < batch.count; i++)
            batch.variance[i] *= 2.0f / MF_IQ4_SIZE;
        mf_iq4_search(&batch, 0);
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK) {
            float scale = batch.scale[i];

            mf_store_scale(blocks, mf_one_nan(scale));
            mf_iq4_write_codes(batch.row + MF_IQ4_SIZE * i,
                               scale != 0 ? 1.0f / scale : 0.0f, blocks + 2);
        }
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    mf_store_scale(block, parts->unit[0]);
    mf_parts_store(parts, mf_nibbles_store, block + 2);
}

static const mf_depths depths = MF_DEPTHS_ALIKE(
    { .scales = 8, .scale = 850, .scale_step = 50 },
    { .scales = 24, .rounds = 1, .scale = 750, .scale_step = 20 },
    { .scales = 128, .rounds = 2, .scale = 600, .scale_step = 6 });

static const struct mf_makeup makeup = {
    .bytes = BLOCK,
    .block_size = MF_IQ4_SIZE,
    .block_count = 1,
    .numbers = MF_NUMBERS_TABLE,
    .low = -127,
    .high = 113,
    .load = mf_parts_load_scale,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(iq4_nl) = { .decode = decode,
                                           .encode = MF_ENCODER(encode),
                                           MF_MAKEUP(makeup) };
