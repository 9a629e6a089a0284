/* SPDX-License-Identifier: MIT
 *
 * scaled.h - sums whose terms are out of the range of doubles
 *
 * The squares of 1e300 and 1e-200 do not fit a double.  Numbers like these are
 * brought near to 1 by a power of two before they are multiplied, and the sum
 * keeps the exponent.
 */
#ifndef MF_LIB_SCALED_H
#define MF_LIB_SCALED_H

#include <math.h>

/* value * 2^exponent */
struct mf_scaled_sum {
    double value;
    int exponent;
};

/* 2^400 to the fourth, and 2^40 numbers: that is below 2^1024, the most that a
 * double can be; and 2^-400 squared is far above the least.  Floats of 32 bits
 * are always within. */
#define MF_SCALED_USUAL 400

/* Less than the exponent of any double. */
#define MF_SCALED_ZERO (-1100)

/* Which power of two numbers up to this magnitude are divided by: 1 for usual
 * ones. */
static inline int mf_scaled_exponent(double largest)
{
    int exponent;

    if (largest == 0)
        return MF_SCALED_ZERO;
    frexp(largest, &exponent);
    return exponent >= -MF_SCALED_USUAL && exponent <= MF_SCALED_USUAL
               ? 0
               : exponent;
}

/* number / 2^exponent */
static inline double mf_scaled_down(double number, int exponent)
{
    return exponent == 0 ? number : ldexp(number, -exponent);
}

static inline void mf_scaled_add(struct mf_scaled_sum *sum, double value,
                                 int exponent)
{
    if (value == 0)
        return;
    if (sum->value == 0)
        sum->exponent = exponent;
    if (exponent > sum->exponent) {
        sum->value = ldexp(sum->value, sum->exponent - exponent);
        sum->exponent = exponent;
    }
    sum->value += mf_scaled_down(value, sum->exponent - exponent);
}

/* The root of the sum, divided by a count. */
static inline double mf_scaled_root(const struct mf_scaled_sum *sum,
                                    double count)
{
    double root = sqrt(sum->value / count);

    /* Exponents of squares are even. */
    return sum->exponent == 0 ? root : ldexp(root, sum->exponent / 2);
}

#endif
