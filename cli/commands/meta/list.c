/* SPDX-License-Identifier: MIT
 *
 * list.c - modelfile meta list and meta get
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const struct option meta_options[] = {
    { "--full", OPTION_FLAG, NULL, 0, offsetof(struct options, full),
      "arrays and strings whole" },
    { "--one-file", OPTION_FLAG, NULL, 0, offsetof(struct options, one_file),
      "this file only, not the first shard of its model" },
    { 0 },
};

struct type_text type_text(const struct mf_meta *meta)
{
    struct type_text text;

    if (meta->type == MF_VALUE_ARRAY)
        snprintf(text.at, sizeof(text.at), "%s[%" PRIu64 "]",
                 mf_value_type_name(meta->of), meta->count);
    else
        snprintf(text.at, sizeof(text.at), "%s",
                 mf_value_type_name(meta->type));
    return text;
}

static bool matches(const struct run *run, const struct mf_meta *meta)
{
    return names_match(run->operand_count < 2 ? NULL : run->operand[1],
                       meta->key);
}

static void entry_json(struct run *run, struct mf_model *model,
                       const struct mf_meta *meta, size_t index)
{
    mf_json_begin(&run->json, '{');
    json_str(run, "key", meta->key);
    value_json(run, model, index, run->options.full);
    mf_json_end(&run->json, '}');
}

/* ---- list ---- */

static void list_json(struct run *run, struct mf_model *model)
{
    struct mf_meta meta;

    json_text(run, "format", mf_model_info(model)->format);
    mf_json_key(&run->json, "metadata");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (matches(run, &meta))
            entry_json(run, model, &meta, i);
    mf_json_end(&run->json, ']');
}

/* On a terminal the value gets what the columns before it leave. */
static void value_column(struct run *run, struct mf_model *model, size_t index,
                         size_t before)
{
    bool full = run->options.full;

    out_cell_begin(&run->out);
    value_text(run, model, index, full);
    if (!full && run->out.columns > before)
        out_cell_end(&run->out, run->out.columns - before);
}

static void list_text(struct run *run, struct mf_model *model)
{
    size_t key = 0, type = 0, wide;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (matches(run, &meta)) {
            wide = out_width(meta.key);
            key = wide > key && wide <= 60 ? wide : key;
            wide = strlen(type_text(&meta).at);
            type = wide > type ? wide : type;
        }
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        if (!matches(run, &meta))
            continue;
        out_column(&run->out, meta.key, key, false);
        out_text(&run->out, "  ");
        out_column(&run->out, str_of(type_text(&meta).at), type, false);
        out_text(&run->out, "  ");
        wide = out_width(meta.key);
        value_column(run, model, i, (wide > key ? wide : key) + type + 4);
        out_text(&run->out, "\n");
    }
}

static void show_list(struct run *run, struct mf_model *model)
{
    struct mf_meta meta;
    size_t i = 0;

    while (mf_meta_at(model, i, &meta) && !matches(run, &meta))
        i++;
    if (run->operand_count > 1 && i == mf_model_info(model)->metadata_count)
        names_unmatched(run, model, NAMED_KEY, run->operand[1]);
    else if (run->options.json)
        list_json(run, model);
    else
        list_text(run, model);
}

void command_meta_list(struct run *run)
{
    inputs_one(run, true, show_list);
}

/* ---- get ---- */

static void show_get(struct run *run, struct mf_model *model)
{
    const char *key = run->operand[1];
    struct mf_meta meta;
    size_t at;

    if (!mf_meta_find(model, key, strlen(key), &meta, &at)) {
        names_missing(run, model, NAMED_KEY, key);
    } else if (run->options.json) {
        json_text(run, "format", mf_model_info(model)->format);
        mf_json_key(&run->json, "metadata");
        mf_json_begin(&run->json, '[');
        entry_json(run, model, &meta, at);
        mf_json_end(&run->json, ']');
    } else {
        value_plain(run, model, at, run->options.full);
        out_text(&run->out, "\n");
    }
}

void command_meta_get(struct run *run)
{
    inputs_one(run, true, show_get);
}
