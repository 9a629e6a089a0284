/* SPDX-License-Identifier: MIT
 *
 * q2_k.c - Q2_K: sixteen blocks of 16 codes of 2 bits
 *
 * A super-block: for each block a byte, its scale below, its minimum above; 64
 * bytes of codes (mf_k_write_2bit); a half for scales, a half for minimums.
 */
#include "lib/quant/kaffine.h"
#include "lib/quant/quant.h"

enum { CODES = 16, UNITS = 80, BLOCK = 84 };

static void block_numbers(const uint8_t *block, float scale[16],
                          float minimum[16])
{
    float d = mf_load_scale(block + UNITS);
    float m = mf_load_scale(block + UNITS + 2);

    for (size_t i = 0; i < 16; i++) {
        scale[i] = d * (float)(block[i] & 15);
        minimum[i] = m * (float)(block[i] >> 4);
    }
}

static void decode_part(const uint8_t *codes, const float scale[8],
                        const float minimum[8], float *out)
{
    for (size_t i = 0; i < 32; i += MF_LANES) {
        mf_ints four = mf_ints_of_u8(codes + i);

        for (size_t j = 0; j < 4; j++, four >>= 2) {
            size_t block = 2 * j + i / 16;

            mf_lanes_store(out + 32 * j + i,
                           scale[block] * mf_lanes_of(four & 3) -
                               minimum[block]);
        }
    }
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK, out += MF_K) {
        float scale[16], minimum[16];

        block_numbers(blocks, scale, minimum);
        decode_part(blocks + CODES, scale, minimum, out);
        decode_part(blocks + CODES + 32, scale + 8, minimum + 8, out + 128);
    }
}

static void write_block(const struct mf_batch *batch, size_t i,
                        const struct mf_k_multiples *found, uint8_t *out)
{
    const uint8_t *scales = found->code[i];
    const uint8_t *minimums = found->code[MF_LANES + i];
    float scale[16], minimum[16];
    uint8_t code[MF_K];

    for (size_t j = 0; j < 16; j++)
        out[j] = (uint8_t)(scales[j] | minimums[j] << 4);
    mf_store_scale(out + UNITS, mf_one_nan(found->unit[i]));
    mf_store_scale(out + UNITS + 2, mf_one_nan(found->unit[MF_LANES + i]));
    block_numbers(out, scale, minimum);
    for (size_t j = 0; j < 16; j++)
        mf_k_affine_codes(batch, 16 * i + j, scale[j], minimum[j], 3.0f,
                          code + 16 * j);
    mf_k_write_2bit(code, out + CODES);
}

static const struct mf_k_affine type = {
    .bytes = BLOCK,
    .block_size = 16,
    .top = 15.0f,
    .bound = 255,
    .weighted_bound = 255,
    .mean = false,
    .importance = 1.0f,
    .plain = { 16, 3.0f, -0.5f, 0.1f, 16, true },
    .weighted = { 16, 3.0f, -0.9f, 0.05f, 37, false },
    .write = write_block,
};

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    mf_k_affine_encode(&type, row, weights, blocks, columns);
}

static void load(const uint8_t *block, struct mf_parts *parts)
{
    parts->unit[0] = mf_load_scale(block + UNITS);
    parts->unit[1] = mf_load_scale(block + UNITS + 2);
    for (size_t i = 0; i < 16; i++) {
        parts->multiple[0][i] = (float)(block[i] & 15);
        parts->multiple[1][i] = (float)(block[i] >> 4);
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    for (size_t i = 0; i < 16; i++)
        block[i] = (uint8_t)((int)parts->multiple[0][i] |
                             (int)parts->multiple[1][i] << 4);
    mf_store_scale(block + UNITS, parts->unit[0]);
    mf_store_scale(block + UNITS + 2, parts->unit[1]);
    mf_k_write_2bit(parts->code, block + CODES);
}

static const mf_depths depths = { { { .scales = 4,
                                      .minimums = 4,
                                      .units = 1,
                                      .rounds = 1,
                                      .near = 1,
                                      .scale = 850,
                                      .scale_step = 60,
                                      .minimum = -500,
                                      .minimum_step = 250 },
                                    { .scales = 10,
                                      .minimums = 8,
                                      .units = 1,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 800,
                                      .scale_step = 30,
                                      .minimum = -600,
                                      .minimum_step = 120 },
                                    { .scales = 30,
                                      .minimums = 20,
                                      .units = 8,
                                      .rounds = 4,
                                      .near = 3,
                                      .scale = 600,
                                      .scale_step = 20,
                                      .minimum = -900,
                                      .minimum_step = 60,
                                      .unit_step = 20 } },
                                  { { .scales = 6,
                                      .minimums = 6,
                                      .units = 1,
                                      .rounds = 1,
                                      .near = 1,
                                      .scale = 700,
                                      .scale_step = 60,
                                      .minimum = -700,
                                      .minimum_step = 200 },
                                    { .scales = 14,
                                      .minimums = 12,
                                      .units = 1,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 600,
                                      .scale_step = 40,
                                      .minimum = -900,
                                      .minimum_step = 100 },
                                    { .scales = 30,
                                      .minimums = 30,
                                      .units = 8,
                                      .rounds = 4,
                                      .near = 3,
                                      .scale = 500,
                                      .scale_step = 20,
                                      .minimum = -1200,
                                      .minimum_step = 60,
                                      .unit_step = 20 } } };

static const struct mf_makeup makeup = {
    .bytes = BLOCK,
    .block_size = 16,
    .block_count = 16,
    .numbers = MF_NUMBERS_SHIFTED,
    .high = 3,
    .most = 15,
    .most_minimum = 15,
    .load = load,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(q2_k) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
