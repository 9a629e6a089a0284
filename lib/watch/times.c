/* SPDX-License-Identifier: MIT
 *
 * times.c - percentiles, mean and deviation of measured times
 */
#include "lib/program.h"

#include <assert.h>
#include <math.h>

/* Shell's sort with Knuth's gaps: qsort would allocate, and mostly there are
 * some thousand numbers at most. */
void mf_times_sort(double *times, size_t count)
{
    size_t gap = 1;

    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            double moving = times[i];
            size_t j = i;

            for (; j >= gap && times[j - gap] > moving; j -= gap)
                times[j] = times[j - gap];
            times[j] = moving;
        }
}

double mf_times_percentile(const double *sorted, size_t count, unsigned percent)
{
    assert(percent > 0 && percent <= 100);
    return count > 0 ? sorted[(count * percent + 99) / 100 - 1] : 0;
}

struct mf_watch_times mf_times_of(double *times, size_t count)
{
    struct mf_watch_times latency = { .count = count };
    double sum = 0, squares = 0;

    if (count == 0)
        return latency;
    mf_times_sort(times, count);
    latency.p50 = mf_times_percentile(times, count, 50);
    latency.p95 = mf_times_percentile(times, count, 95);
    latency.p99 = mf_times_percentile(times, count, 99);
    for (size_t i = 0; i < count; i++)
        sum += times[i];
    latency.mean = sum / (double)count;
    /* A second pass: the mean of squares less the square of the mean would
     * lose all digits where times hardly differ. */
    for (size_t i = 0; i < count; i++)
        squares += (times[i] - latency.mean) * (times[i] - latency.mean);
    latency.std = sqrt(squares / (double)count);
    return latency;
}
