/* SPDX-License-Identifier: MIT
 *
 * row_error.c - how far the numbers of a row are from what they were
 *
 * Sums of every LANES-th column are made side by side and added in the end, in
 * an order that the number of columns alone decides.
 */
#include "lib/codec/row_error.h"

#define LANES 8

static void add_plain(double *sum, const float *before, const float *after)
{
    for (size_t i = 0; i < LANES; i++) {
        double apart = (double)before[i] - (double)after[i];

        sum[i] += apart * apart;
    }
}

static void add_weighted(double *sum, const float *before, const float *after,
                         const float *weights)
{
    for (size_t i = 0; i < LANES; i++) {
        double apart = (double)before[i] - (double)after[i];

        sum[i] += apart * apart * (double)weights[i];
    }
}

double mf_row_error(const float *before, const float *after,
                    const float *weights, size_t columns)
{
    double sum[LANES] = { 0 };
    size_t whole = columns / LANES * LANES;

    for (size_t i = 0; i < whole; i += LANES)
        if (weights)
            add_weighted(sum, before + i, after + i, weights + i);
        else
            add_plain(sum, before + i, after + i);
    for (size_t i = whole; i < columns; i++) {
        double apart = (double)before[i] - (double)after[i];

        sum[i - whole] += apart * apart * (weights ? (double)weights[i] : 1);
    }
    for (size_t i = 1; i < LANES; i++)
        sum[0] += sum[i];
    return sum[0];
}
