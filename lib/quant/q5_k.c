/* SPDX-License-Identifier: MIT
 *
 * q5_k.c - Q5_K: eight blocks of 32 codes of 5 bits
 *
 * A super-block: its scales and minimums (k6bit.h), then 32 bytes of fifth
 * bits, bit i of each for block i, then 128 bytes with the other
 * four, those of an even block in the lower halves of 32 bytes, those of the
 * next in the upper ones.
 */
#include "lib/quant/k6bit.h"
#include "lib/quant/quant.h"

enum { HIGH = MF_6BIT, LOW = HIGH + 32, BLOCK = 176 };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK) {
        const uint8_t *code = blocks + LOW;
        float scale[8], minimum[8];

        mf_6bit_load(blocks, scale, minimum);
        for (int i = 0; i < 8; i += 2, code += 32, out += 64)
            for (int j = 0; j < 32; j += MF_LANES) {
                mf_ints both = mf_ints_of_u8(code + j);
                mf_ints fifth = mf_ints_of_u8(blocks + HIGH + j) >> i;
                mf_floats first = mf_lanes_of((both & 15) | (fifth & 1) << 4);
                mf_floats second = mf_lanes_of(both >> 4 | (fifth & 2) << 3);

                mf_lanes_store(out + j, scale[i] * first - minimum[i]);
                mf_lanes_store(out + 32 + j,
                               scale[i + 1] * second - minimum[i + 1]);
            }
    }
}

static void write_codes(const uint8_t code[MF_K], uint8_t *out)
{
    memset(out + HIGH, 0, 32);
    for (size_t j = 0; j < 8; j += 2)
        for (size_t k = 0; k < 32; k++) {
            uint8_t first = code[32 * j + k], second = code[32 * j + 32 + k];

            out[LOW + 16 * j + k] =
                (uint8_t)((first & 15) | (second & 15) << 4);
            out[HIGH + k] |= (uint8_t)((first >> 4 | second >> 4 << 1) << j);
        }
}

static void write_block(const struct mf_batch *batch, size_t i,
                        const struct mf_k_multiples *found, uint8_t *out)
{
    uint8_t code[MF_K];

    mf_6bit_write(batch, i, found, 31.0f, out, code);
    write_codes(code, out);
}

static const struct mf_k_affine type = {
    .bytes = BLOCK,
    .block_size = 32,
    .top = 63.0f,
    .bound = 63,
    .weighted_bound = 63,
    .mean = true,
    .importance = 2.0f,
    .plain = { 32, 31.0f, -0.5f, 0.1f, 16, false },
    .weighted = { 32, 31.0f, -0.9f, 0.05f, 37, false },
    .write = write_block,
};

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    mf_k_affine_encode(&type, row, weights, blocks, columns);
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    mf_6bit_store_parts(parts, block);
    write_codes(parts->code, block);
}

static const mf_depths depths = { { { .scales = 4,
                                      .minimums = 4,
                                      .units = 1,
                                      .rounds = 1,
                                      .near = 1,
                                      .scale = 950,
                                      .scale_step = 40,
                                      .minimum = -400,
                                      .minimum_step = 200 },
                                    { .scales = 14,
                                      .minimums = 12,
                                      .units = 1,
                                      .rounds = 2,
                                      .near = 2,
                                      .scale = 920,
                                      .scale_step = 13,
                                      .minimum = -600,
                                      .minimum_step = 80 },
                                    { .scales = 32,
                                      .minimums = 24,
                                      .units = 8,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 850,
                                      .scale_step = 8,
                                      .minimum = -800,
                                      .minimum_step = 50,
                                      .unit_step = 20 } },
                                  { { .scales = 8,
                                      .minimums = 8,
                                      .units = 1,
                                      .rounds = 1,
                                      .near = 1,
                                      .scale = 900,
                                      .scale_step = 25,
                                      .minimum = -600,
                                      .minimum_step = 100 },
                                    { .scales = 16,
                                      .minimums = 16,
                                      .units = 2,
                                      .rounds = 2,
                                      .near = 1,
                                      .scale = 840,
                                      .scale_step = 15,
                                      .minimum = -800,
                                      .minimum_step = 80,
                                      .unit_step = 50 },
                                    { .scales = 32,
                                      .minimums = 32,
                                      .units = 8,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 800,
                                      .scale_step = 8,
                                      .minimum = -1200,
                                      .minimum_step = 50,
                                      .unit_step = 20 } } };

static const struct mf_makeup makeup = MF_6BIT_MAKEUP(BLOCK, 31);

const struct mf_codec MF_CODEC(q5_k) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
