/* SPDX-License-Identifier: MIT
 *
 * moments.c - mean and spread of floating-point numbers
 */
#include "lib/compare/moments.h"

#include <assert.h>

/* Sums that are independent of each other keep the processor busy; their number
 * is part of the result. */
#define LANES 4

_Static_assert(MF_MOMENTS_BATCH % LANES == 0, "a batch is whole lanes");

static double total(const double *lane)
{
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* The largest magnitude. */
static double largest(const double *at, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fabs(at[i]) > most ? fabs(at[i]) : most;
    return most;
}

static void sum_up(const double *at, size_t count, double *sum, double *squares)
{
    double plain[LANES] = { 0 }, squared[LANES] = { 0 };

    for (size_t i = 0; i < count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            plain[lane] += at[i + lane];
            squared[lane] += at[i + lane] * at[i + lane];
        }
    *sum = total(plain);
    *squares = total(squared);
}

void mf_moments_add(struct mf_moments *sum, double *at, size_t count)
{
    struct mf_moments batch = { .count = count };
    size_t whole = count / LANES * LANES;
    double plain, squares, rest;

    assert(count <= MF_MOMENTS_BATCH);
    if (count == 0)
        return;
    batch.exponent = mf_scaled_exponent(largest(at, count));
    if (batch.exponent != 0)
        for (size_t i = 0; i < count; i++)
            at[i] = mf_scaled_down(at[i], batch.exponent);
    sum_up(at, whole, &plain, &squares);
    for (size_t i = whole; i < count; i++) {
        plain += at[i];
        squares += at[i] * at[i];
    }
    mf_scaled_add(&batch.squares, squares, 2 * batch.exponent);
    batch.mean = plain / (double)count;
    for (size_t i = 0; i < count; i++)
        at[i] -= batch.mean;
    sum_up(at, whole, &rest, &squares);
    for (size_t i = whole; i < count; i++) {
        rest += at[i];
        squares += at[i] * at[i];
    }
    batch.mean_low = rest / (double)count;
    squares -= rest * rest / (double)count;
    batch.apart2 = squares > 0 ? squares : 0;
    mf_moments_join(sum, &batch);
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

void mf_moments_join(struct mf_moments *sum, const struct mf_moments *more)
{
    struct mf_moments next = *more;
    double before = (double)sum->count, added = (double)more->count, apart;

    if (more->count == 0)
        return;
    if (sum->count == 0) {
        *sum = *more;
        return;
    }
    raise(&next, sum->exponent);
    raise(sum, next.exponent);
    apart = (next.mean - sum->mean) + (next.mean_low - sum->mean_low);
    sum->count += more->count;
    move_mean(sum, apart * (added / (double)sum->count));
    sum->apart2 +=
        next.apart2 + apart * apart * before * (added / (double)sum->count);
    mf_scaled_add(&sum->squares, more->squares.value, more->squares.exponent);
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
