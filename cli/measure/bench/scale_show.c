/* SPDX-License-Identifier: MIT
 *
 * scale_show.c - what bench --scale has measured and computed, as text or JSON
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/measure/bench/scale.h"

/* ---- costs ---- */

struct cost {
    const char *name;
    double seconds;
    const char *of, *unit; /* "byte", "GB/s" */
    double factor; /* from seconds to the unit; below 0: from what is done in a
                      second */
    const char *from;
};

#define RATE "byte", "GB/s", -1e-9

static const char measured[] = "measured", given[] = "given",
                  assumed[] = "assumed";

static double in_unit(const struct cost *cost)
{
    if (cost->factor > 0)
        return cost->seconds * cost->factor;
    return cost->seconds > 0 ? -cost->factor / cost->seconds : 0;
}

static void show_cost(struct run *run, const struct cost *cost)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_text(run, "cost", cost->name);
        json_double(run, "seconds", cost->seconds);
        json_text(run, "of", cost->of);
        json_text(run, "from", cost->from);
        mf_json_end(&run->json, '}');
        return;
    }
    out_column(&run->out, str_of(cost->name), 22, false);
    out_format(&run->out, " %10.4g ", in_unit(cost));
    out_column(&run->out, str_of(cost->unit), 4, false);
    out_format(&run->out, "  %s\n", cost->from);
}

static void show_costs(const struct scale *scale)
{
    const struct scale_costs *costs = &scale->costs;
    const char *disk = bench_options.disk > 0 ? given : measured;
    const char *shared = bench_options.shared > 0 ? given : assumed;
    const char *gather = scale->gather_ranks > 0 ? measured : assumed;
    const struct cost all[] = {
        { "thread reads", costs->read, RATE, measured },
        { "thread decodes", costs->decode, RATE, measured },
        { "thread writes", costs->write, RATE, measured },
        { "plan of a tensor", costs->plan_tensor, "tensor", "us", 1e6,
          measured },
        { "plan of a piece", costs->plan_piece, "piece", "us", 1e6, measured },
        { "gather", costs->gather, "gather", "us", 1e6, gather },
        { "gather, each rank", costs->message, "rank", "us", 1e6, assumed },
        { "network of a node", costs->network, RATE, assumed },
        { "disk of a node, read", costs->disk_read, RATE, disk },
        { "disk, written", costs->disk_write, RATE, disk },
        { "shared file system", costs->shared, RATE, shared },
        { "metadata server", costs->open, "open", "1/s", -1, assumed },
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        show_cost(scale->run, &all[i]);
}

/* ---- times ---- */

/* Five characters of any time that matters. */
static void time_text(struct run *run, double seconds, int width)
{
    int digits = seconds < 10 ? 3 : seconds < 100 ? 2 : seconds < 1000 ? 1 : 0;

    out_format(&run->out, " %*.*f", width, digits, seconds);
}

/* Of the column: "150702" fits, and its heading. */
static int width_of(enum scale_term term)
{
    size_t size = strlen(scale_names[term]);

    return size > 6 ? (int)size : 6;
}

static void show_point(struct run *run, const struct scale_point *point)
{
    const struct scale_time *time = &point->time;

    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_number(run, "ranks", point->ranks);
        json_double(run, "seconds", time->seconds);
        json_text(run, "bound", scale_names[time->bound]);
        for (int i = 0; i < SCALE_TERMS; i++)
            json_double(run, scale_names[i], time->term[i]);
        mf_json_end(&run->json, '}');
        return;
    }
    out_format(&run->out, "%7" PRIu64, point->ranks);
    time_text(run, time->seconds, 7);
    for (int i = 0; i < SCALE_TERMS; i++)
        time_text(run, time->term[i], width_of((enum scale_term)i));
    out_format(&run->out, " %s\n", scale_names[time->bound]);
}

static void heading(struct run *run, const struct scale_curve *curve)
{
    out_format(&run->out, "\n%s: %s to write, a thread encodes %.4g GB/s\n",
               curve->kernel.type, size_text(curve->out).at,
               1e-9 / curve->encode);
    out_format(&run->out, "%7s %7s", "ranks", "seconds");
    for (int i = 0; i < SCALE_TERMS; i++)
        out_format(&run->out, " %*s", width_of((enum scale_term)i),
                   scale_names[i]);
    out_text(&run->out, " bound\n");
}

static void show_curve(struct run *run, const struct scale_curve *curve)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_text(run, "type", curve->kernel.type);
        json_number(run, "bytes_written", curve->out);
        json_double(run, "encode_seconds", curve->encode);
        mf_json_key(&run->json, "times");
        mf_json_begin(&run->json, '[');
    } else {
        heading(run, curve);
    }
    for (size_t i = 0; i < curve->count; i++)
        show_point(run, &curve->point[i]);
    if (run->options->json) {
        mf_json_end(&run->json, ']');
        mf_json_end(&run->json, '}');
    }
}

/* ---- all of it ---- */

static void show_text(const struct scale *scale)
{
    const struct scale_work *work = &scale->work;
    struct run *run = scale->run;

    out_format(&run->out, "%s of %s", size_text(work->in).at,
               scale->source.type);
    out_format(&run->out, " in %s tensors", number_text(work->tensors).at);
    out_format(&run->out, " and %s files", number_text(work->files).at);
    out_format(&run->out, ", threads of a rank: %s\n\n",
               number_text(work->threads).at);
    show_costs(scale);
    for (size_t i = 0; i < scale->curves; i++)
        show_curve(run, &scale->curve[i]);
}

static void show_json(const struct scale *scale)
{
    const struct scale_work *work = &scale->work;
    struct run *run = scale->run;

    mf_json_key(&run->json, "scale");
    mf_json_begin(&run->json, '{');
    json_text(run, "source", scale->source.type);
    json_number(run, "bytes_read", work->in);
    json_number(run, "tensors", work->tensors);
    json_number(run, "files", work->files);
    json_number(run, "threads", work->threads);
    json_number(run, "gather_ranks", scale->gather_ranks);
    mf_json_key(&run->json, "costs");
    mf_json_begin(&run->json, '[');
    show_costs(scale);
    mf_json_end(&run->json, ']');
    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < scale->curves; i++)
        show_curve(run, &scale->curve[i]);
    mf_json_end(&run->json, ']');
    mf_json_end(&run->json, '}');
}

void scale_show(const struct scale *scale)
{
    if (scale->run->options->json)
        show_json(scale);
    else
        show_text(scale);
}
