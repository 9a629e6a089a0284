/* SPDX-License-Identifier: MIT
 *
 * cost.c - what a run cost: heap, bytes read and written, time
 */
#include "cli/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/malloc_count.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/remote/remote.h"
#include "cli/say.h"

/* ---- where the time went: --timings ---- */

/* The library counts its phases from the moment that the env was made.  What
 * was before - options, signals, the sandbox - is the phase "start" of the
 * command. */

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
static struct number_text phase_text(uint64_t ns)
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
        number_text(timing->count).at, phase_text(timing->total_ns).at,
        phase_text(timing->min_ns).at, phase_text(timing->p50_ns).at,
        phase_text(timing->p99_ns).at, phase_text(timing->max_ns).at,
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
    say(run, "%-8s %10s %10s in %s\n", "all", "", phase_text(sum).at,
        phase_text(passed).at);
}

/* ---- what a run cost: heap, bytes read and written, time ---- */

struct cost {
    uint64_t peak, allocations, resident, read, written;
    double seconds;
};

static struct cost cost_of(struct run *run)
{
    struct mf_heap_stats library = { 0 };
    struct process_heap process;
    struct mf_io_stats io = { 0 };
    struct timespec now;
    struct rusage usage;
    struct cost cost;

    if (run->remote)
        run->remote_sum_up();
    ranks_leave(run);
    if (run->env) { /* NULL if the command line is wrong */
        mf_env_heap(run->env, &library);
        mf_env_io(run->env, &io);
    }
    getrusage(RUSAGE_SELF, &usage);
    clock_gettime(CLOCK_MONOTONIC, &now);
    cost.peak = library.peak;
    cost.allocations = library.allocations;
    if (ranks_count() < 2 && process_heap(&process)) { /* without MPI's */
        cost.peak = process.peak;
        cost.allocations = process.allocations;
    }
    if (run->other_heap.peak > cost.peak)
        cost.peak = run->other_heap.peak;
    cost.allocations += run->other_heap.allocations;
    cost.resident = (uint64_t)usage.ru_maxrss * 1024;
    cost.read = io.bytes_read + run->other_io.bytes_read - run->read_again;
    cost.written = io.bytes_written + run->other_io.bytes_written;
    cost.seconds = (double)(now.tv_sec - run->started.tv_sec) +
                   (double)(now.tv_nsec - run->started.tv_nsec) / 1e9;
    return cost;
}

static void commits_json(struct run *run)
{
    mf_json_key(&run->json, "hub");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < run->hub->commit_count; i++) {
        const struct hub_commit *name = &run->hub->commit[i];

        mf_json_begin(&run->json, '{');
        json_text(run, "repository", name->repository);
        json_text(run, "revision", name->revision);
        mf_json_key(&run->json, "commit");
        if (*name->commit)
            mf_json_string(&run->json, name->commit, strlen(name->commit));
        else
            mf_json_null(&run->json);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void hub_json(struct run *run)
{
    const struct hub_cost *hub = run->hub;

    if (!hub)
        return;
    json_number(run, "cached_bytes", hub->cached);
    json_number(run, "files_checked", hub->checked);
    json_number(run, "files_unchecked", hub->unchecked);
    commits_json(run);
}

/* The other process's heap is not in peak_heap_bytes. */
static void remote_json(struct run *run)
{
    const struct remote_cost *remote = run->remote;

    if (!remote)
        return;
    mf_json_key(&run->json, "remote");
    mf_json_begin(&run->json, '{');
    json_number(run, "requests", remote->requests);
    json_number(run, "bytes", remote->bytes);
    json_number(run, "retries", remote->retries);
    json_number(run, "peak_heap_bytes", remote->peak);
    json_number(run, "heap_allocations", remote->allocations);
    json_number(run, "processor_microseconds", remote->processor);
    hub_json(run);
    mf_json_end(&run->json, '}');
}

/* The heap is the largest of any rank, all else the sum over all ranks. */
static void ranks_json(struct run *run)
{
    struct ranks_imbalance above = ranks_imbalance();

    if (ranks_of_answer() < 2)
        return;
    json_number(run, "ranks", ranks_of_answer());
    mf_json_key(&run->json, "ranks_imbalance");
    mf_json_f64(&run->json, above.work);
    mf_json_key(&run->json, "ranks_time_imbalance");
    mf_json_f64(&run->json, above.time);
}

void cost_json(struct run *run)
{
    struct mf_json_out *json = &run->json;
    struct cost cost = cost_of(run);

    mf_json_key(json, "run");
    mf_json_begin(json, '{');
    json_number(run, "peak_heap_bytes", cost.peak);
    json_number(run, "heap_allocations", cost.allocations);
    json_number(run, "peak_rss_bytes", cost.resident);
    json_number(run, "bytes_read", cost.read);
    json_number(run, "bytes_written", cost.written);
    mf_json_key(json, "seconds");
    mf_json_f64(json, cost.seconds);
    ranks_json(run);
    remote_json(run);
    timings_json(run);
    mf_json_end(json, '}');
}

static struct number_text time_text(double seconds)
{
    struct number_text text;

    if (seconds < 1)
        snprintf(text.at, sizeof(text.at), "%.1f ms", seconds * 1000);
    else if (seconds >= 100)
        snprintf(text.at, sizeof(text.at), "%.0f s", seconds);
    else
        snprintf(text.at, sizeof(text.at), "%.2f s", seconds);
    return text;
}

/* What is left out, one after the other, until the line fits the terminal. */
enum { WITHOUT_ALLOCATIONS = 1, WITHOUT_SIZE };

static void close_text(const struct run *run, const struct cost *cost,
                       int without, char *text, size_t size)
{
    char allocations[48] = "", read[80] = "", wrote[48] = "", ranks[32] = "";

    if (without < WITHOUT_ALLOCATIONS)
        snprintf(allocations, sizeof(allocations),
                 " (%" PRIu64 " allocation%s)", cost->allocations,
                 cost->allocations == 1 ? "" : "s");
    if (run->size > 0 && without < WITHOUT_SIZE)
        snprintf(read, sizeof(read), " · read %s of %s",
                 size_text(cost->read).at, size_text(run->size).at);
    else if (run->size > 0 || cost->read > 0)
        snprintf(read, sizeof(read), " · read %s", size_text(cost->read).at);
    if (cost->written > 0)
        snprintf(wrote, sizeof(wrote), " · wrote %s",
                 size_text(cost->written).at);
    if (ranks_of_answer() > 1)
        snprintf(ranks, sizeof(ranks), " · %zu ranks", ranks_of_answer());
    snprintf(text, size, "peak heap %s%s%s%s%s · %s", size_text(cost->peak).at,
             allocations, read, wrote, ranks, time_text(cost->seconds).at);
}

/* A line of its own: the network is another process's. */
static void remote_line(struct run *run)
{
    const struct remote_cost *remote = run->remote;
    const struct hub_cost *hub = run->hub;
    char retries[48] = "";

    if (!remote)
        return;
    if (hub && hub->cached > 0)
        say(run, "read %s in the cache\n", size_text(hub->cached).at);
    if (hub && hub->checked > 0)
        say(run, "SHA-256 of %" PRIu64 " file%s is as the Hub lists it\n",
            hub->checked, hub->checked == 1 ? "" : "s");
    if (remote->retries > 0)
        snprintf(retries, sizeof(retries), ", %" PRIu64 " retr%s",
                 remote->retries, remote->retries == 1 ? "y" : "ies");
    say(run, "fetched %s in %" PRIu64 " request%s%s · peak heap %s\n",
        size_text(remote->bytes).at, remote->requests,
        remote->requests == 1 ? "" : "s", retries, size_text(remote->peak).at);
}

/* The same for --stats. */
static void remote_table(struct run *run)
{
    const struct remote_cost *remote = run->remote;

    if (remote)
        say(run,
            "requests              %15s\n"
            "retries               %15s\n"
            "fetched               %15s bytes\n"
            "heap for fetching     %15s bytes\n",
            number_text(remote->requests).at, number_text(remote->retries).at,
            number_text(remote->bytes).at, number_text(remote->peak).at);
}

static void ranks_table(struct run *run)
{
    struct ranks_imbalance above = ranks_imbalance();

    if (ranks_of_answer() > 1)
        say(run,
            "ranks                 %15s\n"
            "most work of a rank   %15.1f %% above the mean\n"
            "most time of a rank   %15.1f %% above the mean\n",
            number_text(ranks_of_answer()).at, 100 * above.work,
            100 * above.time);
}

static void close_line(struct run *run, const struct cost *cost)
{
    unsigned columns = out_terminal_columns(STDERR_FILENO);
    int without = 0;
    char text[320];

    do
        close_text(run, cost, without, text, sizeof(text));
    while (columns > 0 && out_width(str_of(text)) > columns &&
           ++without <= WITHOUT_SIZE);
    say(run, "%s\n", text);
}

static void close_table(struct run *run, const struct cost *cost)
{
    say(run,
        "peak heap             %15s bytes\n"
        "heap allocations      %15s\n"
        "peak resident memory  %15s bytes\n"
        "read                  %15s bytes\n"
        "size of the files     %15s bytes\n"
        "written               %15s bytes\n"
        "time                  %15s\n",
        number_text(cost->peak).at, number_text(cost->allocations).at,
        number_text(cost->resident).at, number_text(cost->read).at,
        number_text(run->size).at, number_text(cost->written).at,
        time_text(cost->seconds).at);
}

void cost_close(struct run *run)
{
    struct cost cost = cost_of(run);

    progress_clear(run);
    if (run->options->stats) {
        close_table(run, &cost);
        ranks_table(run);
        remote_table(run);
    } else if (!run->options->quiet && !run->options->json) {
        remote_line(run);
        close_line(run, &cost);
    }
}
