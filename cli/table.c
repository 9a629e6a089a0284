/* SPDX-License-Identifier: MIT
 *
 * table.c - what `info` shows of a file that is a table, not a model
 */
#include "cli/table.h"

#include <string.h>

#include "cli/json.h"

/* Compressions of all chunks; there are 8 and "?". */
#define CODECS_MAX 16

struct codecs {
    const char *name[CODECS_MAX];
    size_t count;
};

static struct codecs codecs_of(const struct mf_model *model)
{
    struct codecs codecs = { .count = 0 };
    struct mf_column_chunk chunk;

    for (size_t i = 0; mf_column_chunk_at(model, i, &chunk); i++) {
        size_t at = 0;

        while (at < codecs.count && strcmp(codecs.name[at], chunk.codec) != 0)
            at++;
        if (at == codecs.count && at < CODECS_MAX)
            codecs.name[codecs.count++] = chunk.codec;
    }
    return codecs;
}

/* ---- text ---- */

static void label(struct run *run, const char *name, size_t column)
{
    out_text(&run->out, "  ");
    out_bold(&run->out, name);
    out_spaces(&run->out, column - strlen("  ") - strlen(name));
}

static void number_line(struct run *run, const char *name, uint64_t number,
                        size_t column)
{
    label(run, name, column);
    out_number(&run->out, number, 0);
    out_text(&run->out, "\n");
}

static void codecs_line(struct run *run, const struct mf_model *model,
                        size_t column)
{
    struct codecs codecs = codecs_of(model);

    if (codecs.count == 0)
        return;
    label(run, "codecs", column);
    for (size_t i = 0; i < codecs.count; i++) {
        out_text(&run->out, i > 0 ? ", " : "");
        out_text(&run->out, codecs.name[i]);
    }
    out_text(&run->out, "\n");
}

bool table_text(struct run *run, const struct mf_model *model, size_t column)
{
    struct mf_table_info info;

    if (!mf_model_table(model, &info))
        return false;
    number_line(run, "rows", info.rows, column);
    number_line(run, "row groups", info.group_count, column);
    number_line(run, "columns", info.column_count, column);
    number_line(run, "chunks", info.chunk_count, column);
    codecs_line(run, model, column);
    label(run, "chunk bytes", column);
    out_number(&run->out, info.bytes, 0);
    out_text(&run->out, " (");
    out_number(&run->out, info.unpacked, 0);
    out_text(&run->out, " without compression)\n");
    if (info.created_by.size > 0) {
        label(run, "created by", column);
        out_escaped(&run->out, info.created_by, "");
        out_text(&run->out, "\n");
    }
    return true;
}

/* ---- JSON ---- */

void table_json(struct run *run, const struct mf_model *model)
{
    struct codecs codecs = codecs_of(model);
    struct mf_table_info info;

    mf_json_key(&run->json, "table");
    if (!mf_model_table(model, &info)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    json_number(run, "rows", info.rows);
    json_number(run, "row_groups", info.group_count);
    json_number(run, "columns", info.column_count);
    json_number(run, "chunks", info.chunk_count);
    mf_json_key(&run->json, "codecs");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < codecs.count; i++)
        mf_json_string(&run->json, codecs.name[i], strlen(codecs.name[i]));
    mf_json_end(&run->json, ']');
    json_number(run, "bytes", info.bytes);
    json_number(run, "unpacked_bytes", info.unpacked);
    json_str(run, "created_by", info.created_by);
    mf_json_end(&run->json, '}');
}
