/* SPDX-License-Identifier: MIT
 *
 * amount.h - sums and products that never wrap
 *
 * An amount is a number below MF_PLAN_HUGE, MF_PLAN_HUGE or MF_PLAN_UNKNOWN.
 * What is made of something unknown is unknown; else what is made of something
 * huge is huge.
 */
#ifndef MF_LIB_PLAN_AMOUNT_H
#define MF_LIB_PLAN_AMOUNT_H

#include "lib/base/heap.h"

static inline uint64_t mf_plan_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return mf_add(a, b, &sum) && sum < MF_PLAN_HUGE ? sum : MF_PLAN_HUGE;
}

static inline uint64_t mf_plan_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return mf_mul(a, b, &product) && product < MF_PLAN_HUGE ? product
                                                            : MF_PLAN_HUGE;
}

/* The smaller one; unknown if one of them is. */
static inline uint64_t mf_plan_min(uint64_t a, uint64_t b)
{
    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return a < b ? a : b;
}

/* a / b, rounded down; b is not 0. */
static inline uint64_t mf_plan_div(uint64_t a, uint64_t b)
{
    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return a == MF_PLAN_HUGE ? MF_PLAN_HUGE : a / b;
}

/* Up to the next multiple of step. */
static inline uint64_t mf_plan_round(uint64_t a, uint64_t step)
{
    uint64_t over = a < MF_PLAN_HUGE ? a % step : 0;

    return mf_plan_add(a, over ? step - over : 0);
}

static inline bool mf_plan_is_number(uint64_t amount)
{
    return amount < MF_PLAN_HUGE;
}

#endif
