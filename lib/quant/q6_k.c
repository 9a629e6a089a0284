/* SPDX-License-Identifier: MIT
 *
 * q6_k.c - Q6_K: sixteen blocks of 16 codes of 6 bits
 *
 * A super-block: 128 bytes with the lower four bits of codes, 64 with their
 * upper two, a scale of 8 bits for each block, a half.  Every 128 codes have 64
 * bytes of the first: code i is in the lower half of byte i, code 64 + i in the
 * upper one.  They have 32 of the second, which hold codes i, 32 + i, 64 + i
 * and 96 + i, the first of these lowest.
 */
#include "lib/quant/kscale.h"
#include "lib/quant/quant.h"

enum { HIGH = 128, MULTIPLES = 192, UNIT = 208, BLOCK = 210 };

static void decode_part(const uint8_t *low, const uint8_t *high,
                        const float scale[8], float *out)
{
    for (size_t i = 0; i < 32; i += MF_LANES) {
        const float *s = scale + i / 16;
        mf_ints low0 = mf_ints_of_u8(low + i);
        mf_ints low1 = mf_ints_of_u8(low + 32 + i);
        mf_ints top = mf_ints_of_u8(high + i);
        mf_ints code[4] = { (low0 & 15) | (top & 3) << 4,
                            (low1 & 15) | (top & 12) << 2,
                            low0 >> 4 | (top & 48), low1 >> 4 | top >> 6 << 4 };

        for (size_t j = 0; j < 4; j++)
            mf_lanes_store(out + 32 * j + i,
                           s[2 * j] * mf_lanes_of(code[j] - 32));
    }
}

static void block_scales(const uint8_t *block, float scale[16])
{
    float unit = mf_load_scale(block + UNIT);

    for (size_t i = 0; i < 16; i++)
        scale[i] = unit * (float)(int8_t)block[MULTIPLES + i];
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK, out += MF_K) {
        float scale[16];

        block_scales(blocks, scale);
        decode_part(blocks, blocks + HIGH, scale, out);
        decode_part(blocks + 64, blocks + HIGH + 32, scale + 8, out + 128);
    }
}

/* Scales become multiples, of which the one farthest from 0 is -128.  Returns
 * false where all of them are next to nothing. */
static bool write_scales(const float *scale, uint8_t *out)
{
    const float farthest = mf_k_farthest(scale);
    float inverse = -128.0f / farthest;
    mf_ints multiple[16 / MF_LANES];

    if (fabsf(farthest) < MF_LEAST)
        return false;
    mf_store_scale(out + UNIT, 1.0f / inverse);
    for (size_t i = 0; i < 16 / MF_LANES; i++) {
        mf_floats by = inverse * mf_lanes_load(scale + i * MF_LANES);

        multiple[i] = (mf_ints)mf_lanes_round_any(by) & 0x007fffff;
        multiple[i] = -mf_ints_max(0x400000 - multiple[i], mf_ints_all(-127));
    }
    mf_i8_of_ints(multiple, out + MULTIPLES);
    return true;
}

static void write_codes(const uint8_t *code, uint8_t *low, uint8_t *high)
{
    for (size_t i = 0; i < 32; i++) {
        const uint8_t *c = code + i;

        low[i] = (uint8_t)((c[0] & 15) | c[64] << 4);
        low[32 + i] = (uint8_t)((c[32] & 15) | c[96] << 4);
        high[i] = (uint8_t)(c[0] >> 4 | c[32] >> 4 << 2 | c[64] >> 4 << 4 |
                            c[96] >> 4 << 6);
    }
}

/* Super-block number i of the batch. */
static void write_block(const struct mf_batch *batch, size_t i, uint8_t *out)
{
    float scale[16];
    uint8_t code[MF_K];

    memset(out, 0, BLOCK);
    if (!write_scales(batch->scale + 16 * i, out))
        return;
    block_scales(out, scale);
    for (size_t j = 0; j < 16; j++)
        mf_k_scale_codes(batch, 16 * i + j, scale[j], 32.0f, code + 16 * j);
    write_codes(code, out, out + HIGH);
    write_codes(code + 128, out + 64, out + HIGH + 32);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    struct mf_row x[MF_K_SCALE_SIZE], weight[MF_K_SCALE_SIZE];
    struct mf_batch batch;

    mf_batch_begin(&batch, row, weights, 16, 16);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_LANES);
        for (size_t i = 0; i < 16 * batch.count; i += MF_ABREAST) {
            mf_batch_load(&batch, i, batch.row, x);
            if (weights)
                mf_batch_load(&batch, i, batch.weights, weight);
            else
                mf_batch_squares(&batch, x, weight);
            mf_k_search_scale(&batch, i, 32.0f, x, weight);
        }
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK)
            write_block(&batch, i, blocks);
    }
}

static void load(const uint8_t *block, struct mf_parts *parts)
{
    parts->unit[0] = mf_load_scale(block + UNIT);
    parts->unit[1] = 0.0f;
    for (size_t i = 0; i < 16; i++) {
        parts->multiple[0][i] = (float)(int8_t)block[MULTIPLES + i];
        parts->multiple[1][i] = 0.0f;
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    mf_store_scale(block + UNIT, parts->unit[0]);
    for (size_t i = 0; i < 16; i++)
        block[MULTIPLES + i] = (uint8_t)(int8_t)parts->multiple[0][i];
    write_codes(parts->code, block, block + HIGH);
    write_codes(parts->code + 128, block + 64, block + HIGH + 32);
}

static const mf_depths depths = MF_DEPTHS_ALIKE({ .scales = 12,
                                                  .minimums = 1,
                                                  .units = 1,
                                                  .scale = 1000,
                                                  .scale_step = 10 },
                                                { .scales = 26,
                                                  .minimums = 1,
                                                  .units = 2,
                                                  .rounds = 1,
                                                  .near = 1,
                                                  .scale = 990,
                                                  .scale_step = 8,
                                                  .unit_step = 40 },
                                                { .scales = 80,
                                                  .minimums = 1,
                                                  .units = 12,
                                                  .rounds = 2,
                                                  .near = 2,
                                                  .scale = 970,
                                                  .scale_step = 4,
                                                  .unit_step = 10 });

static const struct mf_makeup makeup = {
    .bytes = BLOCK,
    .block_size = MF_K_SCALE_SIZE,
    .block_count = 16,
    .numbers = MF_NUMBERS_WHOLE,
    .low = -32,
    .high = 31,
    .least = -128,
    .most = 127,
    .load = load,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(q6_k) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
