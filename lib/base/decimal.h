/* SPDX-License-Identifier: MIT
 *
 * decimal.h - floating-point numbers as decimal digits, and back
 *
 * All results are exact: rounded to nearest, halves to even, as printf and
 * strtod of a good C library round.  Those two follow the locale of the
 * program that uses the library; what is here always has a point.
 */
#ifndef MF_LIB_DECIMAL_H
#define MF_LIB_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

/* digits * 10^exponent. */
struct mf_decimal {
    uint64_t digits;
    int exponent;
};

/* A positive, finite number with `count` (1 to 17) digits. */
struct mf_decimal mf_decimal_round(double value, int count);

double mf_decimal_value(struct mf_decimal decimal);

/* Of a number as JSON writes it; of more than 40 digits the first count.
 * Infinite where it is too large. */
double mf_decimal_read(const char *text);

/* 17 digits, two signs, a point, "e" and three digits. */
struct mf_number_text {
    char at[40]; /* terminated */
    size_t size;
};

/* What printf has for "%.*g" in C's own locale; NaN and infinities, too. */
struct mf_number_text mf_number_text(double value, int count);

/* What it has for "%.*f" there: below 10^15, with at most 2 decimals. */
struct mf_number_text mf_number_fixed(double value, int decimals);

/* As few digits as give the same number back when they are read as a double,
 * and that is rounded to a float.  Finite. */
struct mf_number_text mf_number_f64(double value);
struct mf_number_text mf_number_f32(float value);

#endif
