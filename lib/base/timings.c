/* SPDX-License-Identifier: MIT
 *
 * timings.c - where the time of an env's work goes, in constant memory
 */
#include "lib/base/timings.h"

#include <assert.h>
#include <time.h>

static const struct {
    const char *name, *meaning;
} phases[MF_PHASE_COUNT] = {
#define PHASE(NAME, name, meaning) [MF_PHASE_##NAME] = { name, meaning },
#include "lib/base/timings.def"
#undef PHASE
};

uint64_t mf_timings_now(void)
{
    struct timespec at = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* Of 2^k to 2^(k+1)-1; 0 counts as 1. */
static unsigned bucket_of(uint64_t ns)
{
    return 63 - (unsigned)__builtin_clzll(ns | 1);
}

void mf_timings_init(struct mf_timings *timings)
{
    *timings = (struct mf_timings){ .born = mf_timings_now() };
}

/* ---- counting ---- */

void mf_timings_count(struct mf_timings *timings, enum mf_phase phase,
                      uint64_t ns)
{
    struct mf_phase_times *times = &timings->phase[phase];

    assert(phase < MF_PHASE_COUNT);
    if (times->count == 0 || ns < times->least)
        times->least = ns;
    if (ns > times->most)
        times->most = ns;
    times->count++;
    times->total += ns;
    times->bucket[bucket_of(ns)]++;
}

static void add_times(struct mf_phase_times *times,
                      const struct mf_phase_times *more)
{
    if (more->count == 0)
        return;
    if (times->count == 0 || more->least < times->least)
        times->least = more->least;
    if (more->most > times->most)
        times->most = more->most;
    times->count += more->count;
    times->total += more->total;
    for (size_t i = 0; i < MF_BUCKETS; i++)
        times->bucket[i] += more->bucket[i];
}

void mf_timings_add(struct mf_timings *timings, const struct mf_timings *others)
{
    for (size_t i = 0; i < MF_PHASE_COUNT; i++)
        add_times(&timings->phase[i], &others->phase[i]);
}

struct mf_timed mf_timings_begin(struct mf_timings *timings,
                                 enum mf_phase phase)
{
    struct mf_timed timed = { .start = mf_timings_now(),
                              .inner = timings->inner,
                              .phase = phase };

    timings->inner = 0;
    return timed;
}

void mf_timings_end(struct mf_timings *timings, struct mf_timed timed)
{
    uint64_t passed = mf_timings_now() - timed.start;

    assert(timings->inner <= passed);
    if (timed.phase != MF_PHASE_NONE)
        mf_timings_count(timings, timed.phase, passed - timings->inner);
    timings->inner = timed.inner + passed;
}

/* ---- asking ---- */

/* The first rank of which so many percent of all ranks are not above. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    return count / 100 * percent + (count % 100 * percent + 99) / 100;
}

uint64_t mf_phase_percentile(const struct mf_phase_times *times,
                             unsigned percent)
{
    uint64_t rank = rank_of(times->count, percent), before = 0, value;
    unsigned at = 0;
    double share;

    assert(percent >= 1 && percent <= 100);
    if (times->count == 0)
        return 0;
    if (rank == 1 || rank == times->count)
        return rank == 1 ? times->least : times->most;
    while (at < MF_BUCKETS - 1 && before + times->bucket[at] < rank)
        before += times->bucket[at++];
    share = ((double)(rank - before) - 0.5) / (double)times->bucket[at];
    value = (uint64_t)1 << at;
    value += (uint64_t)(share * (double)value);
    value = value > times->most ? times->most : value;
    return value < times->least ? times->least : value;
}

bool mf_env_timing(const struct mf_env *env, size_t index,
                   struct mf_timing *out)
{
    struct mf_phase_times times;

    if (!env || !env->timings || !out || index >= MF_PHASE_COUNT)
        return false;

    times = env->timings->phase[index];
    if (index == MF_PHASE_PROGRAM) { /* what has passed outside of any phase */
        times.total =
            mf_timings_now() - env->timings->born - env->timings->inner;
        times.count = 1;
        times.least = times.most = times.total;
    }
    *out = (struct mf_timing){ .phase = phases[index].name,
                               .meaning = phases[index].meaning,
                               .count = times.count,
                               .total_ns = times.total,
                               .min_ns = times.least,
                               .p50_ns = mf_phase_percentile(&times, 50),
                               .p99_ns = mf_phase_percentile(&times, 99),
                               .max_ns = times.most };
    return true;
}

void mf_env_add_timings(struct mf_env *env, const struct mf_env *other)
{
    if (!env || !other || !env->timings || !other->timings)
        return;
    mf_timings_add(env->timings, other->timings);
    env->timings->inner += other->timings->inner;
}
