/* SPDX-License-Identifier: MIT
 *
 * apr_q8.c - APR's numbers of 8 bits, and one scale for a tensor
 *
 * float scale, int8 number[]; number * scale.  A tensor without numbers has no
 * scale either.  A part of a tensor is decoded by putting the scale before it.
 */
#include "lib/quant/apr.h"
#include "lib/quant/quant.h"

#define BLOCK MF_APR_BLOCK
#define SCALE 4

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    float scale;

    if (columns == 0)
        return;
    scale = mf_little_float(blocks);
    for (size_t i = 0; i < columns; i++)
        out[i] = (float)(int8_t)blocks[SCALE + i] * scale;
}

static void encode_block(const float *values, float scale, uint8_t *out)
{
    mf_ints numbers[BLOCK / MF_LANES];

    for (size_t i = 0; i < BLOCK / MF_LANES; i++)
        numbers[i] = mf_apr_numbers(mf_lanes_load(values + i * MF_LANES), scale,
                                    -127, 127);
    mf_i8_of_ints(numbers, out);
    mf_i8_of_ints(numbers + 16 / MF_LANES, out + 16);
}

static float scale_of(const float *row, size_t columns)
{
    mf_floats most = mf_lanes_all(0);
    float padded[BLOCK];

    for (size_t i = 0; i < columns; i += BLOCK)
        most = mf_apr_largest(mf_apr_block(row + i, columns - i, padded), most);
    return mf_apr_scale(most, 127);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    float scale = scale_of(row, columns), padded[BLOCK];
    uint8_t last[BLOCK];

    (void)weights;
    if (columns == 0)
        return;
    mf_put_little_float(blocks, scale);
    blocks += SCALE;
    for (; columns >= BLOCK; columns -= BLOCK, row += BLOCK, blocks += BLOCK)
        encode_block(row, scale, blocks);
    if (columns == 0)
        return;
    encode_block(mf_apr_block(row, columns, padded), scale, last);
    memcpy(blocks, last, columns);
}

const struct mf_codec MF_CODEC(apr_q8) = { .decode = decode,
                                           .encode = MF_ENCODER(encode) };
