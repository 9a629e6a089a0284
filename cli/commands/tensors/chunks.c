/* SPDX-License-Identifier: MIT
 *
 * chunks.c - what `tensors info` lists of a table
 *
 * A line for each chunk: the values of a column in one group of rows.
 */
#include "cli/commands/tensors/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/describe.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/tsv.h"

struct listing {
    const struct chunk_choice *choice;
    uint32_t *row; /* of the chunks to show */
    size_t count, room;
};

struct line {
    struct mf_column_chunk chunk;
    struct mf_column column;
};

static struct line line_at(const struct listing *listing, size_t i)
{
    const struct mf_model *model = listing->choice->model;
    struct line line;

    mf_column_chunk_at(model, listing->row[i], &line.chunk);
    mf_column_at(model, line.chunk.column, &line.column);
    return line;
}

/* False after an error of the env. */
static bool choose(struct run *run, struct listing *listing)
{
    const struct chunk_choice *choice = listing->choice;
    struct mf_column_chunk chunk;
    struct mf_table_info info;
    struct mf_column column;

    mf_model_table(choice->model, &info);
    listing->room = info.chunk_count + 1;
    listing->row =
        mf_env_resize(run->env, NULL, 0, listing->room * sizeof(*listing->row));
    if (!listing->row)
        return false;
    for (size_t i = 0; mf_column_chunk_at(choice->model, i, &chunk); i++)
        if (mf_column_at(choice->model, chunk.column, &column) &&
            names_match(choice->pattern, column.path))
            listing->row[listing->count++] = (uint32_t)i;
    if (choice->sorted)
        mf_column_chunk_sort(choice->model, choice->order, listing->row,
                             listing->count);
    if (listing->count > choice->limit)
        listing->count = (size_t)choice->limit;
    return true;
}

/* ---- text ---- */

enum { PATH, GROUP, TYPE, LOGICAL, CODEC, VALUES, NULLS, OFFSET, BYTES, CELLS };

static const char *const heads[CELLS] = { "column",  "group",  "type",
                                          "logical", "codec",  "values",
                                          "nulls",   "offset", "bytes" };

/* Numbers are aligned at their end. */
static bool is_number(unsigned cell)
{
    return cell == GROUP || cell >= VALUES;
}

/* A cell's text; a path's text is in the column. */
struct cell {
    char text[32];
    struct mf_str at;
};

static void set_number(struct cell *cell, uint64_t number)
{
    snprintf(cell->text, sizeof(cell->text), "%s", number_text(number).at);
    cell->at = str_of(cell->text);
}

static void set_cell(const struct line *line, unsigned at, struct cell *cell)
{
    const struct mf_column_chunk *chunk = &line->chunk;
    const uint64_t numbers[CELLS] = { [GROUP] = chunk->group,
                                      [VALUES] = chunk->values,
                                      [NULLS] = chunk->nulls,
                                      [BYTES] = chunk->data.size };

    cell->at = str_of("-");
    if (at == PATH)
        cell->at = line->column.path;
    else if (at == TYPE)
        cell->at = str_of(line->column.physical);
    else if (at == LOGICAL && line->column.logical.size > 0)
        cell->at = line->column.logical;
    else if (at == CODEC)
        cell->at = str_of(chunk->codec);
    else if (at == OFFSET)
        snprintf(cell->text, sizeof(cell->text), "0x%" PRIx64,
                 chunk->data.offset);
    else if (is_number(at) && numbers[at] != UINT64_MAX)
        set_number(cell, numbers[at]);
    if (at == OFFSET)
        cell->at = str_of(cell->text);
}

static void measure(const struct listing *listing, size_t width[CELLS])
{
    struct cell cell;

    for (unsigned c = 0; c < CELLS; c++)
        width[c] = strlen(heads[c]);
    for (size_t i = 0; i < listing->count; i++) {
        struct line line = line_at(listing, i);

        for (unsigned c = 0; c < CELLS; c++) {
            size_t wanted;

            set_cell(&line, c, &cell);
            wanted = out_width(cell.at);
            width[c] = wanted > width[c] ? wanted : width[c];
        }
    }
}

static void show_cell(struct run *run, struct mf_str text, unsigned cell,
                      size_t width)
{
    struct out *out = &run->out;

    out_text(out, cell > 0 ? "  " : "");
    if (is_number(cell)) {
        out_spaces(out, width - out_width(text));
        out_escaped(out, text, "");
    } else {
        out_column(out, text, width, false);
    }
}

/* Their names: there may be several. */
static void encodings_text(struct run *run, const struct mf_model *model,
                           uint32_t encodings)
{
    const char *between = "", *name;

    for (unsigned bit = 0; (name = mf_encoding_name(model, bit)) != NULL; bit++)
        if (encodings >> bit & 1) {
            out_text(&run->out, between);
            out_text(&run->out, name);
            between = ",";
        }
}

static void list_text(struct run *run, const struct listing *listing)
{
    size_t width[CELLS];
    struct cell cell;

    measure(listing, width);
    for (unsigned c = 0; c < CELLS; c++) {
        out_text(&run->out, c > 0 ? "  " : "");
        if (is_number(c))
            out_spaces(&run->out, width[c] - strlen(heads[c]));
        out_bold(&run->out, heads[c]);
        if (!is_number(c))
            out_spaces(&run->out, width[c] - strlen(heads[c]));
    }
    out_text(&run->out, "  ");
    out_bold(&run->out, "encodings");
    out_text(&run->out, "\n");
    for (size_t i = 0; i < listing->count; i++) {
        struct line line = line_at(listing, i);

        for (unsigned c = 0; c < CELLS; c++) {
            set_cell(&line, c, &cell);
            show_cell(run, cell.at, c, width[c]);
        }
        out_text(&run->out, line.chunk.encodings ? "  " : "");
        encodings_text(run, listing->choice->model, line.chunk.encodings);
        out_text(&run->out, "\n");
    }
    out_text(&run->out, "\n");
}

/* Of a table without rows there are no chunks to list. */
static void columns_text(struct run *run, const struct listing *listing)
{
    struct mf_column column;

    for (size_t i = 0; mf_column_at(listing->choice->model, i, &column); i++) {
        if (!names_match(listing->choice->pattern, column.path))
            continue;
        out_escaped(&run->out, column.path, "");
        out_format(&run->out, "  %s", column.physical);
        out_text(&run->out, column.logical.size > 0 ? "  " : "");
        out_escaped(&run->out, column.logical, "");
        out_text(&run->out, "\n");
    }
    out_text(&run->out, "\n");
}

static void totals_text(struct run *run, const struct mf_table_info *sums)
{
    out_number(&run->out, sums->chunk_count, 0);
    out_format(&run->out, " chunk%s of ", sums->chunk_count == 1 ? "" : "s");
    out_number(&run->out, sums->column_count, 0);
    out_format(&run->out, " column%s: ", sums->column_count == 1 ? "" : "s");
    out_number(&run->out, sums->bytes, 0);
    out_text(&run->out, " bytes, ");
    out_number(&run->out, sums->unpacked, 0);
    out_text(&run->out, " without compression\n");
}

/* ---- JSON ---- */

static void column_json(struct run *run, const struct mf_column *column)
{
    json_str(run, "column", column->path);
    json_text(run, "type", column->physical);
    mf_json_key(&run->json, "logical");
    if (column->logical.size > 0)
        mf_json_string(&run->json, column->logical.at, column->logical.size);
    else
        mf_json_null(&run->json);
}

static void columns_json(struct run *run, const struct listing *listing)
{
    struct mf_column column;

    mf_json_key(&run->json, "columns");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_column_at(listing->choice->model, i, &column); i++) {
        if (!names_match(listing->choice->pattern, column.path))
            continue;
        mf_json_begin(&run->json, '{');
        column_json(run, &column);
        json_bool(run, "optional", column.optional);
        json_bool(run, "repeated", column.repeated);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void chunk_json(struct run *run, const struct mf_model *model,
                       const struct line *line)
{
    const struct mf_column_chunk *chunk = &line->chunk;
    const char *name;

    mf_json_begin(&run->json, '{');
    column_json(run, &line->column);
    json_number(run, "group", chunk->group);
    json_text(run, "codec", chunk->codec);
    mf_json_key(&run->json, "encodings");
    mf_json_begin(&run->json, '[');
    for (unsigned bit = 0; (name = mf_encoding_name(model, bit)) != NULL; bit++)
        if (chunk->encodings >> bit & 1)
            mf_json_string(&run->json, name, strlen(name));
    mf_json_end(&run->json, ']');
    json_number(run, "values", chunk->values);
    mf_json_key(&run->json, "nulls");
    if (chunk->nulls == UINT64_MAX)
        mf_json_null(&run->json);
    else
        mf_json_u64(&run->json, chunk->nulls);
    json_number(run, "offset", chunk->data.offset);
    json_number(run, "bytes", chunk->data.size);
    json_number(run, "unpacked_bytes", chunk->unpacked);
    mf_json_end(&run->json, '}');
}

static void list_json(struct run *run, const struct listing *listing)
{
    columns_json(run, listing);
    mf_json_key(&run->json, "chunks");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < listing->count; i++) {
        struct line line = line_at(listing, i);

        chunk_json(run, listing->choice->model, &line);
    }
    mf_json_end(&run->json, ']');
}

static void totals_json(struct run *run, const struct mf_table_info *sums)
{
    mf_json_key(&run->json, "totals");
    mf_json_begin(&run->json, '{');
    json_number(run, "chunks", sums->chunk_count);
    json_number(run, "columns", sums->column_count);
    json_number(run, "bytes", sums->bytes);
    json_number(run, "unpacked_bytes", sums->unpacked);
    mf_json_end(&run->json, '}');
}

/* ---- for scripts ---- */

static void chunk_tsv(struct run *run, const struct mf_model *model,
                      const struct line *line)
{
    const struct mf_column_chunk *chunk = &line->chunk;
    const uint64_t numbers[] = { chunk->values, chunk->nulls,
                                 chunk->data.offset, chunk->data.size,
                                 chunk->unpacked };
    struct out *out = &run->out;

    tsv_text(out, line->column.path);
    tsv_next(out);
    tsv_text(out, str_of(line->column.physical));
    tsv_next(out);
    tsv_text(out, line->column.logical);
    tsv_next(out);
    tsv_number(out, chunk->group);
    tsv_next(out);
    tsv_text(out, str_of(chunk->codec));
    tsv_next(out);
    encodings_text(run, model, chunk->encodings);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        tsv_next(out);
        if (numbers[i] != UINT64_MAX) /* nulls that are not known */
            tsv_number(out, numbers[i]);
    }
    out_text(out, "\n");
}

static void list_tsv(struct run *run, const struct listing *listing)
{
    out_text(&run->out, "column\ttype\tlogical\tgroup\tcodec\tencodings\t"
                        "values\tnulls\toffset\tbytes\tunpacked_bytes\n");
    for (size_t i = 0; i < listing->count; i++) {
        struct line line = line_at(listing, i);

        chunk_tsv(run, listing->choice->model, &line);
    }
}

/* ---- all of it ---- */

/* Of the chunks that are shown, and of all columns that match. */
static struct mf_table_info add_up(const struct listing *listing)
{
    struct mf_table_info sums = { .chunk_count = listing->count };
    struct mf_column column;

    for (size_t i = 0; mf_column_at(listing->choice->model, i, &column); i++)
        sums.column_count += names_match(listing->choice->pattern, column.path);
    for (size_t i = 0; i < listing->count; i++) {
        struct line line = line_at(listing, i);

        sums.bytes += line.chunk.data.size;
        sums.unpacked += line.chunk.unpacked;
    }
    return sums;
}

static void show(struct run *run, const struct listing *listing)
{
    const struct chunk_choice *choice = listing->choice;
    struct mf_table_info sums = add_up(listing);

    if (choice->pattern && sums.column_count == 0) {
        names_unmatched(run, choice->model, NAMED_COLUMN, choice->pattern);
        return;
    }
    if (choice->tsv) {
        list_tsv(run, listing);
        return;
    }
    if (run->options->json) {
        json_text(run, "format", mf_model_info(choice->model)->format);
        if (!choice->totals)
            list_json(run, listing);
        totals_json(run, &sums);
        return;
    }
    if (!choice->totals && sums.chunk_count > 0)
        list_text(run, listing);
    else if (!choice->totals)
        columns_text(run, listing);
    totals_text(run, &sums);
}

bool chunks_show(struct run *run, const struct chunk_choice *choice)
{
    struct listing listing = { .choice = choice };
    struct mf_table_info info;

    if (!mf_model_table(choice->model, &info))
        return false;
    if (choose(run, &listing))
        show(run, &listing);
    else
        report_failure(run, run->operand[0]);
    mf_env_resize(run->env, listing.row,
                  listing.row ? listing.room * sizeof(*listing.row) : 0, 0);
    return true;
}
