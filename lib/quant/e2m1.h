/* SPDX-License-Identifier: MIT
 *
 * e2m1.h - numbers of 4 bits that are floats: 0 0.5 1 1.5 2 3 4 6, and a sign
 *
 * Their scales count halves, so here they are 0 1 2 3 4 6 8 12.
 */
#ifndef MF_LIB_QUANT_E2M1_H
#define MF_LIB_QUANT_E2M1_H

#include <math.h>

#include "lib/quant/extremes.h"
#include "lib/quant/nibbles.h"

static inline mf_floats mf_e2m1_decode(mf_ints code)
{
    mf_ints size = code & 7;
    /* A comparison that is true is -1. */
    mf_ints number = size - (size > 4) - (size > 5) - 3 * (size > 6);
    mf_ints sign = -(code >> 3);

    return mf_lanes_of((number ^ sign) - sign);
}

static const float mf_e2m1_numbers[8] = { 0, 1, 2, 3, 4, 6, 8, 12 };

/* The middle between each number and the next, times the scale.  It is infinite
 * where the next number is; and all are where there is nothing but zero. */
struct mf_e2m1 {
    float middle[8];
};

static inline struct mf_e2m1 mf_e2m1_middles(float scale)
{
    static const float next[8] = { 1, 2, 3, 4, 6, 8, 12, 12 };
    struct mf_e2m1 to;

    for (int i = 0; i < 8; i++) {
        float low = mf_e2m1_numbers[i] * scale * 0.5f;
        float high = next[i] * scale * 0.5f;

        to.middle[i] = scale != 0 ? low + high : INFINITY;
    }
    return to;
}

/* The nearest, and of two the smaller; a NaN is 0. */
static inline mf_ints mf_e2m1_encode(mf_floats value, const struct mf_e2m1 *to)
{
    mf_ints bits = (mf_ints)value;
    mf_floats magnitude = (mf_floats)(bits & 0x7fffffff);
    mf_ints code = mf_ints_all(0);

    for (int i = 0; i < 7; i++)
        code -= magnitude > mf_lanes_all(to->middle[i]);
    return code + ((code > 0) & (bits >> 31) & 8);
}

#endif
