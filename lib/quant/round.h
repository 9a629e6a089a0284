/* SPDX-License-Identifier: MIT
 *
 * round.h - the nearest whole number, as the reference's searches find it
 */
#ifndef MF_LIB_QUANT_ROUND_H
#define MF_LIB_QUANT_ROUND_H

#include <math.h>
#include <stdbool.h>

#define MF_WIDE_LANES
#include "lib/quant/lanes.h"

static inline mf_floats mf_lanes_abs(mf_floats a)
{
    return (mf_floats)((mf_ints)a & 0x7fffffff);
}

static inline bool mf_ints_every(mf_ints mask)
{
    return mf_lanes_signs(mask) == (1u << MF_LANES) - 1;
}

/* ---- rounding to whole numbers */

/* 3 * 2^22.  Added to a number between -2^22 and 2^22 it leaves that, rounded,
 * in the lower half of the bits: the last place of the sum is 1. */
#define MF_ROUND 12582912.0f
#define MF_NEAR  4194303.0f

/* The whole number nearest to value, plus MF_ROUND.  Value does not exceed
 * MF_NEAR, or is a NaN, which stays one. */
static inline mf_floats mf_lanes_round(mf_floats value)
{
    return value + MF_ROUND;
}

/* The same for any number.  Out of range it is what the last 23 bits of the sum
 * happen to hold: so it is in the reference, whose searches come to such
 * values. */
static inline mf_floats mf_lanes_round_far(mf_floats value)
{
    mf_ints sum = (mf_ints)mf_lanes_round(value);

    return (mf_floats)((sum & 0x007fffff) | 0x4b000000);
}

/* The same; a NaN is 0. */
static inline mf_floats mf_lanes_round_any(mf_floats value)
{
    mf_ints number = value == value;

    return mf_lanes_round_far(
        mf_lanes_select(number, value, mf_lanes_all(0.0f)));
}

/* What one of these has made, between low and high; of a NaN, low. */
static inline mf_floats mf_lanes_clamp_round(mf_floats round, float low,
                                             float high)
{
    round = mf_lanes_max(round, mf_lanes_all(MF_ROUND + low));
    round = mf_lanes_min(round, mf_lanes_all(MF_ROUND + high));
    return round - MF_ROUND;
}

/* The same, as how far it is above low: what the last bits differ by. */
static inline mf_ints mf_lanes_clamp_above(mf_floats round, float low,
                                           float high)
{
    round = mf_lanes_max(round, mf_lanes_all(MF_ROUND + low));
    round = mf_lanes_min(round, mf_lanes_all(MF_ROUND + high));
    return (mf_ints)round - (mf_ints)mf_lanes_all(MF_ROUND + low);
}

/* The whole number nearest to value, which does not exceed MF_NEAR. */
static inline mf_floats mf_lanes_whole(mf_floats value)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_roundscale_ps(
        (__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif MF_LANES == 8
    return (mf_floats)_mm256_round_ps((__m256)value, _MM_FROUND_TO_NEAREST_INT |
                                                         _MM_FROUND_NO_EXC);
#else
    return mf_lanes_round(value) - MF_ROUND;
#endif
}

/* The larger of value and 0.  Floats above 0 are in the order of their bits. */
static inline mf_floats mf_lanes_not_below_0(mf_floats value)
{
#if MF_LANES == 4
    return mf_lanes_max(value, mf_lanes_all(0.0f));
#else
    return (mf_floats)mf_ints_max((mf_ints)value, mf_ints_all(0));
#endif
}

/* The smaller of value and high, of which neither is below 0. */
static inline mf_floats mf_lanes_not_above(mf_floats value, float high)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_min_epi32((__m512i)value,
                                       (__m512i)mf_lanes_all(high));
#elif MF_LANES == 8
    return (mf_floats)_mm256_min_epi32((__m256i)value,
                                       (__m256i)mf_lanes_all(high));
#else
    return mf_lanes_min(value, mf_lanes_all(high));
#endif
}

/* Whole numbers from 0 to 255. */
static inline void mf_lanes_store_bytes(uint8_t *at, mf_floats value)
{
    mf_ints number = __builtin_convertvector(value, mf_ints);
#if MF_LANES == 16
    _mm_storeu_si128((__m128i *)(void *)at,
                     _mm512_cvtepi32_epi8((__m512i)number));
#elif MF_LANES == 8
    __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128((__m256i)number),
                         _mm256_extracti128_si256((__m256i)number, 1));

    _mm_storel_epi64((__m128i *)(void *)at, _mm_packus_epi16(words, words));
#elif defined(__SSE2__)
    __m128i words = _mm_packs_epi32((__m128i)number, (__m128i)number);
    int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));

    memcpy(at, &four, sizeof(four));
#else
    for (int i = 0; i < MF_LANES; i++)
        at[i] = (uint8_t)number[i];
#endif
}

#endif
