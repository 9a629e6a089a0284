/* SPDX-License-Identifier: MIT
 *
 * q5_0.c - 32 numbers of 5 bits and a scale
 *
 * half scale, 4 bytes of fifth bits and 16 of the others as in nibbles.h;
 * (number - 16) * scale.
 */
#include "lib/quant/quant.h"
#include "lib/quant/scaled.h"

static const struct mf_scaled type = { 22, 16, mf_fives_load, mf_fives_store };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    mf_scaled_decode(&type, blocks, out, columns);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    if (weights)
        mf_scaled_encode_weighted(&type, row, weights, blocks, columns);
    else
        mf_scaled_encode(&type, row, blocks, columns);
}

const struct mf_codec MF_CODEC(q5_0) = { decode, encode };
