/* SPDX-License-Identifier: MIT
 *
 * decimal.c - floating-point numbers as text for tables of other programs
 */
#include "cli/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/program.h"

/* A finite number: 0.DIGITS * 10^point, with a sign. */
struct digits {
    bool negative;
    char at[32];
    int count, point;
};

struct text {
    char at[48];
    size_t size;
};

static void keep(void *user, const char *at, size_t size)
{
    struct text *text = user;

    if (size < sizeof(text->at) - text->size) {
        memcpy(text->at + text->size, at, size);
        text->size += size;
    }
}

/* From "-1.25e-07": the library's JSON has the shortest digits. */
static struct digits digits_of(const char *text)
{
    struct digits digits = { .negative = *text == '-' };
    bool after_point = false;

    for (text += digits.negative; *text && *text != 'e'; text++) {
        if (*text == '.') {
            after_point = true;
        } else if (digits.count > 0 || *text != '0') {
            digits.at[digits.count++] = *text;
            digits.point += !after_point;
        } else {
            digits.point -= after_point;
        }
    }
    if (*text == 'e')
        digits.point += atoi(text + 1);
    while (digits.count > 0 && digits.at[digits.count - 1] == '0')
        digits.count--;
    if (digits.count == 0) { /* zero */
        digits.at[digits.count++] = '0';
        digits.point = 1;
    }
    return digits;
}

static char *put_zeros(char *to, int count)
{
    for (; count > 0; count--)
        *to++ = '0';
    return to;
}

static char *put_digits(char *to, const struct digits *digits, int from,
                        int to_)
{
    for (int i = from; i < to_; i++)
        *to++ = i < digits->count ? digits->at[i] : '0';
    return to;
}

static char *put_plain(char *to, const struct digits *digits)
{
    if (digits->point <= 0) {
        *to++ = '0';
        *to++ = '.';
        to = put_zeros(to, -digits->point);
        return put_digits(to, digits, 0, digits->count);
    }
    to = put_digits(to, digits, 0, digits->point);
    if (digits->count > digits->point) {
        *to++ = '.';
        to = put_digits(to, digits, digits->point, digits->count);
    }
    return to;
}

struct decimal_text decimal_shortest(double value)
{
    struct decimal_text out = { "" };
    struct text text = { "", 0 };
    struct mf_json_out json = { .write = keep, .user = &text };

    if (!isfinite(value)) {
        strcpy(out.at, isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf");
        return out;
    }
    mf_json_f64(&json, value);
    memcpy(out.at, text.at, text.size);
    return out;
}

struct decimal_text decimal_text(double value)
{
    struct decimal_text out = decimal_shortest(value), text = out;
    struct digits digits;
    char *to = out.at;

    if (!isfinite(value))
        return out;
    digits = digits_of(text.at);
    if (digits.negative)
        *to++ = '-';
    to = put_plain(to, &digits);
    *to = 0;
    return out;
}

static char *put_exponent(char *to, const struct digits *digits)
{
    int exponent = digits->point - 1,
        size = exponent < 0 ? -exponent : exponent;

    to = put_digits(to, digits, 0, 1);
    if (digits->count > 1) {
        *to++ = '.';
        to = put_digits(to, digits, 1, digits->count);
    }
    *to++ = 'e';
    if (exponent < 0)
        *to++ = '-';
    if (size >= 10)
        *to++ = (char)('0' + size / 10);
    *to++ = (char)('0' + size % 10);
    return to;
}

/* Exponents below 10^-5 and from 10^13 on, as in Rust's crate ryu. */
#define PLAIN_LEAST (-5)
#define PLAIN_MOST  13

struct decimal_text decimal_json_f32(float value)
{
    struct decimal_text out = { "" };
    struct text text = { "", 0 };
    struct mf_json_out json = { .write = keep, .user = &text };
    struct digits digits;
    char *to = out.at;

    if (!isfinite(value)) {
        strcpy(out.at, "null");
        return out;
    }
    mf_json_f32(&json, value);
    digits = digits_of(text.at);
    if (digits.negative)
        *to++ = '-';
    if (digits.point < PLAIN_LEAST || digits.point > PLAIN_MOST) {
        to = put_exponent(to, &digits);
    } else {
        to = put_plain(to, &digits);
        if (digits.count <= digits.point) {
            *to++ = '.';
            *to++ = '0';
        }
    }
    *to = 0;
    return out;
}
