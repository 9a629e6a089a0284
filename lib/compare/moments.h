/* SPDX-License-Identifier: MIT
 *
 * moments.h - extremes, mean and spread of floating-point numbers
 *
 * Numbers are taken in batches, each of which is gone over twice: for its mean,
 * and for the squares of the distances from that.  The sums of batches are
 * joined in their order (Chan, Golub and LeVeque, 1979).  So nothing cancels,
 * and the result depends on the order of the numbers only.
 */
#ifndef MF_LIB_MOMENTS_H
#define MF_LIB_MOMENTS_H

#include "lib/compare/scaled.h"

#include <stddef.h>
#include <stdint.h>

#define MF_MOMENTS_BATCH 256

/* Of no number: MF_MOMENTS_NONE. */
struct mf_moments {
    uint64_t count; /* finite numbers */
    uint64_t zeros, nans, infinities;
    double min, max;
    int exponent; /* of the mean, as in struct mf_scaled_sum */
    double mean;  /* divided by 2^exponent; with what rounding left of it, for
                     means that differ little for their size */
    double mean_low;
    double apart2; /* squares of distances from it, by 4^exponent */
    struct mf_scaled_sum squares;
};

#define MF_MOMENTS_NONE                                                        \
    (struct mf_moments)                                                        \
    {                                                                          \
        .min = INFINITY, .max = -INFINITY                                      \
    }

/* Numbers on their way into sums, finite or not. */
struct mf_moments_batch {
    double at[MF_MOMENTS_BATCH];
    size_t count;
};

/* Adds numbers to the batch, and the batch to sum whenever it is full.  Where
 * one call ends and the next begins does not show in the sums. */
void mf_moments_floats(struct mf_moments *sum, struct mf_moments_batch *batch,
                       const float *values, size_t count);
void mf_moments_doubles(struct mf_moments *sum, struct mf_moments_batch *batch,
                        const uint8_t *bytes, size_t count);

/* Adds what is left in the batch. */
void mf_moments_flush(struct mf_moments *sum, struct mf_moments_batch *batch);

/* Adds numbers that come after the ones in sum. */
void mf_moments_join(struct mf_moments *sum, const struct mf_moments *other);

double mf_moments_mean(const struct mf_moments *sum);
double mf_moments_deviation(const struct mf_moments *sum);
double mf_moments_norm(const struct mf_moments *sum);

#endif
