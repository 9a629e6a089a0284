/* SPDX-License-Identifier: MIT
 *
 * info.c - modelfile info: a summary of a model, on one screen
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands/info/info.h"
#include "cli/commands/info/tree.h"
#include "cli/describe.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/json.h"
#include "cli/kinds.h"
#include "cli/missing.h"
#include "cli/report.h"
#include "cli/totals.h"
#include "cli/value.h"

/* More would not fit a screen; --json has all of them. */
#define FINDINGS_SHOWN 5
#define SHARDS_SHOWN   4

static struct {
    bool tree;
    uint64_t depth;
} options;

static const struct option table[] = {
    OPTION_FLAG("--tree", options.tree,
                "bars of the bytes of each part of the model, such as blk.0"),
    OPTION_COUNT("--depth", "N", options.depth,
                 "with --tree: tell the first N parts of names apart"),
    OPTION_ONE_FILE,
    OPTION_TENSORS_ONLY,
    OPTION_FILES_FROM,
    OPTIONS_JOBS,
    { 0 },
};

/* A Hugging Face model has in config.json what others have in their metadata:
 * the keys of the GGUF file that would be made of it.  If none would, the rest
 * is shown all the same. */
static struct mf_model *read_config(struct run *run, struct mf_model *model,
                                    const char *path)
{
    struct mf_model *outline = NULL;
    struct mf_meta meta;

    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL) &&
        mf_model_outline(model, MF_OUTLINE_FACTS, &outline) != MF_OK)
        report_remark(run, path, mf_env_error(run->env)->message);
    return outline;
}

/* ---- text ---- */

#define LABEL_COLUMNS 20

static void label(struct run *run, const char *name)
{
    out_text(&run->out, "  ");
    out_bold(&run->out, name);
    out_spaces(&run->out, strlen(name) < 18 ? 18 - strlen(name) : 1);
    out_cell_begin(&run->out);
}

/* Ends the line of a value, cut to the terminal. */
static void end_value(struct run *run)
{
    struct out *out = &run->out;

    if (out->columns > LABEL_COLUMNS)
        out_cell_end(out, out->columns - LABEL_COLUMNS);
    out_text(out, "\n");
}

static void fact_text(struct run *run, struct mf_model *model,
                      struct mf_model *outline, const char *name,
                      enum mf_fact fact)
{
    struct mf_meta meta;
    size_t at;

    model = info_fact(model, outline, fact, &meta, &at);
    if (!model)
        return;
    label(run, name);
    if (fact == MF_FACT_VOCAB_SIZE && meta.type == MF_VALUE_ARRAY)
        out_number(&run->out, meta.count, 0);
    else if (meta.type == MF_VALUE_STRING)
        out_escaped(&run->out, meta.text, "");
    else if (meta.type == MF_VALUE_ARRAY)
        value_text(run, model, at, false);
    else
        out_number(&run->out, meta.number.u64, 0);
    end_value(run);
}

/* Whether the number is given and is 0, as of experts. */
static bool is_zero(struct mf_model *model, struct mf_model *outline,
                    enum mf_fact fact)
{
    struct mf_meta meta;

    return info_fact(model, outline, fact, &meta, NULL) &&
           meta.type != MF_VALUE_ARRAY && meta.number.u64 == 0;
}

/* What not every model has. */
static void parts_text(struct run *run, struct mf_model *model,
                       struct mf_model *outline)
{
    static const struct {
        const char *name;
        enum mf_fact fact;
    } parts[] = {
        { "window", MF_FACT_SLIDING_WINDOW },
        { "state size", MF_FACT_STATE_SIZE },
        { "experts", MF_FACT_EXPERT_COUNT },
        { "experts used", MF_FACT_EXPERT_USED_COUNT },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!is_zero(model, outline, parts[i].fact))
            fact_text(run, model, outline, parts[i].name, parts[i].fact);
}

static void format_text(struct run *run, const struct mf_model_info *info)
{
    label(run, "format");
    out_text(&run->out, info->format);
    dialect_text(&run->out, info->variant, info->version, info->version_minor,
                 info->byte_order);
    out_text(&run->out, "\n");
}

static void parameter_lines(struct run *run, const struct mf_model_info *info)
{
    struct out *out = &run->out;

    label(run, "parameters");
    out_number(out, info->parameters, 0);
    if (info->parameters >= 1000)
        out_format(out, " (%s)", count_text(info->parameters).at);
    out_text(out, "\n");
    if (info->parameters > 0) {
        label(run, "bits per weight");
        out_format(out, "%.2f\n", info_bits_per_weight(info));
    }
}

static void size_line(struct run *run, const struct mf_model_info *info)
{
    struct out *out = &run->out;

    label(run, "size");
    if (info->file_size >= 1024)
        out_format(out, "%s (%s bytes)", size_text(info->file_size).at,
                   number_text(info->file_size).at);
    else
        out_format(out, "%" PRIu64 " bytes", info->file_size);
    out_text(out, "\n");
}

static void data_line(struct run *run, const struct mf_model_info *info)
{
    struct out *out = &run->out;

    label(run, "data");
    out_format(out, "from 0x%" PRIx64 " on", info->data_offset);
    if (info->alignment > 1)
        out_format(out, ", aligned to %" PRIu64, info->alignment);
    out_text(out, "\n");
}

/* On a narrow terminal the path is shortened. */
static void shard_text(struct out *out, const struct mf_shard *shard)
{
    struct mf_str path = str_of(shard->path);
    size_t width = out_width(path), taken;
    char text[96];

    snprintf(text, sizeof(text), ": %zu tensor%s, %s", shard->tensor_count,
             shard->tensor_count == 1 ? "" : "s", size_text(shard->size).at);
    taken = LABEL_COLUMNS + strlen(text);
    if (out->columns > taken && width > out->columns - taken)
        width = out->columns - taken;
    out_spaces(out, LABEL_COLUMNS);
    out_column(out, path, width, true);
    out_line(out, text);
}

static void shards_text(struct run *run, const struct mf_model *model)
{
    size_t count = mf_model_info(model)->shard_count;
    struct mf_shard shard;

    if (count < 2)
        return;
    label(run, "shards");
    out_format(&run->out, "%zu\n", count);
    for (size_t i = 0; i < SHARDS_SHOWN && mf_shard_at(model, i, &shard); i++) {
        shard_text(&run->out, &shard);
    }
    if (count > SHARDS_SHOWN)
        out_format(&run->out, "%20s... and %zu more\n", "",
                   count - SHARDS_SHOWN);
}

static void missing_lines(struct run *run, const struct mf_model *model)
{
    struct mf_missed missed;

    for (size_t i = 0; mf_missing_at(model, i, &missed); i++) {
        label(run, "not read");
        out_escaped(&run->out, missed.name, "");
        out_format(&run->out, ": %s", missed.reason);
        end_value(run);
    }
}

static void findings_text(struct run *run, const struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    size_t count = info->error_count + info->warning_count;
    struct mf_finding finding;
    struct out *out = &run->out;

    if (count == 0)
        return;
    label(run, "problems");
    out_format(out, "%zu error%s, %zu warning%s\n", info->error_count,
               info->error_count == 1 ? "" : "s", info->warning_count,
               info->warning_count == 1 ? "" : "s");
    for (size_t i = 0; i < FINDINGS_SHOWN && mf_finding_at(model, i, &finding);
         i++) {
        out_text(out, "    ");
        out_severity(out, finding.severity);
        out_format(out, " %s", finding.rule);
        if (finding.offset != MF_NO_OFFSET)
            out_format(out, " at %#" PRIx64, finding.offset);
        out_format(out, ": %s\n", finding.message);
    }
    if (count > FINDINGS_SHOWN)
        out_format(out, "    ... and %zu more\n", count - FINDINGS_SHOWN);
}

static void kind_text(struct run *run, struct mf_model *model,
                      const struct kind *kind)
{
    struct mf_meta meta;
    size_t at;

    if (!kind->is(model))
        return;
    if (kind->entries) {
        label(run, "entries");
        out_number(&run->out, kind_entries(model), 0);
        out_text(&run->out, "\n");
    }
    for (size_t i = 0; kind->row[i].key; i++) {
        if (!kind_row(model, kind, i, &meta, &at))
            continue;
        label(run, kind->row[i].label);
        if (meta.type == MF_VALUE_STRING)
            out_escaped(&run->out, meta.text, "");
        else
            value_text(run, model, at, false);
        end_value(run);
    }
}

static void metadata_line(struct run *run, const struct mf_model_info *info)
{
    label(run, "metadata");
    out_format(&run->out, "%zu key%s\n", info->metadata_count,
               info->metadata_count == 1 ? "" : "s");
}

static void model_text(struct run *run, struct mf_model *model,
                       struct mf_model *outline)
{
    const struct mf_model_info *info = mf_model_info(model);

    fact_text(run, model, outline, "architecture", MF_FACT_ARCHITECTURE);
    fact_text(run, model, outline, "name", MF_FACT_NAME);
    fact_text(run, model, outline, "license", MF_FACT_LICENSE);
    parameter_lines(run, info);
    size_line(run, info);
    data_line(run, info);
    fact_text(run, model, outline, "quantization", MF_FACT_FILE_TYPE);
    fact_text(run, model, outline, "layers", MF_FACT_BLOCK_COUNT);
    fact_text(run, model, outline, "context", MF_FACT_CONTEXT_LENGTH);
    fact_text(run, model, outline, "embedding", MF_FACT_EMBEDDING_LENGTH);
    fact_text(run, model, outline, "heads", MF_FACT_HEAD_COUNT);
    fact_text(run, model, outline, "kv heads", MF_FACT_HEAD_COUNT_KV);
    parts_text(run, model, outline);
    fact_text(run, model, outline, "vocabulary", MF_FACT_VOCAB_SIZE);
    metadata_line(run, info);
    label(run, "tensors");
    out_number(&run->out, info->tensor_count, 0);
    out_text(&run->out, "\n");
    for (size_t i = 0; i < KINDS_COUNT; i++)
        kind_text(run, model, &kinds[i]);
    adapter_text(run, model, LABEL_COLUMNS);
    shards_text(run, model);
}

static void show_text(struct run *run, struct mf_model *model,
                      struct mf_model *outline, const char *path)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct totals totals = info_totals(model);

    out_escaped(&run->out, str_of(path), "");
    out_text(&run->out, "\n");
    format_text(run, info);
    if (table_text(run, model, LABEL_COLUMNS)) {
        size_line(run, info);
        metadata_line(run, info);
    } else {
        model_text(run, model, outline);
    }
    missing_lines(run, model);
    findings_text(run, model);
    if (totals.count > 0) {
        out_text(&run->out, "\n");
        totals_show(run, &totals);
    }
}

static void show_tree(struct run *run, struct mf_model *model, const char *path)
{
    if (!run->options->json) {
        out_escaped(&run->out, str_of(path), "");
        out_text(&run->out, "\n");
    }
    tree_show(run, model, path, options.depth);
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    bool first = run->size == 0;
    struct mf_model *model = inputs_open(run, path, shards, false);
    struct mf_model *outline;

    if (!model)
        return;
    outline = read_config(run, model, path);
    if (!first && !run->options->json)
        out_text(&run->out, "\n");
    if (run->options->json)
        info_json(run, model, outline);
    if (options.tree)
        show_tree(run, model, path);
    else if (!run->options->json)
        show_text(run, model, outline, path);
    mf_model_close(outline);
    mf_model_close(model);
}

static void info(struct run *run)
{
    if (options.depth > 0 && !options.tree) {
        report_usage(run, "--depth needs --tree");
        return;
    }
    run->lists_missing = true;
    inputs_each(run, show, report_failure);
}

const struct command command_info = {
    .name = "info",
    .sub = "",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .summary = "show a summary of a model",
    .about = "Prints what a model is on one screen: format, architecture "
             "and other facts, size, parameters, totals for each type of "
             "tensor, shards, and what is wrong with it. Only the header "
             "is read. A Hugging Face folder has the facts of the GGUF "
             "file that convert makes of it.\n\n"
             "A folder is searched for models, with its subfolders. "
             "A file that is damaged but can be read is shown with its "
             "problems; validate judges it.\n\n"
             "With --tree, a line for each part of the model has a bar for its "
             "bytes, and its types. Tensors are parts of one thing if their "
             "names are the same up to the first number; names without a "
             "number, up to their last part. With --depth, it is the first N "
             "parts; a number counts as one with the part before it. Blocks "
             "in a row that have the same tensors, types and bytes share a "
             "line, such as blk.0-31.\n",
    .examples = "modelfile info model.gguf\n"
                "modelfile info models/            every model in a folder\n"
                "modelfile info --tree model.gguf\n"
                "modelfile info --json a.gguf b.safetensors\n"
                "cat model.gguf | modelfile info -\n",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = info,
    .check_operands = files_from_operands,
};
