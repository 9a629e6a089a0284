/* SPDX-License-Identifier: MIT
 *
 * mxfp4.c - 32 floats of 4 bits and a power of two
 *
 * uint8 exponent, 16 bytes of numbers as in nibbles.h;
 * number * 2^(exponent - 127).
 */
#include <float.h>

#include "lib/quant/e2m1.h"
#include "lib/quant/quant.h"

#define BLOCK 32
#define BYTES 17

/* Half of 2^(exponent - 127); the lowest two are subnormal floats. */
static float half_of_power(uint8_t exponent)
{
    uint32_t bits = exponent < 2 ? UINT32_C(0x00200000) << exponent
                                 : (uint32_t)(exponent - 1) << 23;

    return mf_float_of_bits(bits);
}

/* floor(log2f(value)), with log2f rounded as it should be: just below 2^k that
 * is k.  Where a float lacks n of its last bits to 2^k its logarithm lacks
 * n * 2^-24 / ln 2; floats below k, or -k, are 2^-23 times the largest power of
 * two apart that is not above k - 1, or -k. */
static int32_t floor_of_log2(float value)
{
    uint32_t bits = mf_float_bits(value);
    int32_t k = (int32_t)(bits >> 23) - 126;
    uint32_t lacks = 0x00800000 - (bits & 0x007fffff);
    uint32_t size = (uint32_t)(k > 0 ? k - 1 : -k);
    uint32_t step = size > 0 ? UINT32_C(1) << (31 - __builtin_clz(size)) : 0;

    return (float)lacks < (float)step * 0.69314718f ? k : k - 1;
}

/* So that the largest number is 4 to 7.99; 6 is what there is at most. */
static uint8_t exponent_of(float largest)
{
    int32_t exponent;

    if (largest == 0)
        return 0;
    if (!(largest <= FLT_MAX))
        return 255; /* NaN */
    exponent = floor_of_log2(largest) - 2 + 127;
    return (uint8_t)(exponent > 0 ? exponent : 0);
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, out += BLOCK) {
        float scale = half_of_power(blocks[0]);
        mf_ints codes[BLOCK / MF_LANES];

        mf_nibbles_load(blocks + 1, codes);
        for (size_t i = 0; i < BLOCK / MF_LANES; i++)
            mf_lanes_store(out + i * MF_LANES,
                           mf_e2m1_decode(codes[i]) * scale);
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, row += BLOCK) {
        struct mf_e2m1 to;
        mf_ints codes[BLOCK / MF_LANES];

        blocks[0] = exponent_of(mf_largest(row, BLOCK));
        to = mf_e2m1_middles(half_of_power(blocks[0]));
        for (size_t i = 0; i < BLOCK / MF_LANES; i++)
            codes[i] = mf_e2m1_encode(mf_lanes_load(row + i * MF_LANES), &to);
        mf_nibbles_store(codes, blocks + 1);
    }
}

const struct mf_codec MF_CODEC(mxfp4) = { .decode = decode,
                                          .encode = MF_ENCODER(encode) };
