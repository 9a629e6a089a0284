/* SPDX-License-Identifier: MIT
 *
 * wide.c - numbers that floats of 32 bits cannot hold
 */
#include "lib/compare/wide.h"

#include "lib/base/little.h"
#include "lib/compare/integers.h"

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
