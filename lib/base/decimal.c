/* SPDX-License-Identifier: MIT
 *
 * decimal.c - floating-point numbers as decimal digits
 *
 * A double is m 2^e.  Of m 2^e 10^n the whole part has the digits that are
 * asked for, and whether there is a remainder says how to round them.
 */
#include "lib/base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/big.h"

/* The number that is rounded: a bit less than digits + 1, if there is more. */
struct exact {
    uint64_t digits;
    int exponent; /* of ten */
    bool more;
};

static uint64_t power_of_10(int power)
{
    uint64_t value = 1;

    for (; power > 0; power--)
        value *= 10;
    return value;
}

/* value = m * 2^e, m below 2^53; returns the exponent of its first bit. */
static int take_apart(double value, uint64_t *m, int *e)
{
    int first;

    *m = (uint64_t)(frexp(value, &first) * 0x1p53);
    *e = first - 53;
    /* Few bits make short divisions. */
    while ((*m & 0xff) == 0) {
        *m >>= 8;
        *e += 8;
    }
    return first - 1;
}

/* floor(value * 10^up) */
static struct exact scaled(uint64_t m, int e, int up)
{
    struct exact exact = { .exponent = -up };
    struct mf_big above, below;

    e += up; /* 10^up is 5^up * 2^up */
    mf_big_set(&above, m);
    mf_big_set(&below, 1);
    mf_big_scale_5(up > 0 ? &above : &below, up > 0 ? up : -up);
    mf_big_shift(e > 0 ? &above : &below, e > 0 ? e : -e);
    exact.digits = mf_big_divide(&above, &below, &exact.more);
    return exact;
}

/* The first `count` (up to 18) digits of a positive number. */
static struct exact first_digits(double value, int count)
{
    uint64_t m;
    int e, first = take_apart(value, &m, &e);
    /* log10(2) is a bit less than 0.30103: of the two powers of ten that the
     * first bit allows, the lower one, for all exponents of a double. */
    int power = (int)floor(first * 0.30102999);
    struct exact exact = scaled(m, e, count - 1 - power);

    if (exact.digits >= power_of_10(count)) {
        exact.more = exact.more || exact.digits % 10 != 0;
        exact.digits /= 10;
        exact.exponent++;
    }
    return exact;
}

/* Without the last `fewer` digits. */
static struct mf_decimal rounded(struct exact exact, int fewer)
{
    uint64_t unit = power_of_10(fewer), rest = exact.digits % unit;
    struct mf_decimal out = { exact.digits / unit, exact.exponent + fewer };
    bool up = 2 * rest > unit ||
              (2 * rest == unit && (exact.more || out.digits % 2 != 0));

    out.digits += up;
    return out;
}

/* As many digits as asked: rounding up may have carried into one more. */
static struct mf_decimal rounded_to(struct exact exact, int from, int count)
{
    struct mf_decimal out = rounded(exact, from - count);

    if (out.digits == power_of_10(count)) {
        out.digits /= 10;
        out.exponent++;
    }
    return out;
}

/* Enough to round to 17, where what follows is known to be more or nothing. */
#define DIGITS_MAX 18

struct mf_decimal mf_decimal_round(double value, int count)
{
    return rounded_to(first_digits(value, DIGITS_MAX), DIGITS_MAX, count);
}

/* ---- as text ---- */

static void put(struct mf_number_text *out, const char *at, int size)
{
    memcpy(out->at + out->size, at, (size_t)size);
    out->size += (size_t)size;
    out->at[out->size] = 0;
}

static void put_zeros(struct mf_number_text *out, int count)
{
    for (; count > 0; count--)
        put(out, "0", 1);
}

static void put_exponent(struct mf_number_text *out, int exponent)
{
    int size = exponent < 0 ? -exponent : exponent;
    char text[3] = { (char)('0' + size / 100), (char)('0' + size / 10 % 10),
                     (char)('0' + size % 10) };
    int skip = size < 100;

    put(out, exponent < 0 ? "e-" : "e+", 2);
    put(out, text + skip, 3 - skip);
}

/* Digits, and where the point is in them, or before or after them. */
static void put_plain(struct mf_number_text *out, const char *digits, int count,
                      int point)
{
    int whole = point < count ? point : count;

    if (point <= 0) {
        put(out, "0.", 2);
        put_zeros(out, -point);
        put(out, digits, count);
        return;
    }
    put(out, digits, whole);
    put_zeros(out, point - whole);
    if (whole < count)
        put(out, ".", 1);
    put(out, digits + whole, count - whole);
}

/* As "%.*g" has a number of `count` digits. */
static void put_decimal(struct mf_number_text *out, struct mf_decimal decimal,
                        int count)
{
    char digits[DIGITS_MAX];
    int first = decimal.exponent + count - 1, kept = count;

    for (int i = count; i-- > 0; decimal.digits /= 10)
        digits[i] = (char)('0' + decimal.digits % 10);
    while (kept > 1 && digits[kept - 1] == '0')
        kept--;
    if (first >= -4 && first < count) {
        put_plain(out, digits, kept, first + 1);
        return;
    }
    put_plain(out, digits, kept, 1);
    put_exponent(out, first);
}

/* The sign, and what has no digits; true if that is all. */
static bool put_special(struct mf_number_text *out, double value)
{
    const char *name = isnan(value)      ? "nan"
                       : isinf(value)    ? "inf"
                       : fabs(value) > 0 ? ""
                                         : "0";

    *out = (struct mf_number_text){ .size = 0 };
    if (signbit(value))
        put(out, "-", 1);
    put(out, name, (int)strlen(name));
    return *name;
}

struct mf_number_text mf_number_text(double value, int count)
{
    struct mf_number_text out;

    if (!put_special(&out, value))
        put_decimal(&out, mf_decimal_round(fabs(value), count), count);
    return out;
}

struct mf_number_text mf_number_fixed(double value, int decimals)
{
    struct mf_number_text out = { .size = 0 };
    struct mf_decimal all = { 0 };
    char digits[DIGITS_MAX + 1];
    int count = 0, e;
    uint64_t m;

    /* Two digits more say how to round. */
    if (fabs(value) > 0) {
        take_apart(fabs(value), &m, &e);
        all = rounded(scaled(m, e, decimals + 2), 2);
    }
    if (signbit(value))
        put(&out, "-", 1);
    for (; all.digits > 0 || count <= decimals; all.digits /= 10)
        digits[DIGITS_MAX - count++] = (char)('0' + all.digits % 10);
    put_plain(&out, digits + DIGITS_MAX + 1 - count, count, count - decimals);
    return out;
}

/* ---- the fewest digits ---- */

/* Doubles lie closer together below a power of two than above it.  There, of
 * 16 digits the nearest may give another double, and the next ones up this
 * one: 2^-44 is 5.684341886080802e-14. */
static bool has_16_digits(double value, struct mf_decimal *decimal)
{
    struct mf_decimal shorter = { decimal->digits / 10 + 1,
                                  decimal->exponent + 1 };

    /* Nothing to carry: after a 9, fewer digits would have been enough. */
    if (shorter.digits % 10 == 0 || mf_decimal_value(shorter) != value)
        return false;
    decimal->digits = shorter.digits * 10;
    return true;
}

struct mf_number_text mf_number_f64(double value)
{
    struct mf_number_text out;
    double size = fabs(value);
    /* 15 digits are exact for every double that has no more, 17 are enough
     * for all.  Near zero, doubles have fewer digits, down to one. */
    int count = size < DBL_MIN ? 1 : DBL_DIG;
    struct mf_decimal decimal;
    struct exact exact;

    if (put_special(&out, value))
        return out;
    exact = first_digits(size, DIGITS_MAX);
    decimal = rounded_to(exact, DIGITS_MAX, count);
    while (mf_decimal_value(decimal) != size && count < DBL_DECIMAL_DIG)
        decimal = rounded_to(exact, DIGITS_MAX, ++count);
    if (count == DBL_DECIMAL_DIG)
        has_16_digits(size, &decimal);
    put_decimal(&out, decimal, count);
    return out;
}

/* All floats have no more than 9 digits, but read as a double that is rounded
 * to a float, a few need more. */
struct mf_number_text mf_number_f32(float value)
{
    struct mf_number_text out;
    float size = fabsf(value);
    int count = FLT_DIG, from = FLT_DECIMAL_DIG + 1;
    struct mf_decimal decimal;
    struct exact exact;

    if (put_special(&out, (double)value))
        return out;
    exact = first_digits((double)size, from);
    decimal = rounded_to(exact, from, count);
    while ((float)mf_decimal_value(decimal) != size &&
           count < DBL_DECIMAL_DIG) {
        if (++count == from) {
            from = DIGITS_MAX;
            exact = first_digits((double)size, from);
        }
        decimal = rounded_to(exact, from, count);
    }
    put_decimal(&out, decimal, count);
    return out;
}
