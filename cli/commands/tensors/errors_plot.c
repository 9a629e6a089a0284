/* SPDX-License-Identifier: MIT
 *
 * errors_plot.c - --plot of modelfile tensors stats: a map of errors, as SVG
 *
 * A panel for each type, all with the same rows and columns: a row for each
 * block, by the first number in a tensor's name, and a column for what follows
 * that.  A tensor without a number is a row of its own, in a column that these
 * share.  Colours are steps of the logarithm of the relative error, the same in
 * all panels.
 */
#include <inttypes.h>
#include <math.h>

#include "cli/commands/tensors/tensors.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/svg.h"

/* What a picture can have: more is neither readable nor quick to sort. */
#define ROWS_MOST    4096
#define COLUMNS_MOST 512

/* In pixels. */
#define CELL      14
#define GAP       22 /* between panels, and around all */
#define LETTER    7  /* about the width of one */
#define TYPE_AT   68 /* the base line of a panel's name */
#define WIDTH_MIN 620
#define FOOT      56 /* of the scale, below the cells */
#define STEP      28 /* of the scale */
#define NAME_MOST 32 /* bytes of a name beside cells; titles have all of it */

/* From the smallest error to the largest; to be seen on light and dark paper.
 * Colours between these are mixed. */
static const uint32_t colours[] = { 0x1d3b6f, 0x1f5a8f, 0x2879a6, 0x3b98b0,
                                    0x5fb3ab, 0x8fc79c, 0xc3cf80, 0xe6b85c,
                                    0xe5893f, 0xd4492f };
#define COLOURS (sizeof(colours) / sizeof(*colours))

/* A block, or a tensor without one. */
struct row {
    struct mf_str label, prefix; /* "blk.3", "blk"; of a tensor its name, "" */
    bool is_block;
    unsigned long number;
    size_t group; /* the first row with this prefix */
    size_t rank;  /* how many rows are above it */
};

/* Of a tensor: rows if it is not drawn. */
struct place {
    size_t row, column;
};

struct map {
    struct svg svg;
    const struct mf_type_errors *errors;
    struct place *place; /* of each tensor */
    struct row *row;
    struct mf_str *column;
    size_t rows, columns;
    size_t rows_room, columns_room, room;
    double low, high; /* logarithms of relative errors */
    int left, top, width, height;
};

/* ---- rows and columns ---- */

/* Digits at the beginning of the text, up to a dot or the end; 0: there are
 * none, or too many for a block. */
static size_t number_at(struct mf_str text, unsigned long *out)
{
    size_t size = 0;

    *out = 0;
    while (size < text.size && text.at[size] >= '0' && text.at[size] <= '9')
        *out = *out * 10 + (unsigned long)(text.at[size++] - '0');
    return size <= 9 && (size == text.size || text.at[size] == '.') ? size : 0;
}

static struct mf_str after(struct mf_str text, size_t size)
{
    return (struct mf_str){ text.at + size, text.size - size };
}

/* The row of the tensor; the column is what follows. */
static struct row split(struct mf_str name, struct mf_str *column)
{
    struct row row = { .label = name, .prefix = { name.at, 0 } };

    *column = (struct mf_str){ name.at, 0 };
    for (size_t at = 0; at < name.size; at++) {
        size_t size = 0;

        if (at == 0 || name.at[at - 1] == '.')
            size = number_at(after(name, at), &row.number);
        if (size == 0)
            continue;
        row.is_block = true;
        row.label.size = at + size;
        row.prefix.size = at;
        *column = after(name, at + size);
        if (column->size > 0)
            *column = after(*column, 1); /* the dot */
        return row;
    }
    return row;
}

/* The row's number; rows_room: there is no room for it.  Tensors of a block are
 * mostly one after the other. */
static size_t find_row(struct map *map, struct row row)
{
    row.group = map->rows;
    for (size_t i = map->rows; i-- > 0 && row.is_block;) {
        const struct row *other = &map->row[i];

        if (!other->is_block || !str_same(other->prefix, row.prefix))
            continue;
        if (other->number == row.number)
            return i;
        row.group = other->group;
    }
    if (map->rows == map->rows_room)
        return map->rows_room;
    map->row[map->rows] = row;
    return map->rows++;
}

static size_t find_column(struct map *map, struct mf_str column)
{
    size_t i = 0;

    while (i < map->columns && !str_same(map->column[i], column))
        i++;
    if (i == map->columns && i < map->columns_room)
        map->column[map->columns++] = column;
    return i;
}

/* Tensors without a block, then blocks by their numbers. */
static bool is_above(const struct map *map, size_t a, size_t b)
{
    const struct row *x = &map->row[a], *y = &map->row[b];

    if (x->is_block != y->is_block)
        return !x->is_block;
    if (!x->is_block)
        return a < b;
    return x->group != y->group ? x->group < y->group : x->number < y->number;
}

static void rank_rows(struct map *map)
{
    for (size_t i = 0; i < map->rows; i++) {
        map->row[i].rank = 0;
        for (size_t other = 0; other < map->rows; other++)
            map->row[i].rank += is_above(map, other, i);
    }
}

static bool make_room(struct map *map)
{
    size_t count = map->errors->count, places = count * sizeof(*map->place);
    uint8_t *at;

    map->rows_room = count < ROWS_MOST ? count : ROWS_MOST;
    map->columns_room = count < COLUMNS_MOST ? count : COLUMNS_MOST;
    map->room = places + map->rows_room * sizeof(*map->row) +
                map->columns_room * sizeof(*map->column) + 1;
    at = mf_env_resize(map->svg.run->env, NULL, 0, map->room);
    map->svg.failed = !at;
    if (!at)
        return false;
    map->place = (void *)at;
    map->row = (void *)(at + places);
    map->column = (void *)(map->row + map->rows_room);
    return true;
}

/* False after report_usage where there are too many. */
static bool find_places(struct map *map, const char *pattern)
{
    for (size_t i = 0; i < map->errors->count; i++) {
        struct mf_str name = map->errors->tensor[i].name, column;
        struct place *place = &map->place[i];

        *place = (struct place){ ROWS_MOST, 0 };
        if (!names_match(pattern, name))
            continue;
        place->row = find_row(map, split(name, &column));
        place->column = find_column(map, column);
        if (place->row < map->rows && place->column < map->columns)
            continue;
        report_usage(map->svg.run,
                     "'--plot' draws at most %d rows and %d columns: name "
                     "fewer tensors by a pattern",
                     ROWS_MOST, COLUMNS_MOST);
        return false;
    }
    rank_rows(map);
    return true;
}

/* ---- colours ---- */

static void find_range(struct map *map)
{
    map->low = (double)INFINITY;
    map->high = -(double)INFINITY;
    for (size_t i = 0; i < map->errors->count; i++)
        for (size_t t = 0; t < map->errors->types; t++) {
            double error = mf_relative_error(&map->errors->tensor[i], t);

            if (map->place[i].row == ROWS_MOST || !(error > 0) ||
                !(error < (double)INFINITY))
                continue;
            map->low = fmin(map->low, log(error));
            map->high = fmax(map->high, log(error));
        }
}

static uint32_t mix(uint32_t a, uint32_t b, double part)
{
    uint32_t mixed = 0;

    for (int shift = 0; shift < 24; shift += 8) {
        double from = a >> shift & 0xff, to = b >> shift & 0xff;

        mixed |= (uint32_t)(from + (to - from) * part + 0.5) << shift;
    }
    return mixed;
}

static uint32_t colour_of(const struct map *map, double error)
{
    double range = map->high - map->low;
    double at = error > 0 && range > 0
                    ? (log(error) - map->low) / range * (COLOURS - 1)
                    : 0;
    size_t step = (size_t)at;

    return step < COLOURS - 1
               ? mix(colours[step], colours[step + 1], at - (double)step)
               : colours[COLOURS - 1];
}

/* ---- the picture ---- */

static size_t longest(const struct map *map, bool of_rows)
{
    size_t count = of_rows ? map->rows : map->columns, most = 0;

    for (size_t i = 0; i < count; i++) {
        size_t size = of_rows ? map->row[i].label.size : map->column[i].size;

        most = size > most ? size : most;
    }
    return most < NAME_MOST ? most : NAME_MOST;
}

static void lay_out(struct map *map)
{
    int panel = (int)map->columns * CELL + GAP;

    map->left = GAP + (int)longest(map, true) * LETTER;
    map->top = TYPE_AT + 10 + (int)longest(map, false) * LETTER;
    map->width = map->left + (int)map->errors->types * panel;
    map->width = map->width < WIDTH_MIN ? WIDTH_MIN : map->width;
    map->height = map->top + (int)map->rows * CELL + FOOT;
}

static int panel_x(const struct map *map, size_t type)
{
    return map->left + (int)type * ((int)map->columns * CELL + GAP);
}

/* The beginning of a long name, of whole characters. */
static void put_name(struct map *map, struct mf_str name)
{
    size_t size = name.size < NAME_MOST ? name.size : NAME_MOST;

    while (size > 0 && size < name.size &&
           ((uint8_t)name.at[size] & 0xc0) == 0x80)
        size--;
    svg_text(&map->svg, (struct mf_str){ name.at, size });
    svg_format(&map->svg, "</text>\n");
}

static void put_rows(struct map *map)
{
    for (size_t i = 0; i < map->rows; i++) {
        svg_format(&map->svg,
                   "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" "
                   "class=\"dim\">",
                   map->left - 6,
                   map->top + (int)map->row[i].rank * CELL + CELL - 3);
        put_name(map, map->row[i].label);
    }
}

/* Names of columns are read from below. */
static void put_columns(struct map *map, size_t type)
{
    int x = panel_x(map, type);

    svg_label(&map->svg, x, TYPE_AT, "", map->errors->type_name[type]);
    for (size_t i = 0; i < map->columns; i++) {
        int at = x + (int)i * CELL + CELL - 3;

        svg_format(&map->svg,
                   "<text x=\"%d\" y=\"%d\" transform=\"rotate(-90 %d %d)\" "
                   "class=\"dim\">",
                   at, map->top - 4, at, map->top - 4);
        put_name(map, map->column[i]);
    }
}

static void put_cell(struct map *map, size_t tensor, size_t type)
{
    const struct mf_tensor_errors *errors = &map->errors->tensor[tensor];
    const struct place *place = &map->place[tensor];
    double error = errors->type[type].error;
    double relative = mf_relative_error(errors, type);

    svg_format(&map->svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" ",
               panel_x(map, type) + (int)place->column * CELL,
               map->top + (int)map->row[place->row].rank * CELL, CELL - 1,
               CELL - 1);
    if (error < (double)INFINITY) {
        svg_format(&map->svg, "fill=\"#%06" PRIx32 "\"><title>",
                   colour_of(map, relative));
        svg_text(&map->svg, errors->name);
        svg_format(&map->svg, ", %s: %s bytes, error %.6g, %.3g %%",
                   map->errors->type_name[type],
                   number_text(errors->bytes[type]).at, error, 100 * relative);
    } else {
        svg_format(&map->svg, "class=\"grid\" fill=\"none\"><title>");
        svg_text(&map->svg, errors->name);
        svg_format(&map->svg, " cannot be %s", map->errors->type_name[type]);
    }
    svg_format(&map->svg, "</title></rect>\n");
}

static void put_scale(struct map *map)
{
    int y = map->top + (int)map->rows * CELL + 24;

    if (!(map->low <= map->high)) /* nothing has an error */
        return;
    svg_format(&map->svg,
               "<text x=\"%d\" y=\"%d\" class=\"dim\">%.3g %%"
               "</text>\n",
               GAP, y + 11, 100 * exp(map->low));
    for (size_t i = 0; i < COLOURS; i++)
        svg_format(&map->svg,
                   "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                   "fill=\"#%06" PRIx32 "\"/>\n",
                   GAP + 70 + (int)i * STEP, y, STEP, CELL, colours[i]);
    svg_format(&map->svg,
               "<text x=\"%d\" y=\"%d\" class=\"dim\">%.3g %%"
               "</text>\n",
               GAP + 80 + (int)COLOURS * STEP, y + 11, 100 * exp(map->high));
}

static bool draw(struct map *map)
{
    find_range(map);
    lay_out(map);
    svg_head(&map->svg, map->width, map->height, GAP,
             svg_title(map->svg.run->operand[0]), ": errors of tensors");
    svg_label(&map->svg, GAP, 44, "class=\"dim\"",
              "error as a part of the numbers, on a logarithmic scale; a row "
              "for each block");
    put_rows(map);
    for (size_t t = 0; t < map->errors->types; t++) {
        put_columns(map, t);
        for (size_t i = 0; i < map->errors->count; i++)
            if (map->place[i].row < ROWS_MOST)
                put_cell(map, i, t);
    }
    put_scale(map);
    svg_format(&map->svg, "</svg>\n");
    return !map->svg.failed;
}

static bool write_map(struct map *map, struct mf_model *model, const char *path)
{
    if (draw(map))
        return svg_write(map->svg.run, model, map->svg.out, path);
    report_failure(map->svg.run, path);
    return false;
}

bool errors_plot(struct run *run, struct mf_model *model,
                 const struct mf_type_errors *errors, const char *pattern,
                 const char *path)
{
    struct buffer out = { 0 };
    struct map map = { .svg = { .run = run, .out = &out }, .errors = errors };
    bool done = false;

    if (make_room(&map))
        done = find_places(&map, pattern) && write_map(&map, model, path);
    else
        report_failure(run, path);
    if (map.place)
        mf_env_resize(run->env, map.place, map.room, 0);
    buffer_release(run, &out);
    return done;
}
