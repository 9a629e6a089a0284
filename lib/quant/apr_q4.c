/* SPDX-License-Identifier: MIT
 *
 * apr_q4.c - APR's 32 numbers of 4 bits and a scale
 *
 * half scale, uint8 pair[16]: number 2 * i in the low half of pair i, number
 * 2 * i + 1 in the high half; (number - 8) * scale.  The last block may lack
 * numbers: their bits are 0.
 */
#include "lib/quant/apr.h"
#include "lib/quant/quant.h"

#define BLOCK MF_APR_BLOCK
#define BYTES 18

/* A scale that is subnormal, infinite or NaN counts as 0. */
static float load_scale(const uint8_t *at)
{
    uint16_t half = mf_little_16(at), exponent = half >> 10 & 31;

    return exponent == 0 || exponent == 31 ? 0 : mf_half_to_float(half);
}

static void decode_block(const uint8_t *block, float *out)
{
    float scale = load_scale(block);

    for (size_t i = 0; i < BLOCK / 2; i++) {
        out[2 * i] = (float)((block[2 + i] & 15) - 8) * scale;
        out[2 * i + 1] = (float)((block[2 + i] >> 4) - 8) * scale;
    }
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    float last[BLOCK];

    for (; columns >= BLOCK; columns -= BLOCK, blocks += BYTES, out += BLOCK)
        decode_block(blocks, out);
    if (columns > 0) {
        decode_block(blocks, last);
        memcpy(out, last, columns * sizeof(*out));
    }
}

static void encode_block(const float *values, uint8_t *block)
{
    float scale = mf_apr_scale(mf_apr_largest(values, mf_lanes_all(0)), 7);
    mf_ints numbers[BLOCK / MF_LANES];
    uint8_t bytes[BLOCK];

    for (size_t i = 0; i < BLOCK / MF_LANES; i++)
        numbers[i] = 8 + mf_apr_numbers(mf_lanes_load(values + i * MF_LANES),
                                        scale, -8, 7);
    mf_u8_of_ints(numbers, bytes);
    mf_u8_of_ints(numbers + 16 / MF_LANES, bytes + 16);
    mf_store_scale(block, scale);
    for (size_t i = 0; i < BLOCK / 2; i++)
        block[2 + i] = (uint8_t)(bytes[2 * i] | bytes[2 * i + 1] << 4);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    float padded[BLOCK];

    (void)weights;
    for (; columns >= BLOCK; columns -= BLOCK, blocks += BYTES, row += BLOCK)
        encode_block(row, blocks);
    if (columns == 0)
        return;
    encode_block(mf_apr_block(row, columns, padded), blocks);
    if (columns % 2)
        blocks[2 + columns / 2] &= 15;
    memset(blocks + 2 + (columns + 1) / 2, 0, (BLOCK - columns) / 2);
}

const struct mf_codec MF_CODEC(apr_q4) = { .decode = decode,
                                           .encode = MF_ENCODER(encode) };
