/* SPDX-License-Identifier: MIT
 *
 * figs.c - bars for each setting of a record, as SVG
 */
#include <stdio.h>

#include "cli/measure/bench/grid.h"
#include "cli/measure/record.h"

/* In pixels. */
#define ROW_HEIGHT 24
#define LABELS     220 /* width of the names */
#define BARS       420
#define RIGHT      110 /* of the numbers at the ends of bars */
#define TOP        44
#define BOTTOM     52
#define TICKS      4

struct figure {
    const char *name, *title, *unit;
    double (*value)(const struct grid_setting *setting);
};

static double p95(const struct grid_setting *setting)
{
    return setting->latency.p95 / 1e3;
}

static double size(const struct grid_setting *setting)
{
    return (double)setting->file_size / 1e6;
}

static double error(const struct grid_setting *setting)
{
    return 100 * setting->error;
}

static double memory(const struct grid_setting *setting)
{
    return (double)setting->peak / 1e3;
}

static double joules(const struct grid_setting *setting)
{
    return setting->energy.joules;
}

static const struct figure figures[] = {
    { "latency", "Reading the model as floats", "p95 in ms", p95 },
    { "size", "Size of the model", "size in MB", size },
    { "error", "Relative error of the weights", "error in %", error },
    { "memory", "Heap while the model is read", "peak in KB", memory },
};
static const struct figure energy_figure = { "energy", "Energy of all rounds",
                                             "energy in J", joules };

static void escaped(struct out *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            out_text(out, "&lt;");
        else if (*text == '&')
            out_text(out, "&amp;");
        else if (*text == '"')
            out_text(out, "&quot;");
        else
            out_bytes(out, text, 1);
}

static void text_at(struct out *out, int x, int y, const char *anchor,
                    const char *text)
{
    out_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, y,
               anchor);
    escaped(out, text);
    out_text(out, "</text>\n");
}

/* 1, 2 or 5 times a power of ten: a tick, so that TICKS of them are not less
 * than the most. */
static double tick_for(double most)
{
    double tick = 1;

    if (!(most > 0))
        return 1;
    while (tick * TICKS < most)
        tick *= 10;
    while (tick * TICKS / 10 >= most)
        tick /= 10;
    if (tick * TICKS / 5 >= most)
        return tick / 5;
    return tick * TICKS / 2 >= most ? tick / 2 : tick;
}

static void draw_axes(struct out *out, const struct figure *figure, double tick,
                      int bottom)
{
    char text[32];

    text_at(out, LABELS, 24, "start", figure->title);
    for (int i = 0; i <= TICKS; i++) {
        int x = LABELS + BARS * i / TICKS;

        out_format(out,
                   "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" "
                   "stroke=\"#ccc\"/>\n",
                   x, TOP - 6, x, bottom);
        snprintf(text, sizeof(text), "%.6g", tick * i);
        text_at(out, x, bottom + 16, "middle", text);
    }
    text_at(out, LABELS + BARS / 2, bottom + 36, "middle", figure->unit);
    text_at(out, LABELS - 8, 24, "end", "setting");
}

static void draw(struct record_file *file, const struct figure *figure,
                 const struct grid_setting *settings, size_t count)
{
    struct out *out = &file->out;
    int bottom = TOP + (int)count * ROW_HEIGHT;
    double most = 0, tick;
    char text[32];

    for (size_t i = 0; i < count; i++)
        if (figure->value(&settings[i]) > most)
            most = figure->value(&settings[i]);
    tick = tick_for(most);
    out_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
               "height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               LABELS + BARS + RIGHT, bottom + BOTTOM);
    draw_axes(out, figure, tick, bottom);
    for (size_t i = 0; i < count; i++) {
        double value = figure->value(&settings[i]);
        int width = (int)(BARS * value / (tick * TICKS) + 0.5);
        int y = TOP + (int)i * ROW_HEIGHT;

        text_at(out, LABELS - 8, y + 14, "end", settings[i].name);
        out_format(out,
                   "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                   "fill=\"#47a\"/>\n",
                   LABELS, y + 2, width, ROW_HEIGHT - 8);
        snprintf(text, sizeof(text), "%.4g", value);
        text_at(out, LABELS + width + 6, y + 14, "start", text);
    }
    out_text(out, "</svg>\n");
}

static void write_one(const struct figure *figure,
                      const struct grid_setting *settings, size_t count)
{
    static struct record_file file;
    char name[RECORD_NAME];

    snprintf(name, sizeof(name), "figs/%s.svg", figure->name);
    record_file_open(record_folder(), &file, name);
    draw(&file, figure, settings, count);
    record_file_close(record_folder(), &file);
}

void figs_write(const struct grid_setting *settings, size_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
        write_one(&figures[i], settings, count);
    if (record_has_energy(&settings[0].energy))
        write_one(&energy_figure, settings, count);
}
