/* SPDX-License-Identifier: MIT
 *
 * latency.h - percentiles, mean and deviation of measured times
 */
#ifndef MF_CLI_LATENCY_H
#define MF_CLI_LATENCY_H

#include <stddef.h>

/* All zero for no times.  A percentile is always one of the times (nearest
 * rank); std is the population's: divided by count, not by count - 1. */
struct latency {
    size_t count;
    double p50, p95, p99, mean, std;
};

/* Sorts the times. */
struct latency latency_of(double *times, size_t count);

void latency_sort(double *times, size_t count);

/* The smallest of sorted times that percent of them do not exceed. */
double latency_percentile(const double *sorted, size_t count, unsigned percent);

#endif
