/* SPDX-License-Identifier: MIT
 *
 * list.c - modelfile meta list: list metadata
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/value.h"

static struct {
    bool full;
} options;

static const struct option table[] = {
    OPTION_FLAG("--full", options.full, "print arrays and strings in full"),
    OPTION_FLAG("--one-file", shared_options.one_file,
                "this file only, not the first shard of its model"),
    OPTION_FILES_FROM,
    { 0 },
};

static bool matches(const struct run *run, const struct mf_meta *meta)
{
    return names_match(run->operand_count < 2 ? NULL : run->operand[1],
                       meta->key);
}

static void list_json(struct run *run, struct mf_model *model)
{
    struct mf_meta meta;

    json_text(run, "format", mf_model_info(model)->format);
    mf_json_key(&run->json, "metadata");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (matches(run, &meta))
            value_entry_json(run, model, i, options.full);
    mf_json_end(&run->json, ']');
}

/* On a terminal the value is cut to the rest of the line. */
static void value_column(struct run *run, struct mf_model *model, size_t index,
                         size_t before)
{
    out_cell_begin(&run->out);
    value_text(run, model, index, options.full);
    if (!options.full && run->out.columns > before)
        out_cell_end(&run->out, run->out.columns - before);
}

static void list_text(struct run *run, struct mf_model *model)
{
    size_t key = 0, type = 0, width;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (matches(run, &meta)) {
            width = out_width(meta.key);
            key = width > key && width <= 60 ? width : key;
            width = strlen(type_text(&meta).at);
            type = width > type ? width : type;
        }
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        if (!matches(run, &meta))
            continue;
        out_column(&run->out, meta.key, key, false);
        out_text(&run->out, "  ");
        out_column(&run->out, str_of(type_text(&meta).at), type, false);
        out_text(&run->out, "  ");
        width = out_width(meta.key);
        value_column(run, model, i, (width > key ? width : key) + type + 4);
        out_text(&run->out, "\n");
    }
}

static void show_list(struct run *run, struct mf_model *model)
{
    struct mf_meta meta;
    size_t i = 0;

    files_from_heading(run);
    while (mf_meta_at(model, i, &meta) && !matches(run, &meta))
        i++;
    if (run->operand_count > 1 && i == mf_model_info(model)->metadata_count)
        names_unmatched(run, model, NAMED_KEY, run->operand[1]);
    else if (run->options->json)
        list_json(run, model);
    else
        list_text(run, model);
}

static bool check_operands(struct run *run)
{
    return run->options->files_from ? files_from_first(run)
                                    : names_one_file(run, NAMED_KEY);
}

static void meta_list(struct run *run)
{
    inputs_listed(run, true, show_list);
}

const struct command command_meta_list = {
    .name = "meta",
    .sub = "list",
    .operands = "FILE [PATTERN]",
    .operands_min = 1,
    .operands_max = 2,
    .summary = "list metadata: key, type, value",
    .about = "Lists the keys of the metadata that match PATTERN, a glob "
             "such as 'tokenizer.*', with type and value. Arrays and "
             "long strings are shortened unless --full is given.\n\n"
             "`modelfile meta FILE` is the same.\n",
    .examples = "modelfile meta list model.gguf\n"
                "modelfile meta model.gguf 'tokenizer.*'\n"
                "modelfile meta list model.apr --json --full\n",
    .exit_no = "no key matches PATTERN",
    .options = table,
    .remote = true,
    .execute = meta_list,
    .check_operands = check_operands,
};
