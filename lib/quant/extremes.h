/* SPDX-License-Identifier: MIT
 *
 * extremes.h - the largest and the smallest numbers of a block of 32
 *
 * Magnitudes are compared as integers, which is the same for numbers; a NaN is
 * above an infinity.  So a block with either gets a scale that is as bad, and
 * a check of the scales finds it.
 */
#ifndef MF_LIB_QUANT_EXTREMES_H
#define MF_LIB_QUANT_EXTREMES_H

#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"

static inline float mf_float_in_order(int32_t order)
{
    return mf_float_of_bits((uint32_t)(order ^ (order >> 31 & 0x7fffffff)));
}

/* The bits of each number without its sign. */
static inline mf_ints mf_lanes_magnitude(mf_floats lanes)
{
    return (mf_ints)lanes & 0x7fffffff;
}

/* Count is a multiple of MF_LANES. */
static inline int32_t mf_largest_bits(const float *values, size_t count)
{
    mf_ints most = mf_lanes_magnitude(mf_lanes_load(values));

    for (size_t i = MF_LANES; i < count; i += MF_LANES)
        most = mf_ints_max(most, mf_lanes_magnitude(mf_lanes_load(values + i)));
    return mf_ints_most(most);
}

/* The largest magnitude. */
static inline float mf_largest(const float *values, size_t count)
{
    return mf_float_of_bits((uint32_t)mf_largest_bits(values, count));
}

/* The first of 32 numbers that has it, with its sign; of zeros, +0. */
static inline float mf_farthest_32(const float *values)
{
    int32_t most = mf_largest_bits(values, 32);
    uint32_t here = 0;

    for (size_t i = 0; i < 32; i += MF_LANES)
        here |= mf_lanes_signs(mf_lanes_magnitude(mf_lanes_load(values + i)) ==
                               most)
                << i;
    return most != 0 ? values[__builtin_ctz(here)] : 0;
}

/* The least and the greatest of 32 numbers.  A float's bits are ordered as it
 * is once those of negative ones are turned over. */
static inline void mf_bounds_32(const float *values, float *least,
                                float *greatest)
{
    mf_ints most = mf_ints_all(INT32_MIN), most_down = most;

    for (size_t i = 0; i < 32; i += MF_LANES) {
        mf_ints bits = (mf_ints)mf_lanes_load(values + i);
        mf_ints order = bits ^ (bits >> 31 & 0x7fffffff);

        most = mf_ints_max(most, order);
        most_down = mf_ints_max(most_down, ~order);
    }
    *least = mf_float_in_order(~mf_ints_most(most_down));
    *greatest = mf_float_in_order(mf_ints_most(most));
    /* Of zeros the first counts, whatever its sign. */
    for (size_t i = 0; *least == 0 && i < 32; i++)
        if (values[i] == 0) {
            *least = values[i];
            break;
        }
}

/* Within the bounds, and without fractions; a NaN is at the lower one. */
static inline mf_ints mf_lanes_clamp(mf_floats lanes, float low, float high)
{
    lanes = mf_lanes_max(lanes, mf_lanes_all(low));
    return mf_lanes_truncate(mf_lanes_min(lanes, mf_lanes_all(high)));
}

/* As C's roundf: halves go away from zero.  What is added is the largest number
 * below a half, for a half would lift the number just below it to one. */
static inline mf_floats mf_lanes_away(mf_floats lanes)
{
    mf_ints sign = (mf_ints)lanes & (int32_t)0x80000000;

    return lanes + (mf_floats)(sign | 0x3effffff);
}

/* Of so many blocks scale and inverse are found before the first is encoded:
 * divisions take long, and side by side they take as long as one. */
#define MF_GROUP 8

/* The inverse of a scale.  A block of zeros has none, nor has one so
 * small that it would be infinite: its numbers become 0, times 0. */
static inline float mf_inverse(float scale)
{
    return scale > 0x1p-128f || scale < -0x1p-128f ? 1 / scale : 0;
}

/* From extremes to scales, and to their inverses. */
static inline void mf_group_scales(float *scales, float *inverses,
                                   float divisor)
{
    for (size_t i = 0; i < MF_GROUP; i++) {
        scales[i] /= divisor;
        inverses[i] = mf_inverse(scales[i]);
    }
}

#endif
