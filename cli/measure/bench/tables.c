/* SPDX-License-Identifier: MIT
 *
 * tables.c - results of modelfile bench as tables, JSON or CSV
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/measure/bench/bench.h"
#include "cli/measure/csv.h"

/* ---- tables ---- */

static const char *const names[] = { "kernels", "model", "peers" };

/* At most 80 columns each.  The unit of all times is that after "work". */
static const char *const headings[] = {
    "type     work, us        isa      thr   GB/s share  mean   std   p50   p95"
    "   p99",
    "work, ms type     thr runs  mean   std   p50   p95   p99  GB/s allocs"
    "  peak heap",
    "work, ms type     program        run  mean   std   p50   p95   p99"
    " ratio bytes",
};

static void column(struct run *run, const char *text, size_t width)
{
    out_column(&run->out, str_of(text ? text : "-"), width, false);
    out_text(&run->out, " ");
}

/* Four or five digits, which is more than times repeat to. */
static void time_text(struct run *run, double time)
{
    int digits = time < 10 ? 3 : time < 100 ? 2 : time < 1000 ? 1 : 0;

    out_format(&run->out, " %5.*f", digits, time);
}

static void times_text(struct run *run, const struct bench_row *row,
                       double unit)
{
    time_text(run, row->mean / unit);
    time_text(run, row->std / unit);
    time_text(run, row->p50 / unit);
    time_text(run, row->p95 / unit);
    time_text(run, row->p99 / unit);
}

static void kernel_text(struct run *run, const struct bench_row *row)
{
    column(run, row->type, 8);
    column(run, row->work, 15);
    column(run, row->isa, 8);
    out_format(&run->out, "%3zu %6.2f", row->threads, row->rate);
    if (row->share > 0)
        out_format(&run->out, " %3.0f %%", 100 * row->share);
    else
        out_spaces(&run->out, 6);
    times_text(run, row, 1e3);
}

static void model_text(struct run *run, const struct bench_row *row)
{
    column(run, row->work, 8);
    column(run, row->type, 8);
    out_format(&run->out, "%3zu %4zu", row->threads, row->operations);
    times_text(run, row, 1e6);
    if (row->rate > 0)
        out_format(&run->out, " %5.2f", row->rate);
    else
        out_spaces(&run->out, 6);
    out_format(&run->out, " %6" PRIu64 " %10s", row->allocations,
               size_text(row->peak).at);
}

static void peer_text(struct run *run, const struct bench_row *row)
{
    column(run, row->work, 8);
    column(run, row->type, 8);
    column(run, row->program, 14);
    if (row->failed) {
        out_format(&run->out, "failed: %s", row->failed);
        return;
    }
    out_format(&run->out, "%3zu", row->operations);
    times_text(run, row, 1e6);
    if (row->ratio > 0)
        out_format(&run->out, " %5.2f", row->ratio);
    if (row->bytes)
        out_text(&run->out,
                 strcmp(row->bytes, "same") == 0 ? " same" : " differ");
}

static void row_text(struct run *run, enum bench_table table,
                     const struct bench_row *row)
{
    if (table == BENCH_KERNELS)
        kernel_text(run, row);
    else if (table == BENCH_MODEL)
        model_text(run, row);
    else
        peer_text(run, row);
    out_text(&run->out, "\n");
    out_flush(&run->out); /* the next one may take long */
}

/* ---- JSON ---- */

static void text_json(struct run *run, const char *key, const char *text)
{
    if (text)
        json_text(run, key, text);
}

static void positive_json(struct run *run, const char *key, double number)
{
    if (number > 0)
        json_double(run, key, number);
}

static void row_json(struct run *run, const struct bench_row *row)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "work", row->work);
    text_json(run, "type", row->type);
    text_json(run, "isa", row->isa);
    text_json(run, "program", row->program);
    json_number(run, "threads", row->threads);
    json_number(run, "operations", row->operations);
    positive_json(run, "p50_ms", row->p50 / 1e6);
    positive_json(run, "p95_ms", row->p95 / 1e6);
    positive_json(run, "p99_ms", row->p99 / 1e6);
    positive_json(run, "mean_ms", row->mean / 1e6);
    if (row->mean > 0)
        json_double(run, "std_ms", row->std / 1e6);
    positive_json(run, "gb_per_second", row->rate);
    positive_json(run, "share", row->share);
    if (row->has_cost) {
        json_number(run, "allocations", row->allocations);
        json_number(run, "peak_heap_bytes", row->peak);
    }
    positive_json(run, "ratio", row->ratio);
    text_json(run, "bytes", row->bytes);
    text_json(run, "failed", row->failed);
    mf_json_end(&run->json, '}');
}

/* ---- CSV ---- */

static void text_csv(struct run *run, const char *text)
{
    csv_text(&run->out, text ? text : "");
    out_text(&run->out, ",");
}

static void positive_csv(struct run *run, double number)
{
    if (number > 0)
        out_format(&run->out, "%.6g", number);
    out_text(&run->out, ",");
}

void bench_csv_heading(struct run *run)
{
    out_line(&run->out, "work,type,isa,program,threads,operations,p50_ms,"
                        "p95_ms,p99_ms,gb_per_second,share,allocations,"
                        "peak_heap_bytes,ratio,bytes,failed,mean_ms,std_ms");
}

static void row_csv(struct run *run, const struct bench_row *row)
{
    struct out *out = &run->out;

    text_csv(run, row->work);
    text_csv(run, row->type);
    text_csv(run, row->isa);
    text_csv(run, row->program);
    out_format(out, "%zu,%zu,", row->threads, row->operations);
    positive_csv(run, row->p50 / 1e6);
    positive_csv(run, row->p95 / 1e6);
    positive_csv(run, row->p99 / 1e6);
    positive_csv(run, row->rate);
    positive_csv(run, row->share);
    if (row->has_cost)
        out_format(out, "%" PRIu64 ",%" PRIu64 ",", row->allocations,
                   row->peak);
    else
        out_text(out, ",,");
    positive_csv(run, row->ratio);
    text_csv(run, row->bytes);
    text_csv(run, row->failed);
    positive_csv(run, row->mean / 1e6);
    if (row->mean > 0)
        out_format(out, "%.6g", row->std / 1e6);
    out_text(out, "\n");
    out_flush(out);
}

/* ---- whichever form ---- */

void bench_begin(struct run *run, enum bench_table table)
{
    if (run->options->json) {
        mf_json_key(&run->json, names[table]);
        mf_json_begin(&run->json, '[');
    } else if (!bench_options.csv) {
        out_line(&run->out, headings[table]);
    }
}

void bench_print(struct run *run, enum bench_table table,
                 const struct bench_row *row)
{
    if (run->options->json)
        row_json(run, row);
    else if (bench_options.csv)
        row_csv(run, row);
    else
        row_text(run, table, row);
}

void bench_end(struct run *run)
{
    if (run->options->json)
        mf_json_end(&run->json, ']');
}
