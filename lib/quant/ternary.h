/* SPDX-License-Identifier: MIT
 *
 * ternary.h - numbers that are -1, 0 or 1, stored as 0, 1 or 2
 */
#ifndef MF_LIB_QUANT_TERNARY_H
#define MF_LIB_QUANT_TERNARY_H

#include "lib/quant/extremes.h"

/* A number times the inverse of the largest is between -1 and 1: rounded, with
 * halves away from zero, and 1 more.  A NaN becomes 1, which means 0. */
static inline mf_ints mf_ternary(mf_floats value, float inverse)
{
    mf_floats part = value * inverse;

    return 1 - (part >= 0.5f) + (part <= -0.5f);
}

#endif
