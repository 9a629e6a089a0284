/* SPDX-License-Identifier: MIT
 *
 * timings.c - where the time of a command went: --timings
 *
 * The library counts its phases from the moment that the env was made.  What
 * was before - options, signals, the sandbox - is the phase "start" of the
 * command.
 */
#include "cli/timings.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/say.h"

#define PHASES_MAX 32

static uint64_t ns_since(const struct timespec *from, const struct timespec *to)
{
    return (uint64_t)(to->tv_sec - from->tv_sec) * 1000000000 +
           (uint64_t)to->tv_nsec - (uint64_t)from->tv_nsec;
}

void timings_begin(struct run *run)
{
    clock_gettime(CLOCK_MONOTONIC, &run->env_made);
}

/* Phase `index` of the command, of which "start" is the first; false after the
 * last. */
static bool phase_at(const struct run *run, size_t index, struct mf_timing *out)
{
    uint64_t ns = ns_since(&run->started, &run->env_made);

    if (index > 0)
        return mf_env_timing(run->env, index - 1, out);
    *out = (struct mf_timing){ .phase = "start",
                               .meaning = "options, signals, the sandbox",
                               .count = 1,
                               .total_ns = ns,
                               .min_ns = ns,
                               .p50_ns = ns,
                               .p99_ns = ns,
                               .max_ns = ns };
    return true;
}

static uint64_t wall(const struct run *run)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_since(&run->started, &now);
}

void timings_json(struct run *run)
{
    struct mf_json_out *json = &run->json;
    struct mf_timing timing;

    if (!run->options->timings || !run->env)
        return;
    mf_json_key(json, "timings");
    mf_json_begin(json, '{');
    json_number(run, "wall_ns", wall(run));
    mf_json_key(json, "phases");
    mf_json_begin(json, '[');
    for (size_t i = 0; phase_at(run, i, &timing); i++) {
        mf_json_begin(json, '{');
        json_text(run, "phase", timing.phase);
        json_number(run, "count", timing.count);
        json_number(run, "total_ns", timing.total_ns);
        json_number(run, "min_ns", timing.min_ns);
        json_number(run, "p50_ns", timing.p50_ns);
        json_number(run, "p99_ns", timing.p99_ns);
        json_number(run, "max_ns", timing.max_ns);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

/* Four digits, or fewer, and a unit: "1.234 ms", "812 ns". */
static struct number_text time_text(uint64_t ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 } };
    struct number_text text;
    size_t i = 0;

    if (ns < 1000) {
        snprintf(text.at, sizeof(text.at), "%" PRIu64 " ns", ns);
        return text;
    }
    while ((double)ns < units[i].ns)
        i++;
    snprintf(text.at, sizeof(text.at), "%.*f %s",
             (double)ns < 10 * units[i].ns    ? 3
             : (double)ns < 100 * units[i].ns ? 2
             : (double)ns < 1e4 * units[i].ns ? 1
                                              : 0,
             (double)ns / units[i].ns, units[i].name);
    return text;
}

static void show_row(struct run *run, const struct mf_timing *timing,
                     uint64_t sum)
{
    say(run, "%-8s %10s %10s %9s %9s %9s %9s %5.1f %%\n", timing->phase,
        number_text(timing->count).at, time_text(timing->total_ns).at,
        time_text(timing->min_ns).at, time_text(timing->p50_ns).at,
        time_text(timing->p99_ns).at, time_text(timing->max_ns).at,
        sum > 0 ? 100 * (double)timing->total_ns / (double)sum : 0.0);
}

void timings_close(struct run *run)
{
    struct mf_timing timing[PHASES_MAX];
    uint64_t sum = 0, passed;
    size_t count = 0;

    if (!run->options->timings || run->options->json || !run->env)
        return;
    while (count < PHASES_MAX && phase_at(run, count, &timing[count]))
        sum += timing[count++].total_ns;
    passed = wall(run);
    say(run, "%-8s %10s %10s %9s %9s %9s %9s %7s\n", "phase", "count", "total",
        "min", "p50", "p99", "max", "share");
    for (size_t i = 0; i < count; i++)
        if (timing[i].count > 0)
            show_row(run, &timing[i], sum);
    say(run, "%-8s %10s %10s in %s\n", "all", "", time_text(sum).at,
        time_text(passed).at);
}
