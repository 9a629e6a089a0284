/* SPDX-License-Identifier: MIT
 *
 * type.c - what a plain scalar of YAML is by how it looks
 *
 * The words and expressions follow YAML 1.1, in which "no" is a boolean and
 * 1:30 a number.
 */
#include <math.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"
#include "lib/yaml/yaml.h"

/* A number without "_", at most. */
#define DIGITS_MAX 400

static size_t pass(struct mf_str text, size_t i, const char *set)
{
    while (i < text.size && text.at[i] && strchr(set, text.at[i]))
        i++;
    return i;
}

static bool has(struct mf_str text, size_t i, const char *set)
{
    return i < text.size && text.at[i] && strchr(set, text.at[i]);
}

/* ---- words ---- */

/* Small, with a capital, or in capitals. */
static bool is_word(struct mf_str text, const char *word)
{
    char cased[8];
    size_t size = strlen(word);

    if (mf_str_is(text, word))
        return true;
    memcpy(cased, word, size + 1);
    cased[0] = (char)(cased[0] - ('a' - 'A'));
    if (mf_str_is(text, cased))
        return true;
    for (size_t i = 1; i < size; i++)
        cased[i] = (char)(cased[i] - ('a' - 'A'));
    return mf_str_is(text, cased);
}

static bool is_boolean(struct mf_str text, bool *value)
{
    static const char *const words[] = { "yes", "true",  "on",
                                         "no",  "false", "off" };

    for (size_t i = 0; i < 6; i++)
        if (is_word(text, words[i])) {
            *value = i < 3;
            return true;
        }
    return false;
}

/* ---- numbers ---- */

/* ":" and a number below 60, once at least. */
static size_t pass_sixtieths(struct mf_str text, size_t i)
{
    while (has(text, i, ":") && has(text, i + 1, "0123456789"))
        i += has(text, i + 1, "012345") && has(text, i + 2, "0123456789") ? 3
                                                                          : 2;
    return i;
}

/* In base 2, 8, 16, 10 or, 60, with colons; 0: it is not an integer. */
static int base_of(struct mf_str text)
{
    size_t i = has(text, 0, "+-") ? 1 : 0, end, size = text.size;

    if (has(text, i, "0") && has(text, i + 1, "b"))
        return i + 2 < size && pass(text, i + 2, "01_") == size ? 2 : 0;
    if (has(text, i, "0") && has(text, i + 1, "x"))
        return i + 2 < size &&
                       pass(text, i + 2, "0123456789abcdefABCDEF_") == size
                   ? 16
                   : 0;
    if (has(text, i, "0"))
        return i + 1 == size                            ? 10
               : pass(text, i + 1, "01234567_") == size ? 8
                                                        : 0;
    if (!has(text, i, "123456789"))
        return 0;
    end = pass(text, i, "0123456789_");
    if (end == size)
        return 10;
    return pass_sixtieths(text, end) == size && end < size ? 60 : 0;
}

static bool is_float(struct mf_str text)
{
    size_t i = has(text, 0, "+-") ? 1 : 0, end, size = text.size;
    struct mf_str rest = { text.at + i, size - i };

    if (rest.size > 1 && *rest.at == '.' &&
        (is_word((struct mf_str){ rest.at + 1, rest.size - 1 }, "inf") ||
         (i == 0 && (mf_str_is(text, ".nan") || mf_str_is(text, ".NaN") ||
                     mf_str_is(text, ".NAN")))))
        return true;
    if (has(text, i, ".")) {
        if (i > 0 || !has(text, 1, "0123456789"))
            return false;
        end = pass(text, 1, "0123456789_");
    } else {
        if (!has(text, i, "0123456789"))
            return false;
        end = pass(text, i, "0123456789_");
        i = pass_sixtieths(text, end);
        if (!has(text, i, "."))
            return false;
        if (i > end)
            return pass(text, i + 1, "0123456789_") == size;
        end = pass(text, end + 1, "0123456789_");
    }
    if (has(text, end, "eE") && has(text, end + 1, "+-") &&
        has(text, end + 2, "0123456789"))
        end = pass(text, end + 2, "0123456789");
    return end == size;
}

/* The integer, or as a float where it does not fit; false: it has no digit. */
static bool integer(struct mf_str text, int base, struct mf_node *node)
{
    bool negative = *text.at == '-', digits = false, fits = true;
    size_t i = has(text, 0, "+-") ? 1 : 0;
    uint64_t value = 0, part = 0;
    double real = 0;

    i += base == 2 || base == 16 ? 2 : 0;
    for (; i < text.size; i++) {
        char c = text.at[i];
        uint64_t digit =
            c <= '9' ? (uint64_t)(c - '0') : (uint64_t)((c | 0x20) - 'a' + 10);

        if (c == '_')
            continue;
        if (c == ':') {
            fits = fits && mf_add(value, part, &value) &&
                   mf_mul(value, 60, &value);
            real = real * 60;
            part = 0;
            continue;
        }
        digits = true;
        fits = fits && mf_mul(part, base == 60 ? 10 : (uint64_t)base, &part) &&
               mf_add(part, digit, &part);
        real = real * base + (double)digit;
    }
    fits = fits && mf_add(value, part, &value);
    node->type = MF_VALUE_U64;
    node->number.u64 = value;
    if (!fits || (negative && value > INT64_MAX)) {
        node->type = MF_VALUE_F64;
        node->number.f64 = negative ? -real : real;
    } else if (negative && value > 0) {
        node->type = MF_VALUE_I64;
        node->number.i64 = -(int64_t)value;
    }
    return digits;
}

static bool real(struct mf_str text, struct mf_node *node)
{
    bool negative = *text.at == '-';
    char digits[DIGITS_MAX + 1];
    size_t size = 0;
    double value = 0;

    node->type = MF_VALUE_F64;
    for (size_t i = has(text, 0, "+-") ? 1 : 0; i < text.size; i++) {
        char c = text.at[i];

        if (c == '_')
            continue;
        if (c == ':') {
            digits[size] = 0;
            value = (value + mf_decimal_read(digits)) * 60;
            size = 0;
            continue;
        }
        if (size == DIGITS_MAX)
            return false;
        digits[size++] = c;
    }
    digits[size] = 0;
    if (digits[0] == '.' && (digits[1] | 0x20) == 'i')
        value = INFINITY;
    else if (digits[0] == '.' && (digits[1] | 0x20) == 'n')
        value = NAN;
    else
        value += mf_decimal_read(digits);
    node->number.f64 = negative ? -value : value;
    return true;
}

/* ---- dates ---- */

/* A number of that many digits at most, and at least; SIZE_MAX: there is none.
 */
static size_t take_digits(struct mf_str text, size_t i, size_t least,
                          size_t most, unsigned *value)
{
    size_t count = 0;

    *value = 0;
    for (; count < most && has(text, i + count, "0123456789"); count++)
        *value = *value * 10 + (unsigned)(text.at[i + count] - '0');
    return count < least ? SIZE_MAX : i + count;
}

/* A time and its zone, to the end of the text. */
static bool is_time(struct mf_str text, size_t i, bool *valid)
{
    unsigned hour, minute, second, zone = 0, rest;
    size_t start = i;

    i = has(text, i, "Tt") ? i + 1 : pass(text, i, " ");
    if (i == start)
        return false;
    i = take_digits(text, i, 1, 2, &hour);
    if (i == SIZE_MAX || !has(text, i, ":"))
        return false;
    i = take_digits(text, i + 1, 2, 2, &minute);
    if (i == SIZE_MAX || !has(text, i, ":"))
        return false;
    i = take_digits(text, i + 1, 2, 2, &second);
    if (i == SIZE_MAX)
        return false;
    if (has(text, i, "."))
        i = pass(text, i + 1, "0123456789");
    start = i;
    i = pass(text, i, " ");
    if (has(text, i, "Z"))
        i++;
    else if (has(text, i, "+-")) {
        i = take_digits(text, i + 1, 1, 2, &zone);
        if (i == SIZE_MAX)
            return false;
        if (has(text, i, ":")) {
            i = take_digits(text, i + 1, 2, 2, &rest);
            if (i == SIZE_MAX)
                return false;
        }
    } else if (i > start)
        return false;
    *valid = *valid && hour < 24 && minute < 60 && second < 60 && zone < 24;
    return i == text.size;
}

static unsigned days_of(unsigned year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30,
                                          31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

/* Whether it looks like a date; *valid: it is one. */
static bool is_date(struct mf_str text, bool *valid)
{
    unsigned year, month, day;
    size_t i = take_digits(text, 0, 4, 4, &year), from;

    if (i == SIZE_MAX || !has(text, i, "-"))
        return false;
    i = take_digits(text, i + 1, 1, 2, &month);
    if (i == SIZE_MAX || !has(text, i, "-"))
        return false;
    from = i + 1;
    i = take_digits(text, from, 1, 2, &day);
    if (i == SIZE_MAX)
        return false;
    *valid = year > 0 && month >= 1 && month <= 12 && day >= 1 &&
             day <= days_of(year, month);
    if (i == text.size)
        return text.size == 10;
    return is_time(text, i, valid);
}

bool mf_yaml_resolve(struct mf_node *node)
{
    struct mf_str text = node->text;
    int base = base_of(text);
    bool value = true;

    if (text.size == 0 || mf_str_is(text, "~") || is_word(text, "null")) {
        node->kind = MF_NODE_NULL;
        return true;
    }
    if (is_boolean(text, &value)) {
        node->kind = value ? MF_NODE_TRUE : MF_NODE_FALSE;
        return true;
    }
    node->kind = MF_NODE_NUMBER;
    if (is_float(text))
        return real(text, node);
    if (base)
        return integer(text, base, node);
    node->type = MF_VALUE_STRING;
    if (is_date(text, &value))
        return value;
    node->kind = MF_NODE_STRING;
    return true;
}
