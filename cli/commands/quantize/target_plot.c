/* SPDX-License-Identifier: MIT
 *
 * target_plot.c - error against size, drawn as SVG
 *
 * A line for the least error of each size, a dot for each mix, a ring for the
 * choice.  Errors are on a logarithmic scale, which has no place for 0.
 */
#include <math.h>
#include <stdio.h>

#include "cli/commands/quantize/target.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/svg.h"

/* In pixels. */
#define WIDTH  760
#define HEIGHT 460
#define LEFT   72
#define RIGHT  736
#define TOP    56
#define BOTTOM 404

#define POINTS  40
#define X_TICKS 6

struct point {
    double bytes, error;
    const char *name;
    bool named; /* there is room for its name */
};

struct drawing {
    struct svg svg;
    const struct target *target;
    struct point curve[POINTS], mix[MF_TYPES_MAX], chosen;
    size_t points, mixes;
    double first, last; /* bytes */
    double low, high;   /* logarithms of errors, to base 10 */
};

/* ---- what is drawn ---- */

static void widen(struct drawing *to, const struct point *point)
{
    double power = log10(point->error);

    to->first = fmin(to->first, point->bytes);
    to->last = fmax(to->last, point->bytes);
    to->low = fmin(to->low, power);
    to->high = fmax(to->high, power);
}

static void find_mixes(struct drawing *to)
{
    const struct target *target = to->target;
    struct target_mix mix;

    for (size_t i = 0; i < target->errors->mixes; i++)
        if (target_mix_at(target, i, &mix) && mix.error > 0) {
            struct point *point = &to->mix[to->mixes++];

            *point = (struct point){ (double)mix.bytes, mix.error,
                                     target->errors->mix_name[i], false };
            widen(to, point);
        }
}

/* From the fewest bytes to the largest mix. */
static bool find_curve(struct drawing *to)
{
    const struct target *target = to->target;
    size_t size = target->errors->count * sizeof(uint32_t);
    uint32_t *types = mf_env_resize(target->run->env, NULL, 0, size);
    double least = (double)target->chosen.least;
    double most = to->last - (double)target->rest;
    bool done = types != NULL;

    for (size_t i = 0; i < POINTS && done; i++) {
        double bytes = least + (most - least) * (double)i / (POINTS - 1);
        struct mf_chosen found;
        struct point *point = &to->curve[to->points];

        /* The first one must not be rounded down. */
        done =
            target_solve(target, i > 0 ? (uint64_t)bytes : target->chosen.least,
                         types, &found);
        *point = (struct point){ (double)(target->rest + found.bytes),
                                 found.error, NULL, false };
        if (done && found.error > 0) {
            widen(to, point);
            to->points++;
        }
    }
    if (types)
        mf_env_resize(target->run->env, types, size, 0);
    return done;
}

static bool find_points(struct drawing *to)
{
    const struct target *target = to->target;

    to->first = to->low = (double)INFINITY;
    to->last = to->high = -(double)INFINITY;
    to->chosen = (struct point){ (double)(target->rest + target->chosen.bytes),
                                 target->chosen.error, NULL, false };
    if (to->chosen.error > 0)
        widen(to, &to->chosen);
    else
        to->first = to->last = to->chosen.bytes;
    find_mixes(to);
    if (!find_curve(to))
        return false;
    if (!(to->low <= to->high)) /* nothing has an error */
        to->low = to->high = 0;
    to->low = floor(to->low);
    to->high = fmax(ceil(to->high), to->low + 1);
    to->last = fmax(to->last, to->first + 1);
    return true;
}

/* ---- the picture ---- */

static double x_of(const struct drawing *to, double bytes)
{
    return LEFT + (RIGHT - LEFT) * (bytes - to->first) / (to->last - to->first);
}

static double y_of(const struct drawing *to, double error)
{
    return BOTTOM -
           (BOTTOM - TOP) * (log10(error) - to->low) / (to->high - to->low);
}

static void put_axes(struct drawing *to)
{
    char text[32];

    svg_label(&to->svg, LEFT, 44, "class=\"dim\"",
              "error, on a logarithmic scale; line: the least of each size, "
              "dots: mixes, ring: the choice");
    for (double power = to->low; power <= to->high; power++) {
        double y = y_of(to, pow(10, power));

        svg_format(&to->svg,
                   "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
                   "y2=\"%.1f\"/>\n",
                   LEFT, y, RIGHT, y);
        snprintf(text, sizeof(text), "1e%.0f", power);
        svg_label(&to->svg, LEFT - 8, y + 4,
                  "text-anchor=\"end\" class=\"dim\"", text);
    }
    for (int i = 0; i <= X_TICKS; i++) {
        double bytes = to->first + (to->last - to->first) * i / X_TICKS;

        svg_label(&to->svg, x_of(to, bytes), BOTTOM + 18,
                  "text-anchor=\"middle\" class=\"dim\"",
                  size_text((uint64_t)bytes).at);
    }
    svg_label(&to->svg, (LEFT + RIGHT) / 2.0, BOTTOM + 40,
              "text-anchor=\"middle\" class=\"dim\"",
              to->target->padded ? "size of the file" : "size of all tensors");
}

/* Names that would be over another one are left out: dots have titles. */
static bool has_room(const struct drawing *to, size_t number)
{
    double x = x_of(to, to->mix[number].bytes);
    double y = y_of(to, to->mix[number].error);

    for (size_t i = 0; i < number; i++)
        if (to->mix[i].named && fabs(x - x_of(to, to->mix[i].bytes)) < 66 &&
            fabs(y - y_of(to, to->mix[i].error)) < 14)
            return false;
    return x < RIGHT - 60;
}

static void put_mixes(struct drawing *to)
{
    for (size_t i = 0; i < to->mixes; i++) {
        struct point *mix = &to->mix[i];
        double x = x_of(to, mix->bytes), y = y_of(to, mix->error);

        svg_format(&to->svg,
                   "<circle class=\"line l1\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">"
                   "<title>%s</title></circle>\n",
                   x, y, mix->name);
        mix->named = has_room(to, i);
        if (mix->named)
            svg_label(&to->svg, x + 7, y - 3, "class=\"dim\"", mix->name);
    }
}

static void put_curve(struct drawing *to)
{
    svg_format(&to->svg, "<polyline class=\"line l0\" points=\"");
    for (size_t i = 0; i < to->points; i++)
        svg_format(&to->svg, "%s%.1f,%.1f", i > 0 ? " " : "",
                   x_of(to, to->curve[i].bytes), y_of(to, to->curve[i].error));
    svg_format(&to->svg, "\"/>\n");
}

static void put_choice(struct drawing *to)
{
    if (to->chosen.error > 0)
        svg_format(&to->svg,
                   "<circle class=\"line l2\" cx=\"%.1f\" cy=\"%.1f\" "
                   "r=\"7\"><title>the choice</title></circle>\n",
                   x_of(to, to->chosen.bytes), y_of(to, to->chosen.error));
}

static bool draw(struct drawing *to)
{
    svg_head(&to->svg, WIDTH, HEIGHT, LEFT,
             svg_title(to->target->run->operand[0]), ": error against size");
    put_axes(to);
    put_curve(to);
    put_mixes(to);
    put_choice(to);
    svg_format(&to->svg, "</svg>\n");
    return !to->svg.failed;
}

bool target_plot(const struct target *target, struct mf_model *model)
{
    struct run *run = target->run;
    const char *path = target->given->plot;
    struct buffer out = { 0 };
    struct drawing to = { .svg = { .run = run, .out = &out },
                          .target = target };
    bool done = find_points(&to) && draw(&to) &&
                mf_output_write(model, output_path(path), run->options->force,
                                out.at, out.size) == MF_OK;

    if (!done)
        report_failure(run, path);
    buffer_release(run, &out);
    return done;
}
