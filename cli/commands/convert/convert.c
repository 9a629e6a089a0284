/* SPDX-License-Identifier: MIT
 *
 * convert.c - modelfile convert, split and merge: the same model in other files
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define OPTION_NONFINITE                                                       \
    {                                                                          \
        "--allow-nonfinite", OPTION_FLAG, NULL, 0,                             \
            offsetof(struct options, allow_nonfinite),                         \
            "writes NaN and infinite values instead of refusing them"          \
    }

const struct option convert_options[] = {
    { "--to", OPTION_CHOICE, "gguf|apr|safetensors", 1,
      offsetof(struct options, to), "format; OUT's suffix if not given" },
    { "--names", OPTION_CHOICE, "gguf|hf", MF_NAMING_GGUF,
      offsetof(struct options, names),
      "tensors as llama.cpp or Hugging Face names and orders them" },
    { "--type", OPTION_CHOICE, "f32|f16|bf16|keep", 1,
      offsetof(struct options, type),
      "of floats; f16 and bf16 of matrices alone; keep: of norms, too" },
    { "--shard-size", OPTION_SIZE, "SIZE", 0,
      offsetof(struct options, shard_size),
      "several files, each with at most SIZE of tensors (5G, 500M)" },
    { "--shard-tensors", OPTION_COUNT, "N", 0,
      offsetof(struct options, shard_tensors),
      "several files, each with at most N tensors" },
    { "--reserve", OPTION_SIZE, "SIZE", 0, offsetof(struct options, reserve),
      "leaves room in the header for later edits in place" },
    { "--gguf-version", OPTION_CHOICE, "2|3", 2,
      offsetof(struct options, version), "for old readers" },
    { "--lossy", OPTION_FLAG, NULL, 0, offsetof(struct options, lossy),
      "leaves out metadata that the format cannot carry" },
    OPTION_NONFINITE,
    OPTIONS_WRITE,
    { 0 },
};

const struct option split_options[] = {
    { "--max-size", OPTION_SIZE, "SIZE", 0,
      offsetof(struct options, shard_size),
      "each file with at most SIZE of tensors (5G, 500M)" },
    { "--max-tensors", OPTION_COUNT, "N", 0,
      offsetof(struct options, shard_tensors),
      "each file with at most N tensors" },
    { "--no-tensor-first-split", OPTION_FLAG, NULL, 0,
      offsetof(struct options, empty_first),
      "the first file has metadata alone (GGUF)" },
    OPTIONS_WRITE,
    { 0 },
};

const struct option dequantize_options[] = {
    { "--type", OPTION_CHOICE, "f32|f16|bf16", 1,
      offsetof(struct options, type), "to which; f32 if not given" },
    { "--to", OPTION_CHOICE, "gguf|apr|safetensors", 1,
      offsetof(struct options, to), "format; OUT's suffix if not given" },
    { "--lossy", OPTION_FLAG, NULL, 0, offsetof(struct options, lossy),
      "leaves out metadata that the format cannot carry" },
    OPTION_NONFINITE,
    OPTIONS_WRITE,
    { 0 },
};

const struct option merge_options[] = {
    { "--delete-inputs", OPTION_FLAG, NULL, 0,
      offsetof(struct options, delete_inputs),
      "removes the shards once OUT is on the disk" },
    OPTIONS_WRITE,
    { 0 },
};

#define LETTERS                                                                \
    "abcdefghijklmnopqrstuvwxyz"                                               \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS_AND_DIGITS LETTERS "0123456789"

/* How most tensors of a model of transformers are called. */
#define HUB_PREFIX "model.layers."

static const char *const types[] = { NULL, "f32", "f16", "bf16", "keep" };
static const char *const formats[] = { NULL, "gguf", "apr", "safetensors" };

/* ---- what was written ---- */

/* A tensor is never split. */
static void warn_of_large(struct run *run, const struct mf_model *model)
{
    uint64_t most = run->options.shard_size;
    struct mf_tensor tensor;
    char text[256];

    for (size_t i = 0; most > 0 && mf_tensor_at(model, i, &tensor); i++) {
        if (tensor.data.size <= most)
            continue;
        snprintf(text, sizeof(text),
                 "warning: tensor '%.*s' of %s is larger than a file is to be, "
                 "and has one of its own",
                 (int)(tensor.name.size < 100 ? tensor.name.size : 100),
                 tensor.name.at, size_text(tensor.data.size).at);
        report_remark(run, run->operand[0], text);
    }
}

static bool is_sharded(const struct run *run)
{
    return run->options.shard_size > 0 || run->options.shard_tensors > 0;
}

static const char *file_name(const struct run *run, const char *path,
                             const struct mf_convert_result *result, size_t i)
{
    static char name[PATH_MAX + 64];

    return is_sharded(run) &&
                   mf_shard_path(path, result->format, i, result->file_count,
                                 name, sizeof(name))
               ? name
               : path;
}

static void show_text(struct run *run, const char *path,
                      const struct mf_convert_result *result)
{
    struct out *out = &run->out;

    for (size_t i = 0; is_sharded(run) && i < result->file_count; i++) {
        out_escaped(out, str_of(file_name(run, path, result, i)), "");
        out_line(out, "");
    }
    out_escaped(out, str_of(path), "");
    out_format(out, ": %s, ", result->format);
    out_text(out, size_text(result->file_size).at);
    if (result->file_count > 1)
        out_format(out, " in %zu files", result->file_count);
    if (result->left_out > 0)
        out_format(out, ", %zu metadata left out", result->left_out);
    if (result->tensors_left_out > 0)
        out_format(out, ", %zu tensor%s left out", result->tensors_left_out,
                   result->tensors_left_out == 1 ? "" : "s");
    out_line(out, run->options.dry_run ? " (nothing was written)" : "");
}

static void files_json(struct run *run, const char *path,
                       const struct mf_convert_result *result)
{
    mf_json_key(&run->json, "files");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < result->file_count; i++) {
        const char *name = file_name(run, path, result, i);

        mf_json_string(&run->json, name, strlen(name));
    }
    mf_json_end(&run->json, ']');
}

static void show_json(struct run *run, const char *path,
                      const struct mf_convert_result *result)
{
    json_str(run, "output", str_of(path));
    json_text(run, "format", result->format);
    json_number(run, "file_count", result->file_count);
    files_json(run, path, result);
    json_number(run, "file_bytes", result->file_size);
    json_number(run, "left_out", result->left_out);
    json_number(run, "tensors_left_out", result->tensors_left_out);
    json_bool(run, "written", !run->options.dry_run);
}

static bool ends(const char *path, const char *suffix)
{
    size_t size = strlen(path), tail = strlen(suffix);

    return size > tail && strcmp(path + size - tail, suffix) == 0;
}

/* A file called x.zip is no model, whatever is in it. */
static bool suffix_is_known(struct run *run, const char *path)
{
    const char *dot = strrchr(path, '.');
    struct mf_format_info format;

    if (!dot || dot[1 + strspn(dot + 1, LETTERS_AND_DIGITS)] != 0 ||
        strpbrk(dot, LETTERS) == NULL)
        return true;
    for (size_t i = 0; mf_format_at(i, &format); i++)
        if (ends(path, format.suffix))
            return true;
    report_usage(run,
                 "'%.200s': '%.20s' is the suffix of no format; use .gguf, "
                 ".apr or .safetensors, or add --to FORMAT",
                 path, dot);
    return false;
}

/* llama.cpp does not know them, and no later program renames them. */
static void remark_names(struct run *run, const struct mf_model *model,
                         const char *path)
{
    const struct options *options = &run->options;
    struct mf_tensor tensor;
    bool hub = false;

    if (options->names != 0 ||
        (options->to ? options->to != 1 : !ends(path, ".gguf")) ||
        strcmp(mf_model_info(model)->format, "safetensors") != 0)
        return;
    for (size_t i = 0; !hub && mf_tensor_at(model, i, &tensor); i++)
        hub = strncmp(tensor.name.at, HUB_PREFIX, strlen(HUB_PREFIX)) == 0;
    if (hub)
        report_remark(run, run->operand[0],
                      "tensors keep their Hugging Face names, which llama.cpp "
                      "does not load; --names gguf renames them");
}

/* Commands that move bytes and change none. */
static bool only_moves(const struct run *run)
{
    return run->command->execute == command_split ||
           run->command->execute == command_merge;
}

static void failed(struct run *run)
{
    const char *rule = mf_env_error(run->env)->rule;

    report_failure(run, run->operand[0]);
    if (strcmp(rule, "DATA-NOT-FINITE") == 0 || strcmp(rule, "DATA-SCALE") == 0)
        report_remark(run, run->operand[0],
                      "--allow-nonfinite writes such values as they are");
}

static void convert(struct run *run, struct mf_model *model)
{
    const struct options *options = &run->options;
    const char *path = output_path(run->operand[1]);
    struct mf_convert_options wishes = {
        .format = formats[options->to],
        .type = types[options->type],
        .dequantize = run->command->execute == command_dequantize,
        .replace = options->force,
        .lossy = options->lossy,
        .dry_run = options->dry_run,
        .shard_size = options->shard_size,
        .shard_tensors = options->shard_tensors,
        .empty_first = options->empty_first,
        .delete_inputs = options->delete_inputs,
        .reserve = options->reserve,
        .version = options->version,
        .names = (enum mf_naming)options->names,
        .allow_nonfinite = options->allow_nonfinite || only_moves(run),
    };
    struct mf_convert_result result;

    remark_names(run, model, path);
    warn_of_large(run, model);
    if (mf_model_convert(model, path, &wishes, &result) != MF_OK) {
        failed(run);
        return;
    }
    report_done(run, path,
                result.file_count > 1 ? "was written, in several files"
                                      : "was written");
    if (options->json)
        show_json(run, path, &result);
    else if (options->dry_run || !output_is_stdout(path))
        show_text(run, path, &result);
}

void writes_out(struct run *run)
{
    sandbox_allow_file(&run->sandbox, output_path(run->operand[1]));
    if (run->options.delete_inputs) {
        sandbox_allow_file(&run->sandbox, run->operand[0]);
        sandbox_allow_folder(&run->sandbox, run->operand[0]);
    }
}

void command_convert(struct run *run)
{
    const struct options *options = &run->options;

    if (output_is_stdout(run->operand[1]) && is_sharded(run))
        report_usage(run, "several files cannot go to standard output");
    else if (output_fits(run, run->operand[1]) &&
             (options->to > 0 || run->command->execute == command_split ||
              suffix_is_known(run, run->operand[1])))
        inputs_whole(run, convert);
}

void command_dequantize(struct run *run)
{
    if (run->options.type == 0)
        run->options.type = 1;
    command_convert(run);
}

void command_split(struct run *run)
{
    if (run->options.shard_size == 0 && run->options.shard_tensors == 0) {
        report_usage(run, "into what? --max-size SIZE or --max-tensors N");
        return;
    }
    command_convert(run);
}

void command_merge(struct run *run)
{
    if (run->options.delete_inputs && output_is_stdout(run->operand[1])) {
        report_usage(run, "'--delete-inputs' needs a file as OUT: what goes to "
                          "standard output may be lost");
        return;
    }
    command_convert(run);
}
