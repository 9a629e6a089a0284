/* SPDX-License-Identifier: MIT
 *
 * measure.c - times and envs for modelfile bench
 */
#include "cli/budget.h"

#include "cli/measure/bench/bench.h"
#include "cli/measure/record.h"
#include "cli/progress.h"
#include "cli/report.h"
#include <stdlib.h>

/* How long bench_thread_time measures: seconds of the thread, seconds of the
 * clock if it has made the least number of runs, and runs. */
#define LASTS 0.2
#define WAITS 2.0
#define LEAST 5
#define MOST  1024

struct bench_options bench_options;

uint64_t bench_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct mf_env *newest;

static bool go_on(void *user, const struct mf_progress *progress)
{
    (void)user;
    (void)progress;
    record_tick(newest);
    return progress_signal() == 0;
}

struct mf_env *bench_env(struct run *run, size_t threads)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = (unsigned)threads,
                                  .progress = go_on,
                                  .isa = getenv("MODELFILE_ISA"),
                                  .scratch_folder = getenv("TMPDIR"),
                                  .timings =
                                      run->options->timings || record_is_on() };
    struct mf_env *env;

    budget_env(run, &options);
    env = mf_env_new(&options);
    if (!env)
        report_no_env(run);
    newest = env;
    return env;
}

void bench_env_done(struct run *run, const struct mf_env *env)
{
    struct mf_io_stats io;

    if (newest == env)
        newest = NULL;
    mf_env_io(env, &io);
    run->other_io.bytes_read += io.bytes_read;
    run->other_io.bytes_written += io.bytes_written;
    mf_env_add_timings(run->env, env);
}

void bench_env_free(struct run *run, struct mf_env *env)
{
    if (!env)
        return;
    bench_env_done(run, env);
    mf_env_free(env);
}

void bench_failure(struct run *run, struct mf_env *env, const char *file)
{
    struct mf_env *kept = run->env;

    run->env = env;
    report_failure(run, file);
    run->env = kept;
}

double bench_seconds(clockid_t clock)
{
    struct timespec time = { 0 };

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double bench_thread_time(bool (*work)(void *user), void *user)
{
    double seconds[MOST], sum = 0, started = bench_seconds(CLOCK_MONOTONIC);
    size_t count = 0;

    while (
        count < MOST && sum < LASTS &&
        (count < LEAST || bench_seconds(CLOCK_MONOTONIC) - started < WAITS)) {
        double begun = bench_seconds(CLOCK_THREAD_CPUTIME_ID);

        if (!work(user) || progress_signal() != 0)
            return -1;
        seconds[count] = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
        sum += seconds[count++];
    }
    bench_sort(seconds, count);
    return bench_percentile(seconds, count, 50);
}

/* Sums of four uniform numbers: nearly normal, like weights, so that no codec
 * spends its time in special cases. */
void bench_noise(float *floats, size_t count)
{
    uint32_t noise = 1;

    for (size_t i = 0; i < count; i++) {
        float sum = 0;

        for (int j = 0; j < 4; j++) {
            noise = noise * 1664525 + 1013904223;
            sum += (float)(noise >> 8) * 0x1p-24f - 0.5f;
        }
        floats[i] = sum;
    }
}

void bench_sort(double *number, size_t count)
{
    mf_times_sort(number, count);
}

double bench_percentile(const double *sorted, size_t count, unsigned percent)
{
    return mf_times_percentile(sorted, count, percent);
}

void bench_times(struct bench_row *row, double *times, size_t count)
{
    struct mf_watch_times latency = mf_times_of(times, count);

    row->operations = count;
    row->p50 = latency.p50;
    row->p95 = latency.p95;
    row->p99 = latency.p99;
    row->mean = latency.mean;
    row->std = latency.std;
}

bool bench_goes_on(size_t runs, uint64_t started)
{
    return runs < bench_options.rounds ||
           (bench_now() - started < bench_options.rounds * BENCH_ROUND &&
            runs < BENCH_RUNS);
}
