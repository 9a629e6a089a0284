/* SPDX-License-Identifier: MIT
 *
 * decimal.h - floating-point numbers as text for tables of other programs
 *
 * The shortest digits that read back as the same number, with a point in every
 * locale.
 */
#ifndef MF_CLI_DECIMAL_H
#define MF_CLI_DECIMAL_H

/* The longest: a sign, "0.", 323 zeros and 17 digits. */
struct decimal_text {
    char at[352];
};

/* Without exponent, however long: 0.000001, 1, 1000000000000000000000; and
 * NaN, inf, -inf. */
struct decimal_text decimal_text(double value);

/* The same with an exponent where that is shorter: 1e+300. */
struct decimal_text decimal_shortest(double value);

/* As JSON of serde has a 32-bit float: 0.01, 1.0, 1e-7, 1e16; null if it is
 * not finite. */
struct decimal_text decimal_json_f32(float value);

#endif
