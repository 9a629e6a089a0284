/* SPDX-License-Identifier: MIT
 *
 * record_samples.c - the lines of latency.csv and results.csv
 */
#include <inttypes.h>
#include <string.h>

#include "cli/measure/csv.h"
#include "cli/measure/record_parts.h"

void record_own_samples(void)
{
    the_record.own = true;
    the_record.now.open = false;
}

uint64_t record_kernel(const struct mf_env *env)
{
    struct mf_timing timing;
    uint64_t sum = 0;

    for (size_t i = 0; mf_env_timing(env, i, &timing); i++)
        if (strcmp(timing.phase, "decode") == 0 ||
            strcmp(timing.phase, "encode") == 0)
            sum += timing.total_ns;
    return sum / mf_env_threads(env);
}

void record_sample_begin(void)
{
    struct record *record = &the_record;

    if (!record->on || record->own)
        return;
    record->now = (struct record_now){ .open = true,
                                       .start = record_clock(),
                                       .kernel = record_kernel(record->env) };
}

/* Room for one more time; false if there is none. */
static bool grow(struct run *run, struct record_times *times)
{
    bool moved = times->at != times->first;
    size_t size = times->room * sizeof(double);
    double *at;

    if (times->count < times->room || times->lost)
        return !times->lost;
    at = mf_env_resize(run->env, moved ? times->at : NULL, moved ? size : 0,
                       2 * size);
    if (!at) {
        times->lost = true;
        return false;
    }
    if (!moved)
        memcpy(at, times->first, size);
    times->at = at;
    times->room *= 2;
    return true;
}

uint64_t record_sample(struct run *run, double nanoseconds,
                       uint64_t kernel_nanoseconds, uint64_t elements)
{
    struct record *record = &the_record;
    struct record_times *times = &record->times;
    uint64_t wall = (uint64_t)(nanoseconds / 1e3 + 0.5);

    if (!record->on)
        return wall;
    out_format(&record->latency.out,
               "%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", times->count, wall,
               (kernel_nanoseconds + 500) / 1000, elements);
    if (grow(run, times))
        times->at[times->count] = (double)wall;
    times->count++;
    record_tick(run->env);
    return wall;
}

void record_sample_end(struct run *run)
{
    struct record_now *now = &the_record.now;

    if (!the_record.on || !now->open)
        return;
    now->open = false;
    record_sample(run, (double)(record_clock() - now->start - now->paused),
                  record_kernel(run->env) - now->kernel, now->elements);
    record_weights_end(&the_record);
}

void record_result(const struct record_result *result)
{
    struct out *out = &the_record.results.out;

    if (!the_record.on)
        return;
    csv_text(out, result->setting);
    csv_number(out, result->coherence_delta);
    csv_number(out, result->kv_cache_reduction);
    csv_number(out, result->peak_mem_reduction);
    csv_number(out, result->energy_reduction);
    csv_number(out, result->p95_latency_us);
    csv_number(out, result->accuracy);
    out_text(out, "\n");
    the_record.results_count++;
}
