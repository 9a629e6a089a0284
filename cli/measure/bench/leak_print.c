/* SPDX-License-Identifier: MIT
 *
 * leak_print.c - the counts of bench --leak-check as a table, JSON or CSV
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/measure/bench/bench.h"
#include "cli/measure/bench/leak.h"
#include "cli/report.h"

static const struct {
    const char *name, *key;
} counts[MF_WATCH_KINDS] = {
    [MF_WATCH_HEAP] = { "library heap", "library_heap" },
    [MF_WATCH_OWN] = { "process heap", "process_heap" },
    [MF_WATCH_RESIDENT] = { "resident", "resident" },
    [MF_WATCH_FILES] = { "open files", "open_files" },
    [MF_WATCH_THREADS] = { "threads", "threads" },
};

/* ---- a table ---- */

/* A slope that is exactly 0 has no digits after the point. */
static struct number_text slope_text(double slope)
{
    struct number_text text = { "0" };

    if (slope != 0)
        snprintf(text.at, sizeof(text.at), "%.*f", fabs(slope) < 1e5 ? 3 : 0,
                 slope);
    return text;
}

static void row_text(struct run *run, const char *name,
                     const struct mf_watch_count *row)
{
    struct out *out = &run->out;

    out_column(out, str_of(name), 12, false);
    if (!row->known) {
        out_line(out, "  not counted in this build or by this system");
        return;
    }
    out_number(out, row->first, 14);
    out_number(out, row->last, 14);
    out_number(out, row->high_water, 14);
    out_format(out, "%10s", slope_text(row->per_round).at);
    if (row->rounds_left != UINT64_MAX)
        out_number(out, row->rounds_left, 15);
    else
        out_format(out, "%15s", "-");
    out_text(out, "\n");
}

static void table(struct run *run, const struct leak *leak)
{
    out_format(&run->out, "%-12s%14s%14s%14s%10s%15s\n", "", "first", "last",
               "high-water", "per round", "rounds left");
    for (size_t i = 0; i < MF_WATCH_KINDS; i++)
        row_text(run, counts[i].name, &leak->count[i]);
}

/* ---- JSON ---- */

static void number_or_null(struct run *run, const char *key, uint64_t number)
{
    mf_json_key(&run->json, key);
    if (number != UINT64_MAX)
        mf_json_u64(&run->json, number);
    else
        mf_json_null(&run->json);
}

static void row_json(struct run *run, const char *key,
                     const struct mf_watch_count *row)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "count", key);
    json_number(run, "first", row->first);
    json_number(run, "last", row->last);
    json_number(run, "high_water", row->high_water);
    json_double(run, "per_round", row->per_round);
    number_or_null(run, "limit", row->limit);
    number_or_null(run, "rounds_left", row->rounds_left);
    json_bool(run, "leaks", row->leaks);
    mf_json_end(&run->json, '}');
}

static void member_json(struct run *run, const struct leak *leak)
{
    struct mf_json_out *json = &run->json;
    bool leaks = false;

    mf_json_key(json, "leak_check");
    mf_json_begin(json, '{');
    json_number(run, "rounds", leak->rounds);
    json_number(run, "warm_up", LEAK_WARM_UP);
    mf_json_key(json, "work");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < leak->work_count; i++)
        mf_json_string(json, leak->work[i], strlen(leak->work[i]));
    mf_json_end(json, ']');
    mf_json_key(json, "counts");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < MF_WATCH_KINDS; i++) {
        if (leak->count[i].known)
            row_json(run, counts[i].key, &leak->count[i]);
        leaks = leaks || leak->count[i].leaks;
    }
    mf_json_end(json, ']');
    json_bool(run, "leaks", leaks);
    mf_json_end(json, '}');
}

/* ---- CSV ---- */

static void number_csv(struct run *run, uint64_t number)
{
    if (number != UINT64_MAX)
        out_format(&run->out, "%" PRIu64, number);
    out_text(&run->out, ",");
}

static void row_csv(struct run *run, const char *key,
                    const struct mf_watch_count *row)
{
    out_format(&run->out, "%s,", key);
    number_csv(run, row->rounds);
    number_csv(run, row->first);
    number_csv(run, row->last);
    number_csv(run, row->high_water);
    out_format(&run->out, "%.6g,", row->per_round);
    number_csv(run, row->limit);
    number_csv(run, row->rounds_left);
    out_line(&run->out, row->leaks ? "yes" : "no");
}

static void csv(struct run *run, const struct leak *leak)
{
    out_line(&run->out, "count,rounds,first,last,high_water,per_round,limit,"
                        "rounds_left,leaks");
    for (size_t i = 0; i < MF_WATCH_KINDS; i++)
        if (leak->count[i].known)
            row_csv(run, counts[i].key, &leak->count[i]);
}

/* ---- whichever form ---- */

void bench_leak_print(struct run *run, const struct leak *leak)
{
    if (run->options->json)
        member_json(run, leak);
    else if (bench_options.csv)
        csv(run, leak);
    else
        table(run, leak);
    if (!run->options->json)
        out_flush(&run->out);
    for (size_t i = 0; i < MF_WATCH_KINDS; i++)
        if (leak->count[i].leaks)
            report_no(run, "%s: leak: %s %s by %s per round", run->operand[0],
                      counts[i].name,
                      i == MF_WATCH_FILES || i == MF_WATCH_THREADS ? "grow"
                                                                   : "grows",
                      slope_text(leak->count[i].per_round).at);
}
