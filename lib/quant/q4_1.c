/* SPDX-License-Identifier: MIT
 *
 * q4_1.c - 32 numbers of 4 bits, a scale and a minimum
 *
 * half scale, half minimum, 16 bytes of numbers as in nibbles.h;
 * number * scale + minimum.
 */
#include "lib/quant/quant.h"
#include "lib/quant/shifted.h"

static const struct mf_shifted type = { 20, 15, mf_nibbles_load,
                                        mf_nibbles_store };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    mf_shifted_decode(&type, blocks, out, columns);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    if (weights)
        mf_shifted_encode_weighted(&type, row, weights, blocks, columns);
    else
        mf_shifted_encode(&type, row, blocks, columns);
}

const struct mf_codec MF_CODEC(q4_1) = { decode, encode };
