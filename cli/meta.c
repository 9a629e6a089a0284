/* SPDX-License-Identifier: MIT
 *
 * meta.c - modelfile meta list and meta get
 */
#include <fnmatch.h>
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
    return run->operand_count < 2 ||
           fnmatch(run->operand[1], meta->key.at, 0) == 0;
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

static void list_text(struct run *run, struct mf_model *model)
{
    size_t key = 0, type = 0;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (matches(run, &meta)) {
            size_t wide = out_width(meta.key);

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
        value_text(run, model, i, run->options.full);
        out_text(&run->out, "\n");
    }
}

static void show_list(struct run *run, struct mf_model *model)
{
    struct mf_meta meta;
    size_t i = 0;

    if (run->options.json)
        list_json(run, model);
    else
        list_text(run, model);
    while (mf_meta_at(model, i, &meta) && !matches(run, &meta))
        i++;
    if (run->operand_count > 1 && i == mf_model_info(model)->metadata_count)
        report_worse(run, EXIT_NO); /* as grep does */
}

void command_meta_list(struct run *run)
{
    inputs_one(run, true, show_list);
}

/* ---- get ---- */

struct each_key {
    const struct mf_model *model;
    size_t index;
};

static const char *next_key(void *state)
{
    struct each_key *each = state;
    struct mf_meta meta;

    return mf_meta_at(each->model, each->index++, &meta) ? meta.key.at : NULL;
}

/* The answer is no; who asked in a terminal is told what is near. */
static void no_key(struct run *run, const struct mf_model *model,
                   const char *key)
{
    struct each_key each = { .model = model };
    const char *nearest = args_nearest(key, next_key, &each);

    report_no(run, "there is no key '%s'%s%s%s", key,
              nearest ? "; did you mean '" : "", nearest ? nearest : "",
              nearest ? "'?" : "");
}

static void show_get(struct run *run, struct mf_model *model)
{
    const char *key = run->operand[1];
    struct mf_meta meta;
    size_t at;
    bool found = mf_meta_find(model, key, strlen(key), &meta, &at);

    if (run->options.json) {
        json_text(run, "format", mf_model_info(model)->format);
        mf_json_key(&run->json, "metadata");
        mf_json_begin(&run->json, '[');
        if (found)
            entry_json(run, model, &meta, at);
        mf_json_end(&run->json, ']');
    } else if (found) {
        value_plain(run, model, at, run->options.full);
        out_text(&run->out, "\n");
    }
    if (!found)
        no_key(run, model, key);
}

void command_meta_get(struct run *run)
{
    inputs_one(run, true, show_get);
}
