/* SPDX-License-Identifier: MIT
 *
 * plot.c - memory against context, drawn as SVG
 *
 * Lines also differ in their dashes, and each has its name at its end.
 */
#include <stdio.h>

#include "cli/commands/plan/plan.h"
#include "cli/svg.h"

/* In pixels. */
#define WIDTH  760
#define HEIGHT 420
#define LEFT   72
#define RIGHT  590
#define TOP    56
#define BOTTOM 364
#define LINE   18 /* from one label to the next */

#define X_TICKS 4
#define MIB     1048576.0
#define GIB     1073741824.0

struct tick_text {
    char at[32];
};

struct drawing {
    struct svg svg;
    const struct picture *picture;
    double unit; /* of the memory: a GiB, or a MiB */
    double tick; /* in units */
    int ticks;
};

/* ---- scales ---- */

static double most_context(const struct picture *picture)
{
    return (double)picture->context[picture->points - 1];
}

/* At the right end, where a curve is highest. */
static double end_of(const struct picture *picture, size_t curve)
{
    return picture->curve[curve].bytes[picture->points - 1];
}

static double most_bytes(const struct picture *picture)
{
    double most = picture->limit;

    for (size_t i = 0; i < picture->curve_count; i++)
        if (end_of(picture, i) > most)
            most = end_of(picture, i);
    return most;
}

/* 1, 2 or 5 times a power of ten, so that four to ten ticks reach the most. */
static void choose_ticks(struct drawing *to)
{
    double most = most_bytes(to->picture) * 1.02, power = 1;

    to->unit = most >= GIB ? GIB : MIB;
    most /= to->unit;
    while (power * 10 <= most)
        power *= 10;
    while (power > most && power > 1e-6)
        power /= 10;
    to->tick = power;
    if (most <= 2 * power)
        to->tick = power / 5;
    else if (most <= 5 * power)
        to->tick = power / 2;
    to->ticks = (int)(most / to->tick) + 1;
}

static double x_of(const struct drawing *to, double context)
{
    return LEFT + (RIGHT - LEFT) * context / most_context(to->picture);
}

static double y_of(const struct drawing *to, double bytes)
{
    return BOTTOM - (BOTTOM - TOP) * bytes / (to->unit * to->tick * to->ticks);
}

/* "22.10 GiB" */
static struct tick_text memory_text(const struct drawing *to, double bytes)
{
    struct tick_text text;

    snprintf(text.at, sizeof(text.at), "%.2f %s", bytes / to->unit,
             to->unit == GIB ? "GiB" : "MiB");
    return text;
}

/* ---- axes ---- */

/* 512, 32k, 1M */
static struct tick_text tokens_text(double tokens)
{
    struct tick_text text;
    const char *unit = tokens >= 1048576 ? "M" : tokens >= 1024 ? "k" : "";

    snprintf(text.at, sizeof(text.at), "%.4g%s",
             tokens / (tokens >= 1048576 ? 1048576
                       : tokens >= 1024  ? 1024
                                         : 1),
             unit);
    return text;
}

static void put_axes(struct drawing *to)
{
    char text[32];

    svg_label(&to->svg, LEFT, 44, "class=\"dim\"",
              to->unit == GIB ? "memory in GiB, for each type of the cache"
                              : "memory in MiB, for each type of the cache");
    for (int i = 0; i <= to->ticks; i++) {
        double y = y_of(to, to->tick * i * to->unit);

        svg_format(&to->svg,
                   "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
                   "y2=\"%.1f\"/>\n",
                   LEFT, y, RIGHT, y);
        snprintf(text, sizeof(text), "%.6g", to->tick * i);
        svg_label(&to->svg, LEFT - 8, y + 4,
                  "text-anchor=\"end\" class=\"dim\"", text);
    }
    for (int i = 0; i <= X_TICKS; i++) {
        double context = most_context(to->picture) * i / X_TICKS;

        svg_label(&to->svg, x_of(to, context), BOTTOM + 18,
                  "text-anchor=\"middle\" class=\"dim\"",
                  tokens_text(context).at);
    }
    svg_label(&to->svg, (LEFT + RIGHT) / 2.0, BOTTOM + 40,
              "text-anchor=\"middle\" class=\"dim\"", "context in tokens");
}

/* ---- lines ---- */

static void put_curve(struct drawing *to, size_t number, double label)
{
    const struct picture *picture = to->picture;
    const struct curve *curve = &picture->curve[number];

    svg_format(&to->svg, "<polyline class=\"line l%zu\" points=\"", number);
    for (size_t i = 0; i < picture->points; i++)
        svg_format(&to->svg, "%s%.1f,%.1f", i > 0 ? " " : "",
                   x_of(to, (double)picture->context[i]),
                   y_of(to, curve->bytes[i]));
    svg_format(&to->svg, "\"/>\n");
    svg_format(&to->svg,
               "<line class=\"line l%zu\" x1=\"%d\" y1=\"%.1f\" "
               "x2=\"%d\" y2=\"%.1f\"/>\n",
               number, RIGHT + 6, label - 4, RIGHT + 30, label - 4);
    svg_format(&to->svg, "<text x=\"%d\" y=\"%.1f\">", RIGHT + 36, label);
    svg_text(&to->svg, str_of(curve->name));
    svg_format(&to->svg, ": %s</text>\n",
               memory_text(to, end_of(picture, number)).at);
}

/* Labels from the top down, none over another: curves come in the order of
 * their ends, largest first. */
static void put_curves(struct drawing *to)
{
    double last = 0;

    for (size_t i = 0; i < to->picture->curve_count; i++) {
        double y = y_of(to, end_of(to->picture, i)) + 4;

        if (i > 0 && y < last + LINE)
            y = last + LINE;
        put_curve(to, i, y);
        last = y;
    }
}

static void put_limit(struct drawing *to)
{
    double limit = to->picture->limit, y = y_of(to, limit);

    if (!(limit > 0))
        return;
    svg_format(&to->svg,
               "<line class=\"limit\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
               "y2=\"%.1f\"/>\n",
               LEFT, y, RIGHT, y);
    svg_format(&to->svg, "<text x=\"%d\" y=\"%.1f\">limit: %s</text>\n",
               LEFT + 8, y > TOP + 20 ? y - 6 : y + 16,
               memory_text(to, limit).at);
}

static void put_asked(struct drawing *to)
{
    double asked = to->picture->asked;

    if (asked > 0 && asked <= most_context(to->picture))
        svg_format(&to->svg,
                   "<line class=\"asked\" x1=\"%.1f\" y1=\"%d\" "
                   "x2=\"%.1f\" y2=\"%d\"/>\n",
                   x_of(to, asked), TOP, x_of(to, asked), BOTTOM);
}

bool picture_draw(struct run *run, const struct picture *picture,
                  struct buffer *out)
{
    struct drawing to = { .svg = { .run = run, .out = out },
                          .picture = picture };

    choose_ticks(&to);
    svg_head(&to.svg, WIDTH, HEIGHT, LEFT, picture->title,
             ": memory against context");
    put_axes(&to);
    put_asked(&to);
    put_curves(&to);
    put_limit(&to);
    svg_format(&to.svg, "</svg>\n");
    return !to.svg.failed;
}
