/* SPDX-License-Identifier: MIT
 *
 * decimal_read.c - floating-point numbers of decimal digits
 *
 * The first 64 bits of d 10^x, with whether there are more, say how to round.
 */
#include "lib/base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "lib/base/big.h"

/* The number that is rounded: a bit less than digits + 1, if there is more. */
struct exact {
    uint64_t digits;
    int exponent; /* of two */
    bool more;
};

/* The bits of a double are rounded here: the processor may round elsewhere. */
static double double_of(struct exact exact)
{
    int first = exact.exponent + 63, bits = 53, drop;
    uint64_t unit, rest, m;

    if (first < -1022)
        bits = 53 - (-1022 - first);
    if (bits < 0)
        return 0;
    drop = 64 - bits;
    m = drop == 64 ? 0 : exact.digits >> drop;
    unit = (uint64_t)1 << (drop - 1); /* half of what is kept */
    rest = drop == 64 ? exact.digits : exact.digits & (2 * unit - 1);
    m += rest > unit || (rest == unit && (exact.more || m % 2 != 0));
    return ldexp((double)m, exact.exponent + drop);
}

/* above * 10^exponent */
static double quotient(struct mf_big *above, int exponent)
{
    struct exact exact;
    struct mf_big below;
    int bits;

    mf_big_set(&below, 1);
    mf_big_scale_5(exponent > 0 ? above : &below,
                   exponent > 0 ? exponent : -exponent);
    bits = mf_big_bits(above) - mf_big_bits(&below);
    /* 63 or 64 bits: the first digits decide. */
    exact.exponent = exponent + bits - 63;
    mf_big_shift(bits < 63 ? above : &below, bits < 63 ? 63 - bits : bits - 63);
    exact.digits = mf_big_divide(above, &below, &exact.more);
    if (exact.digits >> 63 == 0) {
        exact.digits <<= 1;
        exact.exponent--;
    }
    return double_of(exact);
}

/* Two doubles that are exact, and one rounding. */
static bool is_simple(uint64_t digits, int exponent)
{
    return FLT_EVAL_METHOD == 0 && digits < (uint64_t)1 << 53 &&
           exponent >= -22 && exponent <= 22;
}

static double simple(uint64_t digits, int exponent)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                     1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                     1e18, 1e19, 1e20, 1e21, 1e22 };

    return exponent < 0 ? (double)digits / powers[-exponent]
                        : (double)digits * powers[exponent];
}

double mf_decimal_value(struct mf_decimal decimal)
{
    struct mf_big above;

    if (is_simple(decimal.digits, decimal.exponent))
        return simple(decimal.digits, decimal.exponent);
    mf_big_set(&above, decimal.digits);
    return quotient(&above, decimal.exponent);
}

/* ---- from text ---- */

#define READ_DIGITS 40

struct reading {
    struct mf_decimal first; /* 19 digits of them */
    struct mf_big all;       /* if there are more */
    int count;
};

static void add_digit(struct reading *reading, char digit)
{
    if (reading->count == 0 && digit == '0')
        return;
    if (reading->count == READ_DIGITS) {
        reading->first.exponent++;
        return;
    }
    if (reading->count == 19)
        mf_big_set(&reading->all, reading->first.digits);
    if (reading->count++ < 19)
        reading->first.digits =
            10 * reading->first.digits + (uint64_t)(digit - '0');
    else
        mf_big_scale(&reading->all, 10, (uint32_t)(digit - '0'));
}

/* The exponent after the digits; one so large that no 40 digits bring such a
 * number back among the doubles ends at 1000. */
static int read_exponent(const char *text)
{
    bool negative = *text == '-';
    int value = 0;

    text += *text == '-' || *text == '+';
    for (; *text >= '0' && *text <= '9' && value < 1000; text++)
        value = 10 * value + (*text - '0');
    if (value > 1000)
        value = 1000;
    return negative ? -value : value;
}

double mf_decimal_read(const char *text)
{
    bool negative = *text == '-', after_point = false;
    struct reading reading = { .count = 0 };
    double value = 0;
    int point;

    for (text += negative; (*text >= '0' && *text <= '9') || *text == '.';
         text++) {
        if (*text == '.') {
            after_point = true;
            continue;
        }
        reading.first.exponent -= after_point;
        add_digit(&reading, *text);
    }
    if (*text == 'e' || *text == 'E')
        reading.first.exponent += read_exponent(text + 1);
    /* The largest double is below 10^309, half of the least above 10^-324. */
    point = reading.count + reading.first.exponent;
    if (reading.count > 0 && point > 309)
        value = HUGE_VAL;
    else if (reading.count > 19 && point > -324)
        value = quotient(&reading.all, reading.first.exponent);
    else if (reading.count > 0 && point > -324)
        value = mf_decimal_value(reading.first);
    return negative ? -value : value;
}
