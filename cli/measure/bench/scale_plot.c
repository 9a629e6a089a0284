/* SPDX-License-Identifier: MIT
 *
 * scale_plot.c - --plot of bench --scale: time against ranks, as SVG
 *
 * Both scales are logarithmic: where ranks share all work, a line falls as the
 * dotted ones do.  A point's title names what bounds it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/measure/bench/scale.h"
#include "cli/report.h"
#include "cli/svg.h"

/* In pixels. */
#define WIDTH  760
#define HEIGHT 420
#define LEFT   84
#define RIGHT  600
#define TOP    56
#define BOTTOM 364
#define LINE   18 /* from one label to the next */

struct drawing {
    struct svg svg;
    const struct scale *scale;
    double ranks;     /* at the right end */
    double low, high; /* decades of seconds */
};

static const struct scale_point *last_of(const struct scale_curve *curve)
{
    return &curve->point[curve->count - 1];
}

/* Whole decades around all times. */
static void find_range(struct drawing *to)
{
    const struct scale *scale = to->scale;
    double least = (double)INFINITY, most = 0;

    for (size_t i = 0; i < scale->curves; i++)
        for (size_t k = 0; k < scale->curve[i].count; k++) {
            least = fmin(least, scale->curve[i].point[k].time.seconds);
            most = fmax(most, scale->curve[i].point[k].time.seconds);
        }
    to->ranks = (double)last_of(scale->curve)->ranks;
    to->low = floor(log10(least));
    to->high = fmax(ceil(log10(most)), to->low + 1);
}

static double x_of(const struct drawing *to, double ranks)
{
    return to->ranks > 1 ? LEFT + (RIGHT - LEFT) * log(ranks) / log(to->ranks)
                         : LEFT;
}

static double y_of(const struct drawing *to, double seconds)
{
    return BOTTOM -
           (BOTTOM - TOP) * (log10(seconds) - to->low) / (to->high - to->low);
}

static void put_axes(struct drawing *to)
{
    char text[32];

    svg_label(&to->svg, LEFT, 44, "class=\"dim\"",
              "seconds, for each type; dotted: as if all work were shared");
    for (double decade = to->low; decade <= to->high; decade++) {
        double y = y_of(to, pow(10, decade));

        svg_format(&to->svg,
                   "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
                   "y2=\"%.1f\"/>\n",
                   LEFT, y, RIGHT, y);
        snprintf(text, sizeof(text), "%.6g", pow(10, decade));
        svg_label(&to->svg, LEFT - 8, y + 4,
                  "text-anchor=\"end\" class=\"dim\"", text);
    }
    for (double ranks = 1; ranks <= to->ranks; ranks *= 10) {
        snprintf(text, sizeof(text), "%.0f", ranks);
        svg_label(&to->svg, x_of(to, ranks), BOTTOM + 18,
                  "text-anchor=\"middle\" class=\"dim\"", text);
    }
    svg_label(&to->svg, (LEFT + RIGHT) / 2.0, BOTTOM + 40,
              "text-anchor=\"middle\" class=\"dim\"", "ranks");
}

/* From one rank to where the picture ends, below or on the right. */
static void put_ideal(struct drawing *to, const struct scale_curve *curve)
{
    double one = curve->point[0].time.seconds;
    double ranks = fmin(to->ranks, one / pow(10, to->low));

    svg_format(&to->svg,
               "<line class=\"asked\" x1=\"%d\" y1=\"%.1f\" x2=\"%.1f\" "
               "y2=\"%.1f\"/>\n",
               LEFT, y_of(to, one), x_of(to, ranks), y_of(to, one / ranks));
}

static void put_points(struct drawing *to, const struct scale_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const struct scale_point *point = &curve->point[i];

        svg_format(&to->svg,
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" "
                   "fill-opacity=\"0\"><title>%" PRIu64
                   " ranks: %.4g s, bound: %s</title></circle>\n",
                   x_of(to, (double)point->ranks),
                   y_of(to, point->time.seconds), point->ranks,
                   point->time.seconds, scale_names[point->time.bound]);
    }
}

static void put_curve(struct drawing *to, size_t number, double label)
{
    const struct scale_curve *curve = &to->scale->curve[number];

    svg_format(&to->svg, "<polyline class=\"line l%zu\" points=\"", number);
    for (size_t i = 0; i < curve->count; i++)
        svg_format(&to->svg, "%s%.1f,%.1f", i > 0 ? " " : "",
                   x_of(to, (double)curve->point[i].ranks),
                   y_of(to, curve->point[i].time.seconds));
    svg_format(&to->svg, "\"/>\n");
    svg_format(&to->svg, "<text x=\"%d\" y=\"%.1f\">%s: %.4g s</text>\n",
               RIGHT + 10, label, curve->kernel.type,
               last_of(curve)->time.seconds);
}

/* Labels at their lines' ends, but none over another. */
static void put_curves(struct drawing *to)
{
    double taken[SCALE_TYPES];

    for (size_t i = 0; i < to->scale->curves; i++) {
        const struct scale_curve *curve = &to->scale->curve[i];
        double y = y_of(to, last_of(curve)->time.seconds) + 4;

        for (size_t k = 0; k < i; k++)
            if (fabs(taken[k] - y) < LINE) {
                y = taken[k] - LINE;
                k = (size_t)-1;
            }
        taken[i] = y;
        put_ideal(to, curve);
        put_curve(to, i, y);
        put_points(to, curve);
    }
}

static bool draw(struct drawing *to)
{
    char title[64];

    snprintf(title, sizeof(title), "%s of %s", size_text(to->scale->work.in).at,
             to->scale->source.type);
    find_range(to);
    svg_head(&to->svg, WIDTH, HEIGHT, LEFT, str_of(title),
             ": time against ranks");
    put_axes(to);
    put_curves(to);
    svg_format(&to->svg, "</svg>\n");
    return !to->svg.failed;
}

bool scale_plot(const struct scale *scale, const char *path)
{
    struct buffer out = { 0 };
    struct drawing to = { .svg = { .run = scale->run, .out = &out },
                          .scale = scale };
    bool done = false;

    if (draw(&to))
        done = svg_write(scale->run, scale->model, &out, path);
    else
        report_failure(scale->run, path);
    buffer_release(scale->run, &out);
    return done;
}
