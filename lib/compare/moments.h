/* SPDX-License-Identifier: MIT
 *
 * moments.h - mean and spread of floating-point numbers
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

struct mf_moments {
    uint64_t count;
    int exponent; /* of the mean, as in struct mf_scaled */
    double mean;  /* divided by 2^exponent; with what rounding left of it, for
                     means that differ little for their size */
    double mean_low;
    double apart2; /* squares of distances from it, by 4^exponent */
    struct mf_scaled squares;
};

/* Adds at most MF_MOMENTS_BATCH finite numbers, and changes them. */
void mf_moments_add(struct mf_moments *sum, double *at, size_t count);

/* Adds numbers that come after those of sum. */
void mf_moments_join(struct mf_moments *sum, const struct mf_moments *more);

double mf_moments_mean(const struct mf_moments *sum);
double mf_moments_deviation(const struct mf_moments *sum);
double mf_moments_norm(const struct mf_moments *sum);

#endif
