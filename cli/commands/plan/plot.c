/* SPDX-License-Identifier: MIT
 *
 * plot.c - memory against context, drawn as SVG
 *
 * The picture has no script and loads nothing.  Its colours follow the reader's
 * scheme, light or dark; lines also differ in their dashes, and each has its
 * name at its end.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/commands/plan/plan.h"

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
    struct run *run;
    const struct picture *picture;
    struct buffer *out;
    double unit; /* of the memory: a GiB, or a MiB */
    double tick; /* in units */
    int ticks;
    bool failed;
};

static void put(struct drawing *to, const char *at, size_t size)
{
    if (!to->failed && !buffer_add(to->run, to->out, at, size))
        to->failed = true;
}

static void format(struct drawing *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void format(struct drawing *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(to, text, (size_t)size < sizeof(text) ? (size_t)size : 0);
}

static void put_character(struct drawing *to, const char *at)
{
    const char *name = *at == '<'   ? "&lt;"
                       : *at == '>' ? "&gt;" /* not all of "]]>" may be text */
                       : *at == '&' ? "&amp;"
                                    : NULL;

    put(to, name ? name : at, name ? strlen(name) : 1);
}

/* Text from a file: what cannot be in XML is escaped as in a terminal. */
static void put_text(struct drawing *to, struct mf_str text)
{
    while (text.size > 0) {
        size_t clean = mf_text_clean(text.at, text.size), used;
        char escaped[12];

        for (size_t i = 0; i < clean; i++)
            put_character(to, text.at + i);
        used = clean;
        if (clean < text.size) {
            used += mf_text_escape(text.at + clean, text.size - clean, escaped);
            put(to, escaped, strlen(escaped));
        }
        text.at += used;
        text.size -= used;
    }
}

static void put_label(struct drawing *to, double x, double y,
                      const char *attributes, const char *text)
{
    format(to, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    put_text(to, str_of(text));
    format(to, "</text>\n");
}

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

/* A colour of its own for each scheme, without variables of CSS, which fewer
 * viewers know. */
static void put_style(struct drawing *to)
{
    format(to, "<style>\n"
               "text { font: 13px system-ui, \"DejaVu Sans\", sans-serif; "
               "fill: #1f2328; }\n"
               ".title { font-size: 15px; font-weight: bold; }\n"
               ".paper { fill: #ffffff; }\n"
               ".dim { fill: #59636e; }\n"
               ".grid { stroke: #d1d9e0; }\n"
               ".asked { stroke: #59636e; stroke-dasharray: 2 4; }\n");
    format(to, ".line { fill: none; stroke-width: 2.5; "
               "stroke-linejoin: round; }\n"
               ".limit { stroke: #cf222e; stroke-width: 2; "
               "stroke-dasharray: 10 5; }\n"
               ".l0 { stroke: #0969da; }\n"
               ".l1 { stroke: #bc4c00; stroke-dasharray: 9 4; }\n"
               ".l2 { stroke: #1a7f37; stroke-dasharray: 3 3; }\n"
               ".l3 { stroke: #8250df; stroke-dasharray: 9 3 3 3; }\n");
    format(to, "@media (prefers-color-scheme: dark) {\n"
               "text { fill: #f0f6fc; }\n"
               ".paper { fill: #0d1117; }\n"
               ".dim { fill: #9198a1; }\n"
               ".grid { stroke: #3d444d; }\n"
               ".asked { stroke: #9198a1; }\n");
    format(to, ".limit { stroke: #f85149; }\n"
               ".l0 { stroke: #4493f8; }\n"
               ".l1 { stroke: #f0883e; }\n"
               ".l2 { stroke: #3fb950; }\n"
               ".l3 { stroke: #ab7df8; }\n"
               "}\n</style>\n");
}

static void put_head(struct drawing *to)
{
    format(to,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
           "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
           WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_text(to, to->picture->title);
    format(to, ": memory against context</title>\n");
    put_style(to);
    format(to, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
           HEIGHT);
}

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

    format(to, "<text x=\"%d\" y=\"24\" class=\"title\">", LEFT);
    put_text(to, to->picture->title);
    format(to, "</text>\n");
    put_label(to, LEFT, 44, "class=\"dim\"",
              to->unit == GIB ? "memory in GiB, for each type of the cache"
                              : "memory in MiB, for each type of the cache");
    for (int i = 0; i <= to->ticks; i++) {
        double y = y_of(to, to->tick * i * to->unit);

        format(to,
               "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
               "y2=\"%.1f\"/>\n",
               LEFT, y, RIGHT, y);
        snprintf(text, sizeof(text), "%.6g", to->tick * i);
        put_label(to, LEFT - 8, y + 4, "text-anchor=\"end\" class=\"dim\"",
                  text);
    }
    for (int i = 0; i <= X_TICKS; i++) {
        double context = most_context(to->picture) * i / X_TICKS;

        put_label(to, x_of(to, context), BOTTOM + 18,
                  "text-anchor=\"middle\" class=\"dim\"",
                  tokens_text(context).at);
    }
    put_label(to, (LEFT + RIGHT) / 2.0, BOTTOM + 40,
              "text-anchor=\"middle\" class=\"dim\"", "context in tokens");
}

/* ---- lines ---- */

static void put_curve(struct drawing *to, size_t number, double label)
{
    const struct picture *picture = to->picture;
    const struct curve *curve = &picture->curve[number];

    format(to, "<polyline class=\"line l%zu\" points=\"", number);
    for (size_t i = 0; i < picture->points; i++)
        format(to, "%s%.1f,%.1f", i > 0 ? " " : "",
               x_of(to, (double)picture->context[i]),
               y_of(to, curve->bytes[i]));
    format(to, "\"/>\n");
    format(to,
           "<line class=\"line l%zu\" x1=\"%d\" y1=\"%.1f\" "
           "x2=\"%d\" y2=\"%.1f\"/>\n",
           number, RIGHT + 6, label - 4, RIGHT + 30, label - 4);
    format(to, "<text x=\"%d\" y=\"%.1f\">", RIGHT + 36, label);
    put_text(to, str_of(curve->name));
    format(to, ": %s</text>\n", memory_text(to, end_of(picture, number)).at);
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
    format(to,
           "<line class=\"limit\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" "
           "y2=\"%.1f\"/>\n",
           LEFT, y, RIGHT, y);
    format(to, "<text x=\"%d\" y=\"%.1f\">limit: %s</text>\n", LEFT + 8,
           y > TOP + 20 ? y - 6 : y + 16, memory_text(to, limit).at);
}

static void put_asked(struct drawing *to)
{
    double asked = to->picture->asked;

    if (asked > 0 && asked <= most_context(to->picture))
        format(to,
               "<line class=\"asked\" x1=\"%.1f\" y1=\"%d\" "
               "x2=\"%.1f\" y2=\"%d\"/>\n",
               x_of(to, asked), TOP, x_of(to, asked), BOTTOM);
}

bool picture_draw(struct run *run, const struct picture *picture,
                  struct buffer *out)
{
    struct drawing to = { .run = run, .picture = picture, .out = out };

    choose_ticks(&to);
    put_head(&to);
    put_axes(&to);
    put_asked(&to);
    put_curves(&to);
    put_limit(&to);
    format(&to, "</svg>\n");
    return !to.failed;
}
