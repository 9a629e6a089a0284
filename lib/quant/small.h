/* SPDX-License-Identifier: MIT
 *
 * small.h - floats of 8 bits: a sign, an exponent, and what is left of 7 bits
 */
#ifndef MF_LIB_QUANT_SMALL_H
#define MF_LIB_QUANT_SMALL_H

#include "lib/quant/floats.h"

/* The magnitude of a code with so many bits below its exponent, and that bias.
 * Every code counts as finite; the caller replaces infinities and NaN. */
static inline float mf_small_magnitude(uint32_t code, int below, uint32_t bias)
{
    uint32_t rest = (code & 0x7f) << (23 - below);
    uint32_t lacking = (127 - bias) << 23; /* in a float's exponent */
    uint32_t one = lacking + (UINT32_C(1) << 23);
    /* Subnormal: with an exponent of 1 before them the bits are too large by
     * just that. */
    float small = mf_float_of_bits(rest + one) - mf_float_of_bits(one);

    return rest >> 23 ? mf_float_of_bits(rest + lacking) : small;
}

static inline float mf_small_float(uint32_t code, int below, uint32_t bias)
{
    uint32_t sign = (code & 0x80) << 24;
    uint32_t rest = mf_float_bits(mf_small_magnitude(code, below, bias));

    return mf_float_of_bits(sign | rest);
}

#endif
