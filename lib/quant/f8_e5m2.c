/* SPDX-License-Identifier: MIT
 *
 * f8_e5m2.c - five bits of exponent, two below: the upper byte of a half
 */
#include "lib/quant/floats.h"
#include "lib/quant/quant.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        out[i] = mf_half_to_float((uint16_t)(blocks[i] << 8));
}

const struct mf_codec MF_CODEC(f8_e5m2) = { .decode = decode };
