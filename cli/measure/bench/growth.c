/* SPDX-License-Identifier: MIT
 *
 * growth.c - costs of operations, and how they grow: a + b n + c log2 n
 *
 * An allocation for each tensor shows in b.  A table that doubles whenever it
 * is full shows in c, where a glance at the counts does not find it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/measure/bench/probe.h"

/* ---- least squares ---- */

struct growth {
    double a, b, c;
};

/* A coefficient that is only what rounding has left of the values. */
static double or_zero(double coefficient, double largest)
{
    return fabs(coefficient) <= largest * 1e-9 ? 0 : coefficient;
}

static struct growth fit(const double *n, const double *value, size_t count)
{
    double mean_n = 0, mean_log = 0, mean = 0, largest = 0, determinant;
    double nn = 0, nl = 0, ll = 0, nv = 0, lv = 0; /* sums of products */
    struct growth growth;

    for (size_t i = 0; i < count; i++) {
        mean_n += n[i] / (double)count;
        mean_log += log2(n[i]) / (double)count;
        mean += value[i] / (double)count;
        largest = fmax(largest, fabs(value[i]));
    }
    /* Of the distances from the means: that loses no digits. */
    for (size_t i = 0; i < count; i++) {
        double x = n[i] - mean_n, l = log2(n[i]) - mean_log;

        nn += x * x;
        nl += x * l;
        ll += l * l;
        nv += x * (value[i] - mean);
        lv += l * (value[i] - mean);
    }
    determinant = nn * ll - nl * nl;
    growth.b = or_zero((nv * ll - lv * nl) / determinant, largest);
    growth.c = or_zero((lv * nn - nv * nl) / determinant, largest);
    growth.a = or_zero(mean - growth.b * mean_n - growth.c * mean_log, largest);
    return growth;
}

static struct growth growth_of(const struct probe_series *series, int figure)
{
    double n[PROBE_COSTS], value[PROBE_COSTS];

    for (size_t i = 0; i < series->count; i++) {
        n[i] = series->cost[i].n;
        value[i] = series->cost[i].figure[figure];
    }
    return fit(n, value, series->count);
}

/* ---- text and CSV ---- */

static const char *const figures[] = { "allocations", "bytes", "live", "ns" };

/* Whole numbers, and three digits of others. */
static void number_column(struct run *run, double number)
{
    double size = fabs(number);
    struct number_text text = number_text((uint64_t)(size + 0.5));
    char signed_text[40];

    if (size < 100 && size != floor(size))
        snprintf(signed_text, sizeof(signed_text), "%.3g", number);
    else
        snprintf(signed_text, sizeof(signed_text), "%s%s",
                 number < 0 ? "-" : "", text.at);
    out_format(&run->out, " %11s", signed_text);
}

/* n: a number, or the term of a coefficient. */
static void line(struct run *run, const struct probe_series *series,
                 const char *n, const double value[PROBE_FIGURES])
{
    if (bench_options.csv) {
        out_format(&run->out, "%s,%s,%s,%s", series->operation, series->of,
                   series->unit, n);
        for (int i = 0; i < PROBE_FIGURES; i++)
            out_format(&run->out, ",%.15g", value[i]);
    } else {
        out_column(&run->out, str_of(series->operation), 9, false);
        out_text(&run->out, " ");
        out_column(&run->out, str_of(series->of), 11, false);
        out_format(&run->out, " %8s", n);
        for (int i = 0; i < PROBE_FIGURES; i++)
            number_column(run, value[i]);
    }
    out_text(&run->out, "\n");
}

static void series_lines(struct run *run, const struct probe_series *series)
{
    static const char *const term[] = { "a", "b n", "c log2 n" };
    double value[3][PROBE_FIGURES];
    char n[32];

    for (size_t i = 0; i < series->count; i++) {
        snprintf(n, sizeof(n), "%.0f", series->cost[i].n);
        line(run, series, n, series->cost[i].figure);
    }
    for (int i = 0; i < PROBE_FIGURES; i++) {
        struct growth growth = growth_of(series, i);

        value[0][i] = growth.a;
        value[1][i] = growth.b;
        value[2][i] = growth.c;
    }
    for (int i = 0; i < 3; i++)
        line(run, series, term[i], value[i]);
}

/* ---- JSON ---- */

static void series_json(struct run *run, const struct probe_series *series)
{
    struct mf_json_out *json = &run->json;

    mf_json_begin(json, '{');
    json_text(run, "operation", series->operation);
    json_text(run, "of", series->of);
    json_text(run, "unit", series->unit);
    mf_json_key(json, "costs");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < series->count; i++) {
        mf_json_begin(json, '{');
        json_number(run, "n", (uint64_t)series->cost[i].n);
        for (int j = 0; j < PROBE_FIGURES; j++)
            json_double(run, figures[j], series->cost[i].figure[j]);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    mf_json_key(json, "growth");
    mf_json_begin(json, '{');
    for (int i = 0; i < PROBE_FIGURES; i++) {
        struct growth growth = growth_of(series, i);

        mf_json_key(json, figures[i]);
        mf_json_begin(json, '{');
        json_double(run, "a", growth.a);
        json_double(run, "b", growth.b);
        json_double(run, "c", growth.c);
        mf_json_end(json, '}');
    }
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

/* ---- whichever form ---- */

void growth_begin(struct run *run)
{
    if (run->options->json) {
        mf_json_key(&run->json, "alloc");
        mf_json_begin(&run->json, '[');
    } else if (bench_options.csv) {
        out_line(&run->out, "operation,of,unit,n,allocations,bytes,live,ns");
    }
}

void growth_end(struct run *run)
{
    if (run->options->json)
        mf_json_end(&run->json, ']');
}

void growth_heading(struct run *run, const char *unit)
{
    if (!run->options->json && !bench_options.csv)
        out_format(&run->out, "%-21s %8s %11s %11s %11s %11s\n", "operation of",
                   unit, "allocations", "bytes", "live", "ns");
}

void growth_show(struct run *run, const struct probe_series *series)
{
    if (run->options->json)
        series_json(run, series);
    else
        series_lines(run, series);
    out_flush(&run->out);
}
