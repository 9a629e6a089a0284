/* SPDX-License-Identifier: MIT
 *
 * f8_e8m0.c - powers of two: an exponent with bias 127, and nothing else
 */
#include "lib/quant/floats.h"
#include "lib/quant/quant.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        /* 2^-127 is subnormal; 255 is NaN. */
        uint32_t bits = blocks[i] == 0     ? 0x00400000
                        : blocks[i] == 255 ? 0x7fc00000
                                           : (uint32_t)blocks[i] << 23;

        out[i] = mf_float_of_bits(bits);
    }
}

const struct mf_codec MF_CODEC(f8_e8m0) = { .decode = decode };
