/* SPDX-License-Identifier: MIT
 *
 * moments.c - extremes, mean and spread of floating-point numbers
 *
 * Nearly all batches are full, of finite numbers whose squares are doubles:
 * these take a way without branches, which compilers turn into vectors.  Their
 * sums show whether it was the right one.
 */
#include "lib/compare/moments.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/little.h"

/* Sums that are independent of each other keep the processor busy; their number
 * is part of the result, and the same for every processor. */
#define LANES   8
#define WIDTH   2 /* numbers in a vector that every processor of 64 bits has */
#define VECTORS (LANES / WIDTH)

_Static_assert(MF_MOMENTS_BATCH % LANES == 0, "a batch is whole lanes");

typedef double vector __attribute__((vector_size(WIDTH * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDTH * sizeof(int64_t))));

static inline vector load(const double *from)
{
    vector to;

    memcpy(&to, from, sizeof(to));
    return to;
}

static inline vector choose(mask which, vector a, vector b)
{
    return (vector)((which & (mask)a) | (~which & (mask)b));
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Extremes and zeros of whole lanes.  What is not a number is passed over. */
static void look(const double *at, size_t count, struct mf_moments *out)
{
    vector min = { out->min, out->min }, max = { out->max, out->max };
    mask zeros = { 0 };

    for (size_t i = 0; i < count; i += WIDTH) {
        vector some = load(at + i);

        min = choose(some < min, some, min);
        max = choose(some > max, some, max);
        zeros -= some == 0;
    }
    out->min = lesser(min[0], min[1]);
    out->max = greater(max[0], max[1]);
    out->zeros += (uint64_t)(zeros[0] + zeros[1]);
}

static double total(const vector *sum)
{
    vector all = (sum[0] + sum[1]) + (sum[2] + sum[3]);

    return all[0] + all[1];
}

/* Of whole lanes: the sum of the distances from a number, and of their
 * squares. */
static void sum_up(const double *at, size_t count, double from, double *sum,
                   double *squares)
{
    vector plain[VECTORS] = { 0 }, squared[VECTORS] = { 0 };

    for (size_t i = 0; i < count; i += LANES)
        for (size_t k = 0; k < VECTORS; k++) {
            vector apart = load(at + i + k * WIDTH) - from;

            plain[k] += apart;
            squared[k] += apart * apart;
        }
    *sum = total(plain);
    *squares = total(squared);
}

/* The same for any count. */
static void sum_all(const double *at, size_t count, double from, double *sum,
                    double *squares)
{
    size_t whole = count / LANES * LANES;

    sum_up(at, whole, from, sum, squares);
    for (size_t i = whole; i < count; i++) {
        double apart = at[i] - from;

        *sum += apart;
        *squares += apart * apart;
    }
}

/* The second time over a batch, whose sum and squares are given. */
static void finish(struct mf_moments *batch, const double *at, double plain,
                   double squares)
{
    double count = (double)batch->count, rest;

    mf_scaled_add(&batch->squares, squares, 2 * batch->exponent);
    batch->mean = plain / count;
    sum_all(at, (size_t)batch->count, batch->mean, &rest, &squares);
    batch->mean_low = rest / count;
    squares -= rest * rest / count;
    batch->apart2 = squares > 0 ? squares : 0;
}

static double largest(const struct mf_moments *batch)
{
    return greater(fabs(batch->min), fabs(batch->max));
}

/* False where the batch is for add_slowly. */
static bool add_fast(struct mf_moments *sum, const double *at)
{
    struct mf_moments batch = MF_MOMENTS_NONE;
    double plain, squares;

    batch.count = MF_MOMENTS_BATCH;
    look(at, MF_MOMENTS_BATCH, &batch);
    sum_up(at, MF_MOMENTS_BATCH, 0, &plain, &squares);
    if (!isfinite(squares))
        return false;
    batch.exponent = mf_scaled_exponent(largest(&batch));
    if (batch.exponent == 0)
        finish(&batch, at, plain, squares);
    else if (batch.zeros < MF_MOMENTS_BATCH)
        return false;
    mf_moments_join(sum, &batch);
    return true;
}

/* Keeps finite numbers, and counts the others. */
static void sift(struct mf_moments *batch, double *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        batch->nans += isnan(at[i]) != 0;
        batch->infinities += isinf(at[i]) != 0;
        if (!isfinite(at[i]))
            continue;
        batch->zeros += at[i] == 0;
        batch->min = lesser(at[i], batch->min);
        batch->max = greater(at[i], batch->max);
        at[batch->count++] = at[i];
    }
}

static void add_slowly(struct mf_moments *sum, double *at, size_t count)
{
    struct mf_moments batch = MF_MOMENTS_NONE;
    double plain, squares;

    sift(&batch, at, count);
    if (batch.count > 0) {
        batch.exponent = mf_scaled_exponent(largest(&batch));
        for (size_t i = 0; batch.exponent != 0 && i < batch.count; i++)
            at[i] = mf_scaled_down(at[i], batch.exponent);
        sum_all(at, (size_t)batch.count, 0, &plain, &squares);
        finish(&batch, at, plain, squares);
    }
    mf_moments_join(sum, &batch);
}

void mf_moments_flush(struct mf_moments *sum, struct mf_moments_batch *batch)
{
    if (batch->count < MF_MOMENTS_BATCH || !add_fast(sum, batch->at))
        add_slowly(sum, batch->at, batch->count);
    batch->count = 0;
}

void mf_moments_floats(struct mf_moments *sum, struct mf_moments_batch *batch,
                       const float *values, size_t count)
{
    for (size_t i = 0, some; i < count; i += some) {
        double *at = batch->at + batch->count;

        some = MF_MOMENTS_BATCH - batch->count;
        some = count - i < some ? count - i : some;
        for (size_t k = 0; k < some; k++)
            at[k] = (double)values[i + k];
        batch->count += some;
        if (batch->count == MF_MOMENTS_BATCH)
            mf_moments_flush(sum, batch);
    }
}

void mf_moments_doubles(struct mf_moments *sum, struct mf_moments_batch *batch,
                        const uint8_t *bytes, size_t count)
{
    for (size_t i = 0, some; i < count; i += some) {
        some = MF_MOMENTS_BATCH - batch->count;
        some = count - i < some ? count - i : some;
        for (size_t k = 0; k < some; k++)
            batch->at[batch->count + k] =
                mf_little_double(bytes + (i + k) * sizeof(double));
        batch->count += some;
        if (batch->count == MF_MOMENTS_BATCH)
            mf_moments_flush(sum, batch);
    }
}

static void raise(struct mf_moments *sum, int exponent)
{
    if (sum->exponent >= exponent)
        return;
    sum->mean = ldexp(sum->mean, sum->exponent - exponent);
    sum->mean_low = ldexp(sum->mean_low, sum->exponent - exponent);
    sum->apart2 = ldexp(sum->apart2, 2 * (sum->exponent - exponent));
    sum->exponent = exponent;
}

/* Adds to the mean; what rounding loses of the sum (Knuth's TwoSum) is kept. */
static void move_mean(struct mf_moments *sum, double by)
{
    double moved = sum->mean + by, added = moved - sum->mean;

    sum->mean_low += (sum->mean - (moved - added)) + (by - added);
    sum->mean = moved;
}

/* Adds all but what the mean is made of. */
static void join_counts(struct mf_moments *sum, const struct mf_moments *other)
{
    sum->count += other->count;
    sum->zeros += other->zeros;
    sum->nans += other->nans;
    sum->infinities += other->infinities;
    sum->min = lesser(other->min, sum->min);
    sum->max = greater(other->max, sum->max);
    mf_scaled_add(&sum->squares, other->squares.value, other->squares.exponent);
}

void mf_moments_join(struct mf_moments *sum, const struct mf_moments *other)
{
    struct mf_moments next = *other;
    double before = (double)sum->count, added = (double)other->count, apart;

    if (sum->count == 0) {
        join_counts(&next, sum);
        *sum = next;
        return;
    }
    join_counts(sum, other);
    if (other->count == 0)
        return;
    raise(&next, sum->exponent);
    raise(sum, next.exponent);
    apart = (next.mean - sum->mean) + (next.mean_low - sum->mean_low);
    move_mean(sum, apart * (added / (double)sum->count));
    sum->apart2 +=
        next.apart2 + apart * apart * before * (added / (double)sum->count);
}

double mf_moments_mean(const struct mf_moments *sum)
{
    return mf_scaled_down(sum->mean + sum->mean_low, -sum->exponent);
}

double mf_moments_deviation(const struct mf_moments *sum)
{
    return mf_scaled_down(sqrt(sum->apart2 / (double)sum->count),
                          -sum->exponent);
}

double mf_moments_norm(const struct mf_moments *sum)
{
    return mf_scaled_root(&sum->squares, 1);
}
