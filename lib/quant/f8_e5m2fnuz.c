/* SPDX-License-Identifier: MIT
 *
 * f8_e5m2fnuz.c - five bits of exponent with bias 16, two below
 *
 * No infinities and no negative zero: its code is the one that is no number.
 */
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        uint32_t code = blocks[i];
        uint32_t none = code == 0x80 ? 0x7fc00000 : 0;

        out[i] =
            mf_float_of_bits(mf_float_bits(mf_small_float(code, 2, 16)) | none);
    }
}

const struct mf_codec MF_CODEC(f8_e5m2fnuz) = { decode, NULL };
