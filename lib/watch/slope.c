/* SPDX-License-Identifier: MIT
 *
 * slope.c - the line through a series of counts, and whether it is a leak
 */
#include "lib/watch/watch.h"

/* A count relative to the first one: sums of these stay small, and as long as
 * they are below 2^53 they are exact. */
static double relative(const struct mf_slope *slope, uint64_t value)
{
    return value >= slope->first ? (double)(value - slope->first)
                                 : -(double)(slope->first - value);
}

/* Of the next count.  Whole quarters and the rest apart, so that nothing
 * overflows. */
static uint64_t quarter(const struct mf_slope *slope)
{
    uint64_t each = slope->rounds / MF_SLOPE_QUARTERS;
    uint64_t more = slope->rounds % MF_SLOPE_QUARTERS;
    uint64_t longer = more * (each + 1); /* counts in the first quarters */

    return slope->count < longer ? slope->count / (each + 1)
                                 : more + (slope->count - longer) / each;
}

void mf_slope_add(struct mf_slope *slope, uint64_t value)
{
    uint64_t *lowest;

    if (slope->count >= slope->rounds)
        return;
    if (slope->count == 0) {
        slope->first = slope->most = value;
        for (int i = 0; i < MF_SLOPE_QUARTERS; i++)
            slope->lowest[i] = UINT64_MAX;
    }
    lowest = &slope->lowest[quarter(slope)];
    *lowest = value < *lowest ? value : *lowest;
    slope->most = value > slope->most ? value : slope->most;
    slope->last = value;
    slope->sum += relative(slope, value);
    slope->weighted += (double)slope->count * relative(slope, value);
    slope->count++;
}

/* With y the counts and x = 0, 1 ... n - 1, whose mean is (n - 1) / 2:
 *
 *     sum of (x - mean) y                    2 sum of xy - (n - 1) sum of y
 *     ------------------------------   =     ------------------------------
 *     sum of squares of (x - mean)                 n (n^2 - 1) / 6
 */
double mf_slope_of(const struct mf_slope *slope)
{
    double n = (double)slope->count;

    if (slope->count < 2)
        return 0;
    return (2 * slope->weighted - (n - 1) * slope->sum) / (n * (n * n - 1) / 6);
}

bool mf_slope_leaks(const struct mf_slope *slope, uint64_t noise,
                    double tolerance)
{
    const uint64_t *lowest = slope->lowest;

    if (slope->count < slope->rounds || slope->rounds < MF_WATCH_LEAST)
        return false;
    for (int i = 1; i < MF_SLOPE_QUARTERS; i++)
        if (lowest[i] <= lowest[i - 1])
            return false;
    return lowest[MF_SLOPE_QUARTERS - 1] - lowest[0] > noise &&
           mf_slope_of(slope) > tolerance;
}
