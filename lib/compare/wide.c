/* SPDX-License-Identifier: MIT
 *
 * wide.c - numbers that floats of 32 bits cannot hold
 */
#include "lib/compare/wide.h"

#include <math.h>

#include "lib/base/little.h"

bool mf_type_is_wide(enum mf_type type)
{
    return type == MF_TYPE_F64 || type == MF_TYPE_I32 || type == MF_TYPE_U32 ||
           type == MF_TYPE_I64 || type == MF_TYPE_U64 || type == MF_TYPE_BOOL;
}

bool mf_numbers_recoding(const struct mf_model *model, const struct mf_isa *isa,
                         const struct mf_record *record,
                         struct mf_recoding *out)
{
    if (record->type != MF_TYPE_BOOL)
        return mf_recoding_to_floats(model, isa, record, out);
    *out = (struct mf_recoding){ .from = MF_TYPE_BOOL,
                                 .to = MF_TYPE_F32,
                                 .columns = 1,
                                 .in = mf_types[MF_TYPE_BOOL].bytes,
                                 .out = sizeof(float) };
    return mf_elements(record->dim, record->rank, &out->count);
}

/* ---- decoding ---- */

/* 53 bits fit a double, and so do the other 11. */
#define LOW_BITS ((uint64_t)0x7ff)

static struct mf_wide widen_integer(enum mf_type type, const uint8_t *bytes)
{
    uint64_t number = mf_integer_at(type, bytes), low = number & LOW_BITS;
    uint64_t high = number - low;
    double signed_high = (double)high;

    /* Twos complement: the conversion to int64_t would depend on the compiler.
     */
    if (mf_type_is_signed(type) && number >> 63)
        signed_high = -(double)(~high + 1);
    return (struct mf_wide){ signed_high, (double)low };
}

static void widen_floats(const uint8_t *floats, struct mf_wide *out,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float number;

        memcpy(&number, floats + i * sizeof(number), sizeof(number));
        out[i] = (struct mf_wide){ (double)number, 0 };
    }
}

static void widen(enum mf_type type, const uint8_t *bytes, struct mf_wide *out,
                  size_t count)
{
    size_t size = mf_types[type].bytes;

    for (size_t i = 0; i < count; i++)
        if (type == MF_TYPE_F64) {
            out[i].high = mf_little_double(bytes + i * size);
            out[i].low = 0;
        } else {
            out[i] = widen_integer(type, bytes + i * size);
        }
}

void mf_decode_numbers(const struct mf_codec *codec, enum mf_type type,
                       bool wide, const uint8_t *bytes, void *out, size_t count)
{
    /* Floats are decoded into the end of the pairs, and each is read before its
     * pair takes its place. */
    uint8_t *floats =
        (uint8_t *)out + count * (sizeof(struct mf_wide) - sizeof(float));

    if (!wide) {
        codec->decode(bytes, out, count);
    } else if (mf_type_is_wide(type)) {
        widen(type, bytes, out, count);
    } else {
        codec->decode(bytes, (void *)floats, count);
        widen_floats(floats, out, count);
    }
}

/* ---- comparing ---- */

static bool is_finite(const struct mf_wide *number)
{
    return isfinite(number->high);
}

static double value_of(const struct mf_wide *number)
{
    return number->high + number->low;
}

static void add_odd(struct mf_value_errors *errors, double a, double b)
{
    errors->nan_a += isnan(a) && !isnan(b);
    errors->nan_b += isnan(b) && !isnan(a);
    errors->inf_a += isinf(a) && a != b;
    errors->inf_b += isinf(b) && a != b;
}

/* Sums of a group, each divided by powers of two. */
struct group {
    double error2, before2, after2, product;
    int before, after, error; /* exponents of numbers */
};

static double apart_of(const struct mf_wide *a, const struct mf_wide *b)
{
    return (a->high - b->high) + (a->low - b->low);
}

static void find_exponents(struct group *group, const struct mf_wide *a,
                           const struct mf_wide *b, size_t count)
{
    double before = 0, after = 0, error = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_finite(&a[i]) || !is_finite(&b[i]))
            continue;
        before = fmax(before, fabs(value_of(&a[i])));
        after = fmax(after, fabs(value_of(&b[i])));
        error = fmax(error, fabs(apart_of(&a[i], &b[i])));
    }
    group->before = mf_scaled_exponent(before);
    group->after = mf_scaled_exponent(after);
    group->error = isfinite(error) ? mf_scaled_exponent(error) : 0;
}

static void add_group(struct mf_apart *apart, const struct mf_wide *a,
                      const struct mf_wide *b, size_t count)
{
    struct mf_value_errors *errors = &apart->errors;
    struct group group = { 0 };

    find_exponents(&group, a, b, count);
    for (size_t i = 0; i < count; i++) {
        double x = value_of(&a[i]), y = value_of(&b[i]), by, error, relative;

        if (!is_finite(&a[i]) || !is_finite(&b[i])) {
            add_odd(errors, x, y);
            continue;
        }
        by = fabs(apart_of(&a[i], &b[i]));
        relative = by / fabs(x);
        if (x == 0)
            errors->from_zero += y != 0;
        else if (relative > errors->max_relative)
            errors->max_relative = relative;
        if (by > apart->deviation.worst)
            apart->deviation.worst = by;
        apart->deviation.count++;
        error = mf_scaled_down(by, group.error);
        x = mf_scaled_down(x, group.before);
        y = mf_scaled_down(y, group.after);
        group.error2 += error * error;
        group.before2 += x * x;
        group.after2 += y * y;
        group.product += x * y;
    }
    mf_scaled_add(&apart->error2, group.error2, 2 * group.error);
    mf_scaled_add(&apart->before2, group.before2, 2 * group.before);
    mf_scaled_add(&apart->after2, group.after2, 2 * group.after);
    mf_scaled_add(&apart->product, group.product, group.before + group.after);
}

void mf_apart_add_numbers(struct mf_apart *apart, bool wide, const void *a,
                          const void *b, size_t count)
{
    const struct mf_wide *x = a, *y = b;
    size_t some;

    if (!wide) {
        mf_apart_add(apart, a, b, count);
        return;
    }
    for (size_t at = 0; at < count; at += some) {
        some = count - at < MF_WIDE_GROUP ? count - at : MF_WIDE_GROUP;
        add_group(apart, x + at, y + at, some);
    }
}

/* ---- exact sums of integers of up to 64 bits ---- */

#define SIGN ((uint64_t)1 << 63)

/* ---- wide integers ---- */

/* Adds words with their carry; more must not be longer. */
static void add_words(uint64_t *to, size_t size, const uint64_t *more,
                      size_t more_size)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < size; i++) {
        uint64_t word = i < more_size ? more[i] : 0;
        uint64_t sum = to[i] + word;
        uint64_t next = sum < word;

        to[i] = sum + carry;
        carry = next + (to[i] < carry);
    }
}

/* Of numbers that do not become negative. */
static void subtract_words(uint64_t *from, const uint64_t *less, size_t size)
{
    uint64_t borrow = 0;

    for (size_t i = 0; i < size; i++) {
        uint64_t left = from[i] - less[i];
        uint64_t next = from[i] < less[i];

        from[i] = left - borrow;
        borrow = next + (left < borrow);
    }
}

/* a * b in two words, by halves. */
static void product(uint64_t a, uint64_t b, uint64_t out[2])
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;

    out[0] = other << 32 | (uint32_t)low;
    out[1] = a1 * b1 + (middle >> 32) + (other >> 32);
}

/* out, of size words and 0 before, gets a * b. */
static void multiply_words(uint64_t *out, size_t size, const uint64_t *a,
                           size_t a_size, const uint64_t *b, size_t b_size)
{
    for (size_t i = 0; i < a_size; i++)
        for (size_t k = 0; k < b_size && i + k < size; k++) {
            uint64_t part[2];
            size_t left = size - i - k;

            product(a[i], b[k], part);
            add_words(out + i + k, left, part, left < 2 ? left : 2);
        }
}

/* Rounded: an error in the last place or two. */
static double words_double(const uint64_t *words, size_t size)
{
    double out = 0;

    for (size_t i = size; i-- > 0;)
        out = out * 0x1p64 + (double)words[i];
    return out;
}

/* The magnitude of a sum; true where it is negative. */
static bool magnitude(const uint64_t sum[2], uint64_t out[2])
{
    bool negative = sum[1] & SIGN;

    out[0] = negative ? ~sum[0] + 1 : sum[0];
    out[1] = negative ? ~sum[1] + (sum[0] == 0) : sum[1];
    return negative;
}

/* ---- sums ---- */

/* What puts signed numbers into the order of unsigned ones. */
static uint64_t order_of(enum mf_type type)
{
    return mf_type_is_signed(type) ? SIGN : 0;
}

static void add_one(struct mf_integers *sum, uint64_t number, bool negative)
{
    uint64_t sign = negative ? UINT64_MAX : 0;
    uint64_t size = (number ^ sign) - sign, square[2] = { size * size, 0 };

    sum->zeros += number == 0;
    sum->sum[0] += number;
    sum->sum[1] += sign + (sum->sum[0] < number);
    if (size >> 32 != 0)
        product(size, size, square);
    add_words(sum->squares, 3, square, 2);
}

void mf_integers_add(struct mf_integers *sum, enum mf_type type,
                     const uint8_t *bytes, size_t count)
{
    uint64_t order = order_of(type);
    size_t size = mf_types[type].bytes;

    if (sum->count == 0 && count > 0)
        sum->min = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = mf_integer_at(type, bytes + i * size);
        uint64_t place = number ^ order;

        add_one(sum, number, (number & order) != 0);
        sum->min = place < sum->min ? place : sum->min;
        sum->max = place > sum->max ? place : sum->max;
    }
    sum->count += count;
}

void mf_integers_join(struct mf_integers *sum, const struct mf_integers *more)
{
    if (sum->count == 0) {
        *sum = *more;
        return;
    }
    if (more->count == 0)
        return;
    sum->count += more->count;
    sum->zeros += more->zeros;
    add_words(sum->sum, 2, more->sum, 2);
    add_words(sum->squares, 3, more->squares, 3);
    sum->min = more->min < sum->min ? more->min : sum->min;
    sum->max = more->max > sum->max ? more->max : sum->max;
}

uint64_t mf_integers_min(const struct mf_integers *sum, enum mf_type type)
{
    return sum->count > 0 ? sum->min ^ order_of(type) : 0;
}

uint64_t mf_integers_max(const struct mf_integers *sum, enum mf_type type)
{
    return sum->count > 0 ? sum->max ^ order_of(type) : 0;
}

double mf_integers_mean(const struct mf_integers *sum)
{
    uint64_t size[2];
    double mean = magnitude(sum->sum, size) ? -1 : 1;

    return mean * words_double(size, 2) / (double)sum->count;
}

/* With count n, sum S and squares Q it is the root of (n Q - S S) / (n n), and
 * what is in the first parentheses is exact. */
double mf_integers_deviation(const struct mf_integers *sum)
{
    uint64_t scaled[4] = { 0 }, squared[4] = { 0 }, size[2];

    magnitude(sum->sum, size);
    multiply_words(scaled, 4, sum->squares, 3, &sum->count, 1);
    multiply_words(squared, 4, size, 2, size, 2);
    subtract_words(scaled, squared, 4);
    return sqrt(words_double(scaled, 4)) / (double)sum->count;
}

double mf_integers_norm(const struct mf_integers *sum)
{
    return sqrt(words_double(sum->squares, 3));
}
