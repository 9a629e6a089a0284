/* SPDX-License-Identifier: MIT
 *
 * json_number.c - the digits of a JSON number: their grammar and their value
 */
#include "lib/json/json.h"

#include <math.h>
#include <string.h>

#include "lib/base/decimal.h"

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

const char *mf_json_number_error(const char *at)
{
    const char *start;

    at += *at == '-';
    start = at;
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at == start)
        return at;
    if (*at == '.') {
        start = ++at;
        at = skip_digits(at);
        if (at == start)
            return at;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        start = at;
        at = skip_digits(at);
        if (at == start)
            return at;
    }
    return *at ? at : NULL;
}

static bool plain_u64(const char *at, uint64_t *out)
{
    uint64_t value = 0;

    for (; *at; at++)
        if (*at < '0' || *at > '9' || !mf_mul(value, 10, &value) ||
            !mf_add(value, (uint64_t)(*at - '0'), &value))
            return false;
    *out = value;
    return true;
}

bool mf_json_plain_u64(const struct mf_json *json, uint64_t *out)
{
    return plain_u64(json->digits, out);
}

enum mf_value_type mf_json_number(const struct mf_json *json,
                                  union mf_number *out)
{
    const char *digits = json->digits;
    uint64_t size;

    if (strpbrk(digits, "NI")) {
        out->f64 = strchr(digits, 'N') ? NAN
                   : *digits == '-'    ? -HUGE_VAL
                                       : HUGE_VAL;
        return MF_VALUE_F64;
    }
    if (plain_u64(digits, &out->u64))
        return MF_VALUE_U64;
    /* Down to -2^63.  "-0" is left to the double, which has such a zero. */
    if (*digits == '-' && plain_u64(digits + 1, &size) && size > 0 &&
        size - 1 <= INT64_MAX) {
        out->i64 = -(int64_t)(size - 1) - 1;
        return MF_VALUE_I64;
    }
    out->f64 = mf_decimal_read(digits);
    return MF_VALUE_F64;
}

bool mf_json_is_huge(const struct mf_json *json)
{
    /* 39 digits without an exponent are below 10^39. */
    return strpbrk(json->digits, "eE") && isinf(mf_decimal_read(json->digits));
}
