/* SPDX-License-Identifier: MIT
 *
 * sums.c - what is summed up of a tensor's numbers, and what becomes of it
 */
#include "lib/compare/sums.h"

#include <string.h>

struct mf_tensor_sums mf_tensor_sums_from(enum mf_type type, uint64_t *bins,
                                          uint64_t columns, uint64_t number)
{
    if (bins)
        memset(bins, 0, mf_bins_count(mf_exponents_of(type)) * sizeof(*bins));
    return (struct mf_tensor_sums){ .type = type,
                                    .moments = MF_MOMENTS_NONE,
                                    .bins = bins,
                                    .rows =
                                        mf_same_rows_from(columns, number) };
}

void mf_tensor_sums_add(struct mf_tensor_sums *sums,
                        struct mf_moments_batch *batch,
                        const struct mf_numbers *numbers)
{
    if (numbers->floats)
        mf_moments_floats(&sums->moments, batch, numbers->floats,
                          numbers->count);
    else if (numbers->type == MF_TYPE_F64)
        mf_moments_doubles(&sums->moments, batch, numbers->bytes,
                           numbers->count);
    else
        mf_integers_add(&sums->integers, numbers->type, numbers->bytes,
                        numbers->count);
    if (!sums->bins)
        return;
    mf_bins_add(sums->bins, numbers);
    mf_same_rows_add(&sums->rows, numbers);
}

void mf_tensor_sums_join(struct mf_tensor_sums *sums,
                         const struct mf_tensor_sums *more)
{
    size_t bins = sums->bins ? mf_bins_count(mf_exponents_of(sums->type)) : 0;

    mf_integers_join(&sums->integers, &more->integers);
    mf_moments_join(&sums->moments, &more->moments);
    for (size_t i = 0; i < bins; i++)
        sums->bins[i] += more->bins[i];
    if (sums->bins)
        mf_same_rows_join(&sums->rows, &more->rows);
}

/* ---- results ---- */

/* The type of numbers in which the statistics of a tensor are exact. */
static enum mf_value_type kind_of(enum mf_type type)
{
    if (mf_type_is_integer(type))
        return mf_type_is_signed(type) ? MF_VALUE_I64 : MF_VALUE_U64;
    return type == MF_TYPE_F64 ? MF_VALUE_F64 : MF_VALUE_F32;
}

/* An integer of either kind, as mf_integer_at gives it. */
static union mf_number integer_number(uint64_t integer, bool is_signed)
{
    union mf_number number = { .u64 = integer };

    if (is_signed)
        memcpy(&number.i64, &integer, sizeof(number.i64));
    return number;
}

static double number_double(union mf_number number, bool is_signed)
{
    return is_signed ? (double)number.i64 : (double)number.u64;
}

static void finish_integers(const struct mf_integers *sums, enum mf_type type,
                            struct mf_tensor_stats *out)
{
    bool is_signed = mf_type_is_signed(type);

    out->count = sums->count;
    out->zeros = sums->zeros;
    out->least = integer_number(mf_integers_min(sums, type), is_signed);
    out->greatest = integer_number(mf_integers_max(sums, type), is_signed);
    out->min = number_double(out->least, is_signed);
    out->max = number_double(out->greatest, is_signed);
    if (sums->count == 0)
        return;
    out->mean = mf_integers_mean(sums);
    out->std = mf_integers_deviation(sums);
    out->l2 = mf_integers_norm(sums);
}

static void finish_floats(const struct mf_moments *moments,
                          struct mf_tensor_stats *out)
{
    out->count = moments->count;
    out->zeros = moments->zeros;
    out->nans = moments->nans;
    out->infinities = moments->infinities;
    if (moments->count == 0)
        return;
    out->min = out->least.f64 = moments->min;
    out->max = out->greatest.f64 = moments->max;
    out->mean = mf_moments_mean(moments);
    out->std = mf_moments_deviation(moments);
    out->l2 = mf_moments_norm(moments);
}

/* Six times a number of [1/2, 1) is above 2, and at most 4 up to two thirds. A
 * difference of doubles that are near each other is exact. */
static int exponent_beyond(double std)
{
    int exponent;
    double part = frexp(std, &exponent);

    return exponent + (part <= 2 - 2 * part ? 2 : 3);
}

static void find_outliers(struct mf_tensor_histogram *out)
{
    int from;

    if (!(out->stats.std > 0))
        return;
    from = exponent_beyond(out->stats.std);
    out->beyond = ldexp(1, from);
    for (size_t i = 0; i < out->bins; i++)
        if (out->first + (int)i >= from)
            out->outliers += out->negative[i] + out->positive[i];
}

static void finish_bins(const struct mf_tensor_sums *sums,
                        struct mf_tensor_histogram *out)
{
    struct mf_exponents all = mf_exponents_of(sums->type);
    const uint64_t *negative = sums->bins, *positive = negative + all.count;
    size_t first = 0, end = all.count;

    while (end > 0 && negative[end - 1] + positive[end - 1] == 0)
        end--;
    while (first < end && negative[first] + positive[first] == 0)
        first++;
    out->first = end > 0 ? all.first + (int)first : 0;
    out->bins = end - first;
    out->negative = negative + first;
    out->positive = positive + first;
    find_outliers(out);
}

void mf_tensor_sums_finish(const struct mf_tensor_sums *sums,
                           struct mf_tensor_histogram *out)
{
    const struct mf_tensor_stats *stats = &out->stats;

    *out = (struct mf_tensor_histogram){ .stats.kind = kind_of(sums->type) };
    if (mf_type_is_integer(sums->type))
        finish_integers(&sums->integers, sums->type, &out->stats);
    else
        finish_floats(&sums->moments, &out->stats);
    if (!sums->bins)
        return;
    finish_bins(sums, out);
    out->rows =
        (stats->count + stats->nans + stats->infinities) / sums->rows.columns;
    out->zero_rows = sums->rows.zero;
    out->constant_rows = sums->rows.constant;
}
