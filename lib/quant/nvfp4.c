/* SPDX-License-Identifier: MIT
 *
 * nvfp4.c - 64 floats of 4 bits and four scales of 8 bits
 *
 * uint8 scale[4], uint8 pair[32]: of the 16 numbers of scale k, number i is the
 * low half of pair 8 * k + i, number 8 + i the high half; number * scale.  A
 * scale has four bits of exponent with bias 7 and three below, and no sign.
 */
#include <float.h>
#include <stdbool.h>

#include "lib/quant/e2m1.h"
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

#define BLOCK  64
#define BYTES  36
#define SCALES 4
#define NONE   0x7f           /* a scale of NaN */
#define MOST   0x7e           /* 448 */
#define HALF   (8 / MF_LANES) /* vectors of 8 numbers */

/* Half of what a code means, which is a bias of 8 instead of 7. */
static float half_of_scale(uint8_t code)
{
    return code == NONE ? 0 : mf_small_magnitude(code, 3, 8);
}

/* As ggml rounds it: halves go up, what would need the highest exponent is the
 * largest scale, and below 2^-6, where steps are 2^-9, the 8th is cut off. */
static uint8_t scale_of(float largest)
{
    float value = largest / 6; /* so that it becomes 6, the largest number */
    int32_t steps;

    if (!(value <= FLT_MAX))
        return NONE;
    if (value >= 248)
        return MOST;
    if (value >= 0x1p-6f)
        return (uint8_t)(((mf_float_bits(value) + 0x80000) >> 20) -
                         ((127 - 7) << 3));
    steps = (int32_t)(value * 512 + 0.5f);
    return (uint8_t)(steps < 7 ? steps : 7);
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES)
        for (size_t k = 0; k < SCALES; k++, out += 16) {
            const uint8_t *pairs = blocks + SCALES + 8 * k;
            float scale = half_of_scale(blocks[k]);

            for (size_t i = 0; i < 8; i += MF_LANES) {
                mf_ints pair = mf_ints_of_u8(pairs + i);

                mf_lanes_store(out + i, mf_e2m1_decode(pair & 15) * scale);
                mf_lanes_store(out + 8 + i, mf_e2m1_decode(pair >> 4) * scale);
            }
        }
}

/* As mf_e2m1_encode, where numbers are so much larger than the scale that their
 * distances from two neighbours may be the same float: the first one wins. */
static mf_ints encode_far(mf_floats value, float scale)
{
    mf_ints bits = (mf_ints)value, code = mf_ints_all(0);
    mf_floats magnitude = (mf_floats)(bits & 0x7fffffff), best = magnitude;

    for (int i = 1; i < 8; i++) {
        mf_floats miss = mf_e2m1_numbers[i] * scale - magnitude;
        mf_ints better;

        miss = (mf_floats)((mf_ints)miss & 0x7fffffff);
        better = miss < best;
        best = mf_lanes_select(better, miss, best);
        code = (code & ~better) | (better & i);
    }
    return code + ((code > 0) & (bits >> 31) & 8);
}

/* 16 numbers into 8 pairs. */
static void encode_part(const float *row, float largest, float scale,
                        mf_ints *pairs)
{
    struct mf_e2m1 to = mf_e2m1_middles(scale);
    bool far = largest > scale * 0x1p20f && scale > 0;

    for (size_t i = 0; i < HALF; i++) {
        mf_floats low = mf_lanes_load(row + i * MF_LANES);
        mf_floats high = mf_lanes_load(row + 8 + i * MF_LANES);

        pairs[i] = far ? encode_far(low, scale) | encode_far(high, scale) << 4
                       : mf_e2m1_encode(low, &to) | mf_e2m1_encode(high, &to)
                                                        << 4;
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        mf_ints pairs[SCALES * HALF];

        for (size_t k = 0; k < SCALES; k++, row += 16) {
            float largest = mf_largest(row, 16);

            blocks[k] = scale_of(largest);
            encode_part(row, largest, half_of_scale(blocks[k]),
                        pairs + HALF * k);
        }
        mf_u8_of_ints(pairs, blocks + SCALES);
        mf_u8_of_ints(pairs + 2 * HALF, blocks + SCALES + 16);
    }
}

const struct mf_codec MF_CODEC(nvfp4) = { .decode = decode,
                                          .encode = MF_ENCODER(encode) };
