/* SPDX-License-Identifier: MIT
 *
 * measure.c - times and envs for modelfile bench
 */
#include "cli/budget.h"
#include "cli/commands/bench/bench.h"
#include "cli/progress.h"
#include "cli/report.h"

struct bench_options bench_options;

uint64_t bench_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool go_on(void *user, const struct mf_progress *progress)
{
    (void)user;
    (void)progress;
    return progress_signal() == 0;
}

struct mf_env *bench_env(struct run *run, size_t threads)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = (unsigned)threads,
                                  .progress = go_on };
    struct mf_env *env;

    budget_env(run, &options);
    env = mf_env_new(&options);
    if (!env)
        report_no_env(run);
    return env;
}

void bench_env_free(struct run *run, struct mf_env *env)
{
    struct mf_io_stats io;

    if (!env)
        return;
    mf_env_io(env, &io);
    run->other_io.bytes_read += io.bytes_read;
    run->other_io.bytes_written += io.bytes_written;
    mf_env_free(env);
}

void bench_failure(struct run *run, struct mf_env *env, const char *file)
{
    struct mf_env *kept = run->env;

    run->env = env;
    report_failure(run, file);
    run->env = kept;
}

/* Shell's sort with Knuth's gaps: qsort would allocate, and there are some
 * thousand numbers at most. */
void bench_sort(double *number, size_t count)
{
    size_t gap = 1;

    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            double moving = number[i];
            size_t j = i;

            for (; j >= gap && number[j - gap] > moving; j -= gap)
                number[j] = number[j - gap];
            number[j] = moving;
        }
}

double bench_percentile(const double *sorted, size_t count, unsigned percent)
{
    return count > 0 ? sorted[(count * percent + 99) / 100 - 1] : 0;
}

void bench_times(struct bench_row *row, double *times, size_t count)
{
    bench_sort(times, count);
    row->operations = count;
    row->p50 = bench_percentile(times, count, 50);
    row->p95 = bench_percentile(times, count, 95);
    row->p99 = bench_percentile(times, count, 99);
}

bool bench_goes_on(size_t runs, uint64_t started)
{
    return runs < bench_options.rounds ||
           (bench_now() - started < bench_options.rounds * BENCH_ROUND &&
            runs < BENCH_RUNS);
}
