/* SPDX-License-Identifier: MIT
 *
 * output.c - the operand OUT: a file, or standard output
 */
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/formats.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/part.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "lib/program.h"

bool output_is_stdout(const char *operand)
{
    static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1",
                                         "/proc/self/fd/1" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(operand, names[i]) == 0)
            return true;
    return false;
}

const char *output_path(const char *operand)
{
    return output_is_stdout(operand) ? "-" : operand;
}

bool output_fits(struct run *run, const char *operand)
{
    if (remote_is_url(operand)) {
        report_usage(run, "'%.200s': a URL cannot be written to", operand);
        return false;
    }
    if (!output_is_stdout(operand) || !run->options->json ||
        run->options->dry_run)
        return true;
    report_usage(run, "'--json' and '%s' cannot both write to standard output",
                 operand);
    return false;
}

bool output_is_free(struct run *run, const char *operand)
{
    struct stat status;

    if (run->options->force || output_is_stdout(operand) ||
        lstat(operand, &status) != 0)
        return true;
    report_output_alone(run, operand,
                        "it exists already; use --force to overwrite it");
    return false;
}

bool output_excludes_part(struct run *run, const char *option, bool given)
{
    if (!given || !run->options->share)
        return true;
    report_usage(run, "'--part' and '%s' cannot both be given", option);
    return false;
}

static bool parts_fit(struct run *run, uint64_t parts)
{
    if (parts <= MF_PARTS_MAX)
        return true;
    report_usage(run, "'--part': at most %d parts", MF_PARTS_MAX);
    return false;
}

bool output_can_keep(struct run *run, const char *operand)
{
    uint64_t part, parts;

    if (run->options->resume && run->options->dry_run)
        report_usage(run, "'--resume' and '--dry-run' cannot both be given");
    else if (run->options->resume && output_is_stdout(operand))
        report_usage(run, "'--resume' requires a file as OUT: standard output "
                          "cannot be resumed");
    else if (run->options->share && output_is_stdout(operand))
        report_usage(run, "'--part' requires a file as OUT: standard output "
                          "has no parts");
    else
        return output_excludes_part(run, "--resume", run->options->resume) &&
               output_excludes_part(run, "--dry-run", run->options->dry_run) &&
               part_take(run, run->options->share, &part, &parts) &&
               parts_fit(run, parts);
    return false;
}

void output_set_part(struct run *run, struct mf_convert_options *how)
{
    uint64_t part, parts;

    if (!run->options->share ||
        !part_take(run, run->options->share, &part, &parts))
        return;
    how->part = (uint32_t)part;
    how->parts = (uint32_t)parts;
}

const char *output_done(const struct run *run, size_t files)
{
    return run->options->share ? "was written in part"
           : files > 1         ? "was written, in several files"
                               : "was written";
}

struct part_text output_part_text(struct run *run)
{
    struct mf_convert_options how = { 0 };
    struct part_text text = { "" };

    output_set_part(run, &how);
    if (how.parts > 0)
        snprintf(text.at, sizeof(text.at), " (part %u of %u)",
                 (unsigned)how.part, (unsigned)how.parts);
    return text;
}

void output_part_json(struct run *run)
{
    struct mf_convert_options how = { 0 };

    output_set_part(run, &how);
    if (how.parts == 0)
        return;
    json_number(run, "part", how.part);
    json_number(run, "parts", how.parts);
}

static bool is_gone(long process)
{
    return (long)(pid_t)process == process && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

static void name_left(void *user, const char *path,
                      const struct mf_left_file *file)
{
    char text[512];

    if (file->process > 0 && !is_gone(file->process))
        return;
    if (file->process > 0)
        snprintf(text, sizeof(text),
                 "'%s' in its folder was left by process %ld, which was "
                 "killed; it can be removed",
                 file->name, file->process);
    else
        snprintf(text, sizeof(text),
                 "'%s' in its folder belongs to stopped work; --resume "
                 "continues it, otherwise it can be removed",
                 file->name);
    report_remark(user, path, text);
}

void output_name_left(struct run *run, const char *path, const char *format,
                      size_t count)
{
    char shard[PATH_MAX + 64];

    if (output_is_stdout(path) || run->options->dry_run)
        return;
    mf_left_files(path, name_left, run);
    for (size_t i = 0; i < count; i++)
        if (mf_shard_path(path, format, i, count, shard, sizeof(shard)))
            mf_left_files(shard, name_left, run);
}

/* ---- tensor names ---- */

/* Whose tensor names readers of a format expect. */
static enum mf_naming naming_of(const char *name)
{
    struct mf_format_info format;

    return formats_find(name, &format) ? format.naming : MF_NAMING_KEEP;
}

static enum mf_naming naming_of_file(const char *path)
{
    struct mf_format_info format;
    size_t size = strlen(path), end;

    for (size_t i = 0; mf_format_at(i, &format); i++) {
        end = strlen(format.suffix);
        if (size > end && strcmp(path + size - end, format.suffix) == 0)
            return format.naming;
    }
    return MF_NAMING_KEEP;
}

static bool has_tensor(const struct mf_model *model, const char *beginning)
{
    struct mf_tensor tensor;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (strncmp(tensor.name.at, beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

/* Most families have the first of these names, and adapters the second; others
 * have a config.json, and so may tensors that are llama.cpp's already.  An
 * error in that file does not matter here. */
static bool has_hub_names(struct run *run, struct mf_model *model)
{
    struct mf_model *outline = NULL;
    struct mf_meta meta;
    bool found;

    if (has_tensor(model, "model.layers.") || has_tensor(model, "base_model."))
        return true;
    if (has_tensor(model, "blk.") ||
        mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL))
        return false;
    found = mf_model_outline(model, MF_OUTLINE_FACTS, &outline) == MF_OK
                ? outline != NULL
                : mf_env_error(run->env)->status == MF_ERR_UNSUPPORTED;
    mf_model_close(outline);
    return found;
}

/* A GGUF file is for llama.cpp, which needs the model's architecture. */
static void remark_names(struct run *run, struct mf_model *model,
                         const char *path, const char *format)
{
    enum mf_naming out = format ? naming_of(format) : naming_of_file(path);
    const char *in = mf_model_info(model)->format;

    if (out != MF_NAMING_GGUF || naming_of(in) == MF_NAMING_GGUF)
        return;
    if (!mf_model_names_architecture(model))
        report_remark(run, run->operand[0],
                      "warning: no config.json next to it says what the model "
                      "is: the file keeps its tensor names, has no "
                      "'general.architecture', and no runtime loads it");
    else if (naming_of(in) == MF_NAMING_HF && has_hub_names(run, model))
        report_remark(run, run->operand[0],
                      "warning: tensors keep their Hugging Face names, which "
                      "llama.cpp does not load; --names gguf renames them");
}

enum mf_naming output_naming(unsigned names)
{
    return names == NAMES_DEFAULT ? MF_NAMING_AUTO
           : names == NAMES_KEEP  ? MF_NAMING_KEEP
                                  : (enum mf_naming)names;
}

const char *output_order(unsigned order)
{
    static const char *const orders[] = { NULL, "big", "little" };

    return orders[order];
}

bool output_choose_names(struct run *run, struct mf_model *model,
                         const char *path, struct mf_convert_options *how)
{
    bool chosen = how->names != MF_NAMING_AUTO;

    if (mf_convert_names(model, path, how, &how->names) != MF_OK) {
        report_failure(run, run->operand[0]);
        return false;
    }
    if (!chosen && how->names == MF_NAMING_KEEP && !inputs_is_folder(path) &&
        !mf_model_is_imatrix(model))
        remark_names(run, model, path, how->format);
    return true;
}
