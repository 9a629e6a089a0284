/* SPDX-License-Identifier: MIT
 *
 * write.c - writing the model IN as OUT: convert, dequantize, split, merge
 */
#include "cli/commands/convert/write.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/formats.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/report.h"
#include "lib/program.h"

#define LETTERS                                                                \
    "abcdefghijklmnopqrstuvwxyz"                                               \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS_AND_DIGITS LETTERS "0123456789"

/* What the command asked for, until write_model returns. */
static struct mf_convert_options *how;
static write_instead *instead;
static write_name *find_name;
static bool from_folder;                     /* of Hugging Face */
static const struct mf_selection *selection; /* NULL: all tensors */
static struct mf_selected selected;

/* ---- output ---- */

/* A tensor is never split. */
static void warn_of_large(void *user, struct mf_str name, uint64_t size)
{
    struct run *run = user;
    char text[256];

    snprintf(text, sizeof(text),
             "warning: tensor '%.*s' of %s exceeds the size of a shard and "
             "gets a file of its own",
             (int)(name.size < 100 ? name.size : 100), name.at,
             size_text(size).at);
    report_remark(run, run->operand[0], text);
}

static bool is_sharded(void)
{
    return how->shard_size > 0 || how->shard_tensors > 0 || how->empty_first;
}

/* A folder of Hugging Face that fits one shard is a file without a number. */
static bool is_numbered(const struct mf_convert_result *result)
{
    return is_sharded() && (result->file_count > 1 || !from_folder);
}

static bool is_new_folder(const char *path)
{
    size_t size = strlen(path);

    return size > 0 && path[size - 1] == '/';
}

/* Room for the name of a file that is written. */
struct file_name {
    char tensors[PATH_MAX + 64], shard[PATH_MAX + 64];
};

/* In "FOLDER/" the tensors have the name that transformers looks for. */
static const char *tensor_file(struct file_name *name, const char *path)
{
    if (!is_new_folder(path))
        return path;
    snprintf(name->tensors, sizeof(name->tensors), "%.*smodel.safetensors",
             PATH_MAX, path);
    return name->tensors;
}

static const char *file_name(struct file_name *name, const char *path,
                             const struct mf_convert_result *result, size_t i)
{
    path = tensor_file(name, path);
    return is_numbered(result) &&
                   mf_shard_path(path, result->format, i, result->file_count,
                                 name->shard, sizeof(name->shard))
               ? name->shard
               : path;
}

static void show_text(struct run *run, const char *path,
                      const struct mf_convert_result *result)
{
    struct out *out = &run->out;
    struct file_name name;

    for (size_t i = 0; is_numbered(result) && i < result->file_count; i++) {
        out_escaped(out, str_of(file_name(&name, path, result, i)), "");
        out_line(out, "");
    }
    out_escaped(out, str_of(path), "");
    out_format(out, ": %s, ", result->format);
    out_text(out, size_text(result->file_size).at);
    if (result->file_count > 1)
        out_format(out, " in %zu files", result->file_count);
    if (result->left_out > 0)
        out_format(out, ", %zu metadata key%s dropped", result->left_out,
                   result->left_out == 1 ? "" : "s");
    if (result->tensors_left_out > 0)
        out_format(out, ", %zu tensor%s dropped", result->tensors_left_out,
                   result->tensors_left_out == 1 ? "" : "s");
    if (selected.skipped > 0)
        out_format(out, ", %zu tensor%s skipped", selected.skipped,
                   selected.skipped == 1 ? "" : "s");
    if (selected.renamed > 0)
        out_format(out, ", %zu renamed", selected.renamed);
    if (result->rescaled > 0)
        out_format(out, ", %zu pair%s with another scale than in the adapter",
                   result->rescaled, result->rescaled == 1 ? "" : "s");
    if (result->gained > 0)
        out_format(out, ", %zu key%s or tensor%s more on the way back",
                   result->gained, result->gained == 1 ? "" : "s",
                   result->gained == 1 ? "" : "s");
    if (result->reordered)
        out_text(out, ", in another order on the way back");
    if (result->back_without_mtp)
        out_text(out, ", which takes --no-mtp");
    out_text(out, output_part_text(run).at);
    out_line(out, run->options->dry_run ? " (nothing was written)" : "");
}

static void output_files_json(struct run *run, const char *path,
                              const struct mf_convert_result *result)
{
    struct file_name room;

    mf_json_key(&run->json, "output_files");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < result->file_count; i++) {
        const char *name = file_name(&room, path, result, i);

        mf_json_string(&run->json, name, strlen(name));
    }
    mf_json_end(&run->json, ']');
}

static void assumed_json(struct run *run,
                         const struct mf_convert_result *result)
{
    mf_json_key(&run->json, "assumed");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < result->assumed_count; i++)
        mf_json_string(&run->json, result->assumed[i].at,
                       result->assumed[i].size);
    mf_json_end(&run->json, ']');
}

static void show_json(struct run *run, const char *path,
                      const struct mf_convert_result *result)
{
    json_str(run, "output", str_of(path));
    json_text(run, "format", result->format);
    json_number(run, "file_count", result->file_count);
    output_files_json(run, path, result);
    json_number(run, "file_bytes", result->file_size);
    json_number(run, "left_out", result->left_out);
    json_number(run, "tensors_left_out", result->tensors_left_out);
    if (selection) {
        json_number(run, "skipped", selected.skipped);
        json_number(run, "skipped_unread", selected.unread);
        json_number(run, "renamed", selected.renamed);
    }
    if (result->gained > 0 || result->reordered) {
        json_number(run, "gained", result->gained);
        json_bool(run, "reordered", result->reordered);
    }
    if (result->back_without_mtp)
        json_bool(run, "back_without_mtp", true);
    if (result->assumed_count > 0)
        assumed_json(run, result);
    if (result->rescaled > 0)
        json_number(run, "rescaled", result->rescaled);
    if (result->rounded > 0) {
        json_number(run, "rounded", result->rounded);
        json_number(run, "rounded_numbers", result->rounded_numbers);
    }
    output_part_json(run);
    json_bool(run, "written", !run->options->dry_run && !run->options->share);
}

/* ---- suffixes and names ---- */

static bool ends(const char *path, const char *suffix)
{
    size_t size = strlen(path), tail = strlen(suffix);

    return size > tail && strcmp(path + size - tail, suffix) == 0;
}

/* ".gguf, .apr, .safetensors" */
struct suffixes {
    char text[128];
};

static struct suffixes suffixes(void)
{
    struct suffixes all = { "" };
    struct mf_format_info format;
    size_t size = 0;

    for (size_t i = 0; mf_format_at(i, &format); i++)
        if (format.can_write && formats_is_main(&format) &&
            size < sizeof(all.text))
            size +=
                (size_t)snprintf(all.text + size, sizeof(all.text) - size,
                                 "%s%s", size > 0 ? ", " : "", format.suffix);
    return all;
}

/* In one of its variants. */
static bool can_be_written(const char *name)
{
    struct mf_format_info format;

    return formats_find(name, &format) && format.can_write;
}

bool write_suffix_of(const char *path)
{
    struct mf_format_info format;

    for (size_t i = 0; mf_format_at(i, &format); i++)
        if (ends(path, format.suffix) && can_be_written(format.name))
            return true;
    return false;
}

/* A name such as x.zip is a mistake; without a suffix, or with one like ".1",
 * the format of IN is kept. */
bool write_suffix_is_known(struct run *run)
{
    const char *path = run->operand[1], *dot = strrchr(path, '.');

    if (!dot || dot[1 + strspn(dot + 1, LETTERS_AND_DIGITS)] != 0 ||
        strpbrk(dot, LETTERS) == NULL || write_suffix_of(path))
        return true;
    report_usage(run,
                 "unknown suffix '%.20s' of '%.200s'; use %s or --to FORMAT",
                 dot, path, suffixes().text);
    return false;
}

/* ---- writing ---- */

static void warn_of_rounding(struct run *run,
                             const struct mf_convert_result *result)
{
    char text[160];

    if (result->rounded == 0)
        return;
    snprintf(text, sizeof(text),
             "warning: %zu tensor%s of f64 or integers, %" PRIu64
             " numbers, become floats of fewer digits, and are rounded",
             result->rounded, result->rounded == 1 ? "" : "s",
             result->rounded_numbers);
    report_remark(run, run->operand[0], text);
}

/* False after report_failure. */
static bool choose_tensors(struct run *run, struct mf_model *model)
{
    const char *path = run->operand[0];
    enum mf_status status;

    if (!selection)
        return true;
    status = mf_model_select(model, selection, &selected);
    missing_show(run, path, model);
    missing_show_skipped(run, path, model);
    if (status != MF_OK)
        report_failure(run, path);
    return status == MF_OK;
}

/* Names in config.json that the GGUF file has no values for. */
static void note_assumed(struct run *run,
                         const struct mf_convert_result *result)
{
    char text[1024];
    int size = snprintf(text, sizeof(text), "config.json:");

    if (result->assumed_count == 0)
        return;
    for (size_t i = 0; i < result->assumed_count; i++)
        size += snprintf(
            text + size, sizeof(text) - (size_t)size, "%s %.*s",
            i > 0 ? "," : "",
            (int)(result->assumed[i].size < 50 ? result->assumed[i].size : 50),
            result->assumed[i].at);
    snprintf(text + size, sizeof(text) - (size_t)size,
             result->assumed_count == 1
                 ? " is the family's usual value: the GGUF file does not hold "
                   "the model's"
                 : " are the family's usual values: the GGUF file does not "
                   "hold the model's");
    report_remark(run, run->operand[0], text);
}

static void write_out(struct run *run, struct mf_model *model)
{
    struct mf_convert_result result;
    struct file_name name;
    const char *path;

    if (instead && instead(run, model))
        return;
    path = output_path(run->operand[1]);
    if (!choose_tensors(run, model) ||
        !output_choose_names(run, model, path, how) ||
        (find_name && !(path = find_name(run, model, how))))
        return;
    from_folder = mf_converts_folder(model, how) || is_new_folder(path);
    if (mf_model_convert(model, path, how, &result) != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    warn_of_rounding(run, &result);
    note_assumed(run, &result);
    output_name_left(run, tensor_file(&name, path), result.format,
                     is_numbered(&result) ? result.file_count : 0);
    report_done(run, path, output_done(run, result.file_count));
    if (run->options->json)
        show_json(run, path, &result);
    else if (run->options->dry_run || !output_is_stdout(path))
        show_text(run, path, &result);
}

void write_select(const struct mf_selection *wanted)
{
    selection = wanted;
}

void write_model_or(struct run *run, const struct mf_convert_options *options,
                    write_instead *other)
{
    instead = other;
    write_model(run, options);
    instead = NULL;
}

void write_model_named(struct run *run,
                       const struct mf_convert_options *options,
                       write_name *name)
{
    find_name = name;
    write_model(run, options);
    find_name = NULL;
}

void write_model(struct run *run, const struct mf_convert_options *options)
{
    struct mf_convert_options all = *options;

    all.replace = run->options->force;
    all.dry_run = run->options->dry_run;
    all.resume = run->options->resume;
    output_set_part(run, &all);
    all.exceeds = warn_of_large;
    all.user = run;
    how = &all;
    run->chooses_missing = selection != NULL;
    if (is_new_folder(run->operand[1]) && run->options->share)
        report_usage(run, "'--part' requires a file as OUT: a folder cannot be "
                          "written in parts");
    else if (output_is_stdout(run->operand[1]) && is_sharded())
        report_usage(run, "several files cannot go to standard output");
    else if (output_fits(run, run->operand[1]) &&
             output_can_keep(run, run->operand[1]))
        inputs_whole(run, write_out);
    how = NULL;
}

/* "FOLDER/": the folder is made in the one that it is in. */
static bool allow_new_folder(struct run *run)
{
    const char *path = run->operand[1];
    size_t size = strlen(path);
    char parent[PATH_MAX];

    if (!is_new_folder(path) || size >= sizeof(parent))
        return false;
    while (size > 0 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    memcpy(parent, path, size);
    parent[size] = 0;
    sandbox_allow_folder(&run->sandbox, size > 0 ? parent : ".");
    return true;
}

void write_allow_tried(struct run *run)
{
    allow_new_folder(run);
}

void write_allow_out(struct run *run)
{
    const char *path = output_path(run->operand[1]);

    if (allow_new_folder(run))
        return;
    if (inputs_is_folder(path))
        sandbox_allow_folder(&run->sandbox, path);
    else
        sandbox_allow_file(&run->sandbox, path);
}
