/* SPDX-License-Identifier: MIT
 *
 * q5_1.c - 32 numbers of 5 bits, a scale and a minimum
 *
 * half scale, half minimum, 4 bytes of fifth bits and 16 of the others as in
 * nibbles.h; number * scale + minimum.
 */
#include "lib/quant/quant.h"
#include "lib/quant/shifted.h"

static const struct mf_shifted type = { 24, 31, mf_fives_load, mf_fives_store };

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

const struct mf_codec MF_CODEC(q5_1) = { decode, encode };
