/* SPDX-License-Identifier: MIT
 *
 * bf16.c - bfloat16
 */
#include "lib/quant/floats.h"
#include "lib/quant/quant.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        out[i] = mf_bfloat_to_float(mf_little_16(blocks + 2 * i));
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (size_t i = 0; i < columns; i++)
        mf_put_little_16(blocks + 2 * i, mf_float_to_bfloat(row[i]));
}

const struct mf_codec MF_CODEC(bf16) = { .decode = decode,
                                         .encode = MF_ENCODER(encode) };
