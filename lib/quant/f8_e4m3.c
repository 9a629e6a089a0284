/* SPDX-License-Identifier: MIT
 *
 * f8_e4m3.c - four bits of exponent with bias 7, three below; no infinities
 */
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        uint32_t code = blocks[i];
        uint32_t nan = (code & 0x7f) == 0x7f ? 0x7fc00000 : 0;

        out[i] =
            mf_float_of_bits(mf_float_bits(mf_small_float(code, 3, 7)) | nan);
    }
}

const struct mf_codec MF_CODEC(f8_e4m3) = { .decode = decode };
