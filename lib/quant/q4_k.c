/* SPDX-License-Identifier: MIT
 *
 * q4_k.c - Q4_K: eight blocks of 32 codes of 4 bits
 *
 * A super-block: its scales and minimums (k6bit.h), then 128 bytes of codes,
 * those of an even block in the lower halves of 32 bytes, those of the next in
 * the upper ones.
 */
#include "lib/quant/k6bit.h"
#include "lib/quant/quant.h"

enum { CODES = MF_6BIT, BLOCK = 144 };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK) {
        const uint8_t *code = blocks + CODES;
        float scale[8], minimum[8];

        mf_6bit_load(blocks, scale, minimum);
        for (int i = 0; i < 8; i += 2, code += 32, out += 64)
            for (int j = 0; j < 32; j += MF_LANES) {
                mf_ints both = mf_ints_of_u8(code + j);
                mf_floats low = mf_lanes_of(both & 15);
                mf_floats high = mf_lanes_of(both >> 4);

                mf_lanes_store(out + j, scale[i] * low - minimum[i]);
                mf_lanes_store(out + 32 + j,
                               scale[i + 1] * high - minimum[i + 1]);
            }
    }
}

static void write_codes(const uint8_t code[MF_K], uint8_t *out)
{
    for (size_t j = 0; j < MF_K; j += 64)
        for (size_t k = 0; k < 32; k++)
            out[CODES + j / 2 + k] =
                (uint8_t)(code[j + k] | code[j + k + 32] << 4);
}

static void write_block(const struct mf_batch *batch, size_t i,
                        const struct mf_k_multiples *found, uint8_t *out)
{
    uint8_t code[MF_K];

    mf_6bit_write(batch, i, found, 15.0f, out, code);
    write_codes(code, out);
}

static const struct mf_k_affine type = {
    .bytes = BLOCK,
    .block_size = 32,
    .top = 63.0f,
    .bound = 63,
    .weighted_bound = 255,
    .mean = true,
    .importance = 2.0f,
    .plain = { 32, 15.0f, -1.0f, 0.1f, 21, false },
    .weighted = { 32, 15.0f, -0.9f, 0.05f, 37, false },
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
                                    { .scales = 12,
                                      .minimums = 12,
                                      .units = 1,
                                      .rounds = 2,
                                      .near = 1,
                                      .scale = 860,
                                      .scale_step = 18,
                                      .minimum = -700,
                                      .minimum_step = 80 },
                                    { .scales = 32,
                                      .minimums = 24,
                                      .units = 8,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 800,
                                      .scale_step = 10,
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
                                    { .scales = 20,
                                      .minimums = 16,
                                      .units = 2,
                                      .rounds = 4,
                                      .near = 1,
                                      .scale = 810,
                                      .scale_step = 14,
                                      .minimum = -1100,
                                      .minimum_step = 85,
                                      .unit_step = 50 },
                                    { .scales = 32,
                                      .minimums = 32,
                                      .units = 8,
                                      .rounds = 3,
                                      .near = 2,
                                      .scale = 760,
                                      .scale_step = 10,
                                      .minimum = -1200,
                                      .minimum_step = 50,
                                      .unit_step = 20 } } };

static const struct mf_makeup makeup = MF_6BIT_MAKEUP(BLOCK, 15);

const struct mf_codec MF_CODEC(q4_k) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
