/* SPDX-License-Identifier: MIT
 *
 * merge.c - modelfile merge: join the shards of a model, or add matrices
 */
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/convert/write.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/report.h"

enum { TO_SUFFIX, TO_GGUF, TO_OLD };

static struct {
    bool delete_inputs;
    unsigned to;
    uint64_t chunk_size;
} options;

static const struct option table[] = {
    OPTION_FLAG("--delete-inputs", options.delete_inputs,
                "delete the shards once OUT is on the disk"),
    OPTION_CHOICE("--to", "gguf|imatrix", TO_GGUF, options.to,
                  "format of an importance matrix; default: by its suffix, "
                  "imatrix for .dat, else gguf"),
    OPTION_CHOICE("--output-format", "gguf|dat", TO_GGUF, options.to, NULL),
    OPTION_COUNT("--chunk-size", "N", options.chunk_size,
                 "tokens of a chunk, in which old importance matrices count "
                 "(default: 512)"),
    OPTION_RESUME,
    OPTION_PART,
    OPTION_ALLOW_MISSING,
    OPTIONS_WRITE,
    { 0 },
};

static const char *out_of(const struct run *run)
{
    return run->operand[run->operand_count - 1];
}

static void writes(struct run *run)
{
    sandbox_allow_file(&run->sandbox, output_path(out_of(run)));
    if (options.delete_inputs) {
        sandbox_allow_file(&run->sandbox, run->operand[0]);
        sandbox_allow_folder(&run->sandbox, run->operand[0]);
    }
}

/* ---- importance matrices ---- */

static void show_json(struct run *run,
                      const struct mf_imatrix_merge_result *result)
{
    json_str(run, "output", str_of(out_of(run)));
    json_text(run, "format", result->format);
    json_number(run, "file_bytes", result->file_size);
    json_number(run, "inputs", run->operand_count - 1);
    json_number(run, "entries", result->entries);
    json_number(run, "partial", result->partial);
    json_number(run, "empty", result->empty);
    json_number(run, "chunk_count", result->chunks);
    json_number(run, "chunk_size", result->chunk_size);
    json_number(run, "datasets", result->datasets);
    json_bool(run, "written", !run->options->dry_run);
}

static void show_text(struct run *run,
                      const struct mf_imatrix_merge_result *result)
{
    struct out *out = &run->out;

    out_escaped(out, str_of(out_of(run)), "");
    out_format(out, ": %s, %s, ", result->format,
               size_text(result->file_size).at);
    out_format(out, "%zu entries of %zu %s, %u chunks", result->entries,
               run->operand_count - 1,
               run->operand_count == 2 ? "matrix" : "matrices",
               (unsigned)result->chunks);
    if (result->partial > 0)
        out_format(out, ", %zu with experts that were never used",
                   result->partial);
    if (result->empty > 0)
        out_format(out, ", %zu never used%s", result->empty,
                   strcmp(result->format, "gguf") == 0 ? "" : " and left out");
    out_line(out, run->options->dry_run ? " (nothing was written)" : "");
}

static bool is_old(const struct run *run)
{
    const char *path = out_of(run), *dot = strrchr(path, '.');

    return options.to == TO_SUFFIX ? dot && strcmp(dot, ".dat") == 0
                                   : options.to == TO_OLD;
}

static void add_matrices(struct run *run)
{
    const struct mf_imatrix_merge_options how = {
        .size = sizeof(struct mf_imatrix_merge_options),
        .chunk_size = (uint32_t)options.chunk_size,
        .old = is_old(run),
        .replace = run->options->force,
        .dry_run = run->options->dry_run,
    };
    const char *path = output_path(out_of(run));
    struct mf_imatrix_merge_result result;

    for (size_t i = 0; i + 1 < run->operand_count; i++)
        record_content(run->operand[i]);
    if (mf_imatrix_merge(run->env, (const char *const *)run->operand,
                         run->operand_count - 1, path, &how,
                         &result) != MF_OK) {
        run->imatrix = run->operand[result.input];
        report_failure(run, run->operand[result.input]);
        return;
    }
    report_done(run, path, "was written");
    if (run->options->json)
        show_json(run, &result);
    else if (run->options->dry_run || !output_is_stdout(path))
        show_text(run, &result);
}

/* Options that mean nothing for a matrix, or too large a number. */
static bool fits_matrices(struct run *run)
{
    if (options.delete_inputs || run->options->resume || run->options->share)
        report_usage(run,
                     "'%s' is for shards of a model, not for importance "
                     "matrices",
                     options.delete_inputs  ? "--delete-inputs"
                     : run->options->resume ? "--resume"
                                            : "--part");
    else if (options.chunk_size > INT32_MAX)
        report_usage(run, "invalid --chunk-size: at most %d", INT32_MAX);
    else
        return true;
    return false;
}

static bool fits_shards(struct run *run)
{
    if (options.to == TO_SUFFIX && options.chunk_size == 0)
        return write_suffix_is_known(run);
    report_usage(run, "'%s' is for importance matrices, not for shards",
                 options.to != TO_SUFFIX ? "--to" : "--chunk-size");
    return false;
}

/* True if nothing is left to be done. */
static bool merge_matrix(struct run *run, struct mf_model *model)
{
    if (!mf_model_is_imatrix(model))
        return !fits_shards(run);
    if (fits_matrices(run))
        add_matrices(run);
    return true;
}

static bool is_shard(const struct mf_model *model, const char *path)
{
    struct stat of_path, of_shard;
    struct mf_shard shard;

    if (stat(path, &of_path) != 0)
        return false;
    for (size_t i = 0; mf_shard_at(model, i, &shard); i++)
        if (stat(shard.path, &of_shard) == 0 &&
            of_shard.st_dev == of_path.st_dev &&
            of_shard.st_ino == of_path.st_ino)
            return true;
    return false;
}

/* More than two operands are often a pattern of the shell for all shards, which
 * the first of them finds as well.  True if nothing is left to be done. */
static bool merge_several(struct run *run, struct mf_model *model)
{
    size_t last = run->operand_count - 1;

    if (mf_model_is_imatrix(model))
        return merge_matrix(run, model);
    for (size_t i = 1; i < last; i++)
        if (!is_shard(model, run->operand[i])) {
            report_usage(run,
                         "'%.200s' is not a shard of the model of '%.200s': "
                         "one model is merged at a time, from any of its "
                         "shards",
                         run->operand[i], run->operand[0]);
            return true;
        }
    run->operand[1] = run->operand[last];
    run->operand_count = 2;
    return merge_matrix(run, model);
}

/* ---- both ---- */

static void merge(struct run *run)
{
    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .delete_inputs = options.delete_inputs,
        .names = MF_NAMING_AUTO,
        .allow_nonfinite = true, /* bytes are moved, not changed */
    };

    if (options.delete_inputs && output_is_stdout(out_of(run)))
        report_usage(run, "'--delete-inputs' requires a file as OUT: output to "
                          "a pipe may be lost");
    else if (!output_fits(run, out_of(run)) ||
             !output_can_keep(run, out_of(run)) ||
             !output_excludes_part(run, "--delete-inputs",
                                   options.delete_inputs))
        return;
    else
        write_model_or(run, &how, merge_several);
}

const struct command command_merge = {
    .name = "merge",
    .sub = "",
    .operands = "FIRST... OUT",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .summary = "join the shards of a model, or add importance matrices",
    .about = "Joins the shards of the model that FIRST is a part of into "
             "the one file OUT. Importance matrices of llama-imatrix are "
             "added up, and written in either of their formats.\n",
    .examples =
        "modelfile merge model-00001-of-00005.gguf model.gguf\n"
        "modelfile merge model.safetensors.index.json model.safetensors\n"
        "modelfile merge one.imatrix two.imatrix.gguf both.imatrix.gguf\n"
        "modelfile merge imatrix.dat imatrix.gguf   from the old format to "
        "GGUF\n",
    .options = table,
    .shared = true,
    .execute = merge,
    .writes = writes,
};
