/* SPDX-License-Identifier: MIT
 *
 * small.h - floats of 8 bits
 */
#ifndef MF_LIB_QUANT_SMALL_H
#define MF_LIB_QUANT_SMALL_H

#include "lib/quant/fp16.h"

/* Four bits of exponent, three below, without sign: the code's lower 7 bits,
 * with the bias of exponents of 127 - shift.  Every code is a number. */
static inline float mf_e4m3(uint32_t code, uint32_t shift)
{
    uint32_t rest = (code & 0x7f) << 20;
    /* Subnormal: with an exponent of 1 before them the bits are too large by
     * just that. */
    float one = mf_float_of_bits((shift + 1) << 23);
    float small = mf_float_of_bits(rest + ((shift + 1) << 23)) - one;

    return code & 0x78 ? mf_float_of_bits(rest + (shift << 23)) : small;
}

#endif
