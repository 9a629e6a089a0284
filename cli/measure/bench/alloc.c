/* SPDX-License-Identifier: MIT
 *
 * alloc.c - allocations, bytes and time of single operations
 *
 * Allocations and bytes are counted by the env, so they are the same in every
 * run.  Kernels have no env: for them the allocations of the whole process are
 * counted.
 */
#include "cli/formats.h"
#include "cli/malloc_count.h"
#include "cli/measure/bench/probe.h"
#include "cli/progress.h"
#include "cli/report.h"

/* An operation is timed for so many nanoseconds, and --rounds times at least.
 */
#define LASTS 2000000
#define TIMES 1000

#define SPLIT    1024 /* tensors of a model in shards */
#define ANY_TYPE "q4_k"

/* ---- measuring ---- */

static bool prepare(struct probe *probe,
                    const struct probe_operation *operation)
{
    if (probe->model && operation->needs != PROBE_OPEN)
        probe_close(probe);
    return probe->model || operation->needs == PROBE_CLOSED ||
           operation->needs == PROBE_ROWS || probe_open(probe) == MF_OK;
}

static void count(const struct probe *probe,
                  const struct probe_operation *operation,
                  struct mf_heap_stats *out)
{
    struct process_heap process;

    mf_env_heap(probe->env, out);
    if (operation->needs == PROBE_ROWS && process_heap(&process))
        out->allocations = process.allocations;
}

/* False if it failed, with the error in probe->env. */
static bool measure_once(struct probe *probe,
                         const struct probe_operation *operation,
                         struct probe_cost *cost)
{
    double times = operation->times ? (double)operation->times(probe) : 1;
    struct mf_heap_stats before, after;
    uint64_t started;

    if (!prepare(probe, operation))
        return false;
    count(probe, operation, &before);
    started = bench_now();
    if (operation->work(probe) != MF_OK)
        return false;
    cost->figure[PROBE_NS] = (double)(bench_now() - started) / times;
    count(probe, operation, &after);
    cost->figure[PROBE_ALLOCATIONS] =
        (double)(after.allocations - before.allocations) / times;
    cost->figure[PROBE_BYTES] =
        (double)(after.total_bytes - before.total_bytes) / times;
    cost->figure[PROBE_LIVE] =
        ((double)after.live - (double)before.live) / times;
    return true;
}

/* In JSON the error is an element of its own. */
static bool fail(struct run *run, const struct probe *probe)
{
    if (run->options->json)
        mf_json_begin(&run->json, '{');
    bench_failure(run, probe->env, probe->path);
    if (run->options->json)
        mf_json_end(&run->json, '}');
    return false;
}

/* The time is the median. */
static bool measure(struct run *run, struct probe *probe,
                    const struct probe_operation *operation,
                    struct probe_cost *cost)
{
    double ns[TIMES];
    uint64_t started = bench_now();
    size_t runs = 0;

    do {
        if (!measure_once(probe, operation, cost))
            return fail(run, probe);
        ns[runs++] = cost->figure[PROBE_NS];
    } while (runs < bench_options.rounds ||
             (runs < TIMES && bench_now() - started < LASTS));
    bench_sort(ns, runs);
    cost->figure[PROBE_NS] = bench_percentile(ns, runs, 50);
    return progress_signal() == 0;
}

/* ---- for several n ---- */

struct sweep {
    const struct probe_operation *operations;
    const char *of, *unit;
    size_t n[PROBE_COSTS];
    size_t count;
    /* Makes what the operations work on. */
    enum mf_status (*make)(struct probe *probe, size_t n);
};

/* For n number `at` of every series. */
static bool measure_each(struct run *run, struct probe *probe,
                         const struct sweep *sweep, size_t at,
                         struct probe_series *series)
{
    bool good = true;

    if (sweep->make(probe, sweep->n[at]) != MF_OK)
        return fail(run, probe);
    for (size_t i = 0; sweep->operations[i].name && good; i++) {
        series[i].cost[at].n = (double)sweep->n[at];
        good = measure(run, probe, &sweep->operations[i], &series[i].cost[at]);
    }
    probe_close(probe);
    return good;
}

static bool measure_sweep(struct run *run, struct probe *probe,
                          const struct sweep *sweep)
{
    struct probe_series series[PROBE_OPERATIONS];
    bool good = true;

    for (size_t at = 0; at < sweep->count && good; at++)
        good = measure_each(run, probe, sweep, at, series);
    if (good)
        growth_heading(run, sweep->unit);
    for (size_t i = 0; sweep->operations[i].name && good; i++) {
        series[i].operation = sweep->operations[i].name;
        series[i].of = sweep->of;
        series[i].unit = sweep->unit;
        series[i].count = sweep->count;
        growth_show(run, &series[i]);
    }
    return good;
}

/* ---- what is measured ---- */

static const struct bench_folder *folder;

static enum mf_status make_model(struct probe *probe, size_t n)
{
    probe->tensors = n;
    probe->path = folder->ours;
    return probe_write(probe);
}

/* The first row of a type on a grid makes the grid's map: that is not counted.
 */
static enum mf_status make_rows(struct probe *probe, size_t n)
{
    enum mf_status status = MF_OK;

    probe_fill();
    probe->tensors = 1;
    if (mf_kernel_encodes(&probe->kernel, NULL))
        status = probe_on_rows->work(probe);
    probe->tensors = n;
    return status;
}

static enum mf_status make_shards(struct probe *probe, size_t n)
{
    static char first[sizeof(folder->theirs) + 64];
    enum mf_status status;

    bench_folder_empty();
    probe->tensors = SPLIT;
    probe->path = folder->ours;
    status = probe_split(probe, n, first, sizeof(first));
    bench_folder_note();
    return status;
}

static bool measure_models(struct run *run, struct probe *probe)
{
    const char *format;
    bool good = true;

    for (size_t i = 0; (format = formats_name(FORMATS_WRITABLE, i)) && good;
         i++) {
        const struct sweep models = {
            probe_on_models, format, "tensors", { 16, 64, 256, 1024, 4096 }, 5,
            make_model
        };
        const struct sweep shards = { probe_on_shards, format, "shards",
                                      { 1, 2, 4, 8 },  4,      make_shards };

        probe->format = format;
        probe->target = folder->theirs;
        good = measure_sweep(run, probe, &models) &&
               (!probe_can_split(probe) || measure_sweep(run, probe, &shards));
    }
    return good;
}

static bool measure_rows(struct run *run, struct probe *probe)
{
    const struct text_list *types = &bench_options.types;
    size_t count = types->count > 0 ? types->count : 1;
    bool good = true;

    for (size_t i = 0; i < count && good; i++) {
        const char *type = types->count > 0 ? types->at[i] : ANY_TYPE;
        struct sweep rows = {
            probe_on_rows, type, "rows", { 16, 64, 256, 1024, 4096 }, 5,
            make_rows
        };

        if (!mf_kernel_find(type, bench_options.isa, &probe->kernel))
            continue;
        if (!mf_kernel_encodes(&probe->kernel, NULL))
            rows.operations = probe_on_blocks;
        good = measure_sweep(run, probe, &rows);
    }
    return good;
}

void bench_alloc(struct run *run)
{
    struct probe probe = { .env = bench_env(run, 1) };

    folder = probe.env ? bench_folder_begin(run) : NULL;
    if (folder) {
        bench_folder_env(probe.env);
        growth_begin(run);
        if (measure_models(run, &probe))
            measure_rows(run, &probe);
        growth_end(run);
        probe_close(&probe);
        bench_folder_env(NULL);
        bench_folder_end(run);
    }
    bench_env_free(run, probe.env);
    if (progress_signal() != 0)
        report_code(run, EXIT_SIGNAL + progress_signal());
}
