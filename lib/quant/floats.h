/* SPDX-License-Identifier: MIT
 *
 * floats.h - the bits of floats; halves and bfloat16 to floats and back
 *
 * Rounding is to the nearest, ties to even.  Without a branch, so that loops
 * over these become vector code; and without arithmetic on subnormal floats, so
 * that a processor set to flush them gives the same numbers.
 */
#ifndef MF_LIB_QUANT_FLOATS_H
#define MF_LIB_QUANT_FLOATS_H

#include "lib/base/little.h"

static inline uint32_t mf_float_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float mf_float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A half has 5 bits of exponent with bias 15, and 10 bits below; a float has 8
 * with bias 127, and 23.  Shifted by 13 the parts stand in place, and the
 * exponent lacks 112. */
#define MF_HALF_EXPONENT (UINT32_C(0x1f) << 23)
#define MF_HALF_BIAS     (UINT32_C(112) << 23)

/* Every bit pattern; a signaling NaN becomes a quiet one. */
static inline float mf_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
    uint32_t exponent = rest & MF_HALF_EXPONENT;
    uint32_t quiet = rest > MF_HALF_EXPONENT ? UINT32_C(1) << 22 : 0;
    uint32_t finite = rest + MF_HALF_BIAS;
    uint32_t infinite = finite + MF_HALF_BIAS;
    /* Subnormal: with the exponent of 2^-14 before them the bits are too large
     * by just that. */
    float small =
        mf_float_of_bits(rest + MF_HALF_BIAS + (UINT32_C(1) << 23)) - 0x1p-14f;
    uint32_t normal = exponent == MF_HALF_EXPONENT ? infinite | quiet : finite;

    return mf_float_of_bits(sign | (exponent ? normal : mf_float_bits(small)));
}

/* Every NaN becomes 0x7e00, with its sign. */
static inline uint16_t mf_float_to_half(float value)
{
    uint32_t bits = mf_float_bits(value);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t rest = bits & 0x7fffffff;
    /* Adding 0xfff, or 0x1000 to an odd one, carries into what is kept where
     * what is cut is more than a half of it, or just that. */
    uint32_t normal = (rest - MF_HALF_BIAS + 0xfff + (rest >> 13 & 1)) >> 13;
    /* Below 2^-14 steps are 2^-24, which is the last bit of 0.5. */
    uint32_t small =
        mf_float_bits(mf_float_of_bits(rest) + 0.5f) - mf_float_bits(0.5f);
    uint32_t half = rest < UINT32_C(0x38800000) ? small : normal;

    half = rest >= UINT32_C(0x47800000) ? 0x7c00 : half; /* 65536 */
    half = rest > UINT32_C(0x7f800000) ? 0x7e00 : half;
    return (uint16_t)(sign | half);
}

static inline float mf_bfloat_to_float(uint16_t bfloat)
{
    return mf_float_of_bits((uint32_t)bfloat << 16);
}

/* A NaN keeps its upper bits and becomes quiet. */
static inline uint16_t mf_float_to_bfloat(float value)
{
    uint32_t bits = mf_float_bits(value);
    uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    uint32_t quiet = bits | UINT32_C(1) << 22;

    bits = (bits & 0x7fffffff) > UINT32_C(0x7f800000) ? quiet : rounded;
    return (uint16_t)(bits >> 16);
}

/* The one NaN that scales and searches know, which is x86's inf - inf: the
 * result of two of them does not depend on which the compiler names first. */
#define MF_NAN_BITS UINT32_C(0xffc00000)

static inline float mf_one_nan(float value)
{
    return value == value ? value : mf_float_of_bits(MF_NAN_BITS);
}

#endif
