/* SPDX-License-Identifier: MIT
 *
 * apr.h - what APR's own two types share
 *
 * A tensor is one row of them, whatever its shape.
 */
#ifndef MF_LIB_QUANT_APR_H
#define MF_LIB_QUANT_APR_H

#include "lib/quant/extremes.h"

/* Numbers that are encoded together; what is left of a row gets zeros. */
#define MF_APR_BLOCK 32

static inline const float *mf_apr_block(const float *row, size_t left,
                                        float *padded)
{
    if (left >= MF_APR_BLOCK)
        return row;
    memset(padded, 0, MF_APR_BLOCK * sizeof(*padded));
    memcpy(padded, row, left * sizeof(*padded));
    return padded;
}

/* The largest magnitude among 32 numbers and of a former result; a NaN does
 * not count. */
static inline mf_floats mf_apr_largest(const float *values, mf_floats most)
{
    for (size_t i = 0; i < MF_APR_BLOCK; i += MF_LANES)
        most = mf_lanes_max(
            (mf_floats)mf_lanes_magnitude(mf_lanes_load(values + i)), most);
    return most;
}

/* The largest magnitude shall be that number; a scale of zeros is 1. */
static inline float mf_apr_scale(mf_floats largest, float number)
{
    int32_t bits = mf_ints_most((mf_ints)largest);

    return bits != 0 ? mf_float_of_bits((uint32_t)bits) / number : 1;
}

/* Halves go away from zero; a NaN is 0. */
static inline mf_ints mf_apr_numbers(mf_floats values, float scale, float low,
                                     float high)
{
    mf_floats part = values / mf_lanes_all(scale);

    return mf_lanes_clamp(mf_lanes_away(part), low, high) & (part == part);
}

#endif
