/* SPDX-License-Identifier: MIT
 *
 * quantize.c - modelfile quantize: quantize the tensors of a model
 *
 * Operands and options work as llama-quantize's do, so that its users' scripts
 * need a new name of the program only: OUT can be left out, a number after TYPE
 * is the number of threads, and options have llama-quantize's names as well.
 */
#include "cli/commands/quantize/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inputs.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/room.h"
#include "cli/types.h"

static struct quantize_options options;

static const struct option table[] = {
    OPTION_LIST("--output", "TYPE=FILE", options.outputs,
                "an output in place of OUT and TYPE; IN is read once for all"),
    OPTION_TEXT("--imatrix", "FILE", options.imatrix,
                "importance matrix of llama-imatrix, in either format"),
    OPTION_LIST("--include-weights", "TEXT", options.include_weights,
                "use only matrix entries whose name contains TEXT"),
    OPTION_LIST("--exclude-weights", "TEXT", options.exclude_weights,
                "ignore matrix entries whose name contains TEXT"),
    OPTION_LIST("--tensor-type", "PATTERN=TYPE", options.tensor_types,
                "another type for tensors whose name matches PATTERN"),
    OPTION_LIST("--tensor-type-file", "FILE", options.tensor_type_files,
                "the same from FILE, separated by spaces or newlines"),
    OPTION_TEXT("--output-type", "TYPE", options.output_type,
                "type of output.weight"),
    OPTION_TEXT("--output-tensor-type", "TYPE", options.output_type, NULL),
    OPTION_TEXT("--embedding-type", "TYPE", options.embedding_type,
                "type of token_embd.weight"),
    OPTION_TEXT("--token-embedding-type", "TYPE", options.embedding_type, NULL),
    OPTION_SIZE("--target-size", options.target_size,
                "in place of TYPE: the types with the least error in a file "
                "of at most SIZE bytes"),
    OPTION_TEXT("--target-bpw", "BITS", options.target_bpw,
                "the same by bits per weight, as 4.5"),
    OPTION_TEXT("--fit", "SIZE", options.fit,
                "the same for a run that fits into memory of SIZE, by plan"),
    OPTION_TEXT("--ctx", "N", options.context,
                "tokens of that run, as 32k (default: the model's)"),
    OPTION_TEXT("--types", "TYPE,...", options.types,
                "types to choose from (default: all that llama.cpp loads)"),
    OPTION_LIST("--min-type", "PATTERN=TYPE", options.min_types,
                "tensors whose name matches get no type of fewer bits"),
    OPTION_TEXT("--like", "MIX", options.like,
                "tensors to which MIX gives more bits than to most keep those"),
    OPTION_LIST("--tie", "PATTERN", options.ties,
                "tensors whose name matches get one type"),
    OPTION_TEXT("--importance", "FILE|none", options.importance,
                "lines PATTERN=FACTOR: how much an error counts"),
    OPTION_CHOICE("--samples", "all", 1, options.samples,
                  "measure all rows, not 4 % of them"),
    OPTION_TEXT("--save-recipe", "FILE", options.save_recipe,
                "write the types as a recipe, and errors as FILE.json"),
    OPTION_TEXT("--plot", "FILE.svg", options.plot, "draw error against size"),
    OPTION_TEXT("--recipe", "FILE", options.recipe,
                "in place of TYPE: the types of a recipe"),
    OPTION_FLAG("--pure", options.pure, "use one type for all tensors"),
    OPTION_FLAG("--leave-output", options.leave_output,
                "do not quantize output.weight"),
    OPTION_FLAG("--leave-output-tensor", options.leave_output, NULL),
    OPTION_FLAG("--allow-requantize", options.allow_requantize,
                "quantize tensors that are quantized already, too"),
    OPTION_CHOICE("--effort", "1|2|3|4", 0, options.effort,
                  "search better scales in the same types; default: 1, the "
                  "bytes of llama-quantize"),
    OPTION_LIST("--override-kv", "KEY=TYPE:VALUE", options.overrides,
                "change metadata; TYPE is int, float, bool or str"),
    OPTION_LIST("--prune-layers", "N,N,...", options.prune_layers,
                "remove layers; those after them are renumbered"),
    OPTION_FLAG("--keep-split", options.keep_split,
                "write as many shards as IN has"),
    OPTION_FLAG("--report", options.report, "report the quantization error"),
    OPTION_COUNT("--max-buffer-size", "MiB", options.max_buffer,
                 "for scripts of llama-quantize; nothing needs it here"),
    OPTION_NAMES(options.names),
    OPTION_ENDIAN(options.order),
    OPTION_FORMAT("--to", FORMATS_BLOCKS, options.to,
                  "format of OUT; default: by its suffix"),
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTION_RESUME,
    OPTION_PART,
    OPTIONS_WRITE,
    { 0 },
};

/* ---- operands ---- */

/* THREADS as llama-quantize takes it: below 1 is one per processor. */
static bool parse_threads(struct run *run, const char *text)
{
    long long number;
    char *end;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end || errno) {
        report_usage(run, "invalid value '%.60s' for THREADS: not a number",
                     text);
        return false;
    }
    run->options->threads = number > 0 ? (uint64_t)number : 0;
    return true;
}

/* IN TYPE OUT: llama-quantize has no such order, and many type it. */
static bool is_type_first(const struct run *run)
{
    const char *type = run->operand[1], *out = run->operand[2];

    return run->operand_count > 2 && out[strspn(out, "-0123456789")] != 0 &&
           !mf_mix_name(out) && !types_is_near(out) &&
           (mf_mix_name(type) || types_is_near(type));
}

static void swap(char **operand)
{
    char *first = operand[0];

    operand[0] = operand[1];
    operand[1] = first;
}

static struct outputs outputs;

/* IN alone: the others are NULL, as if they were there. */
static bool check_outputs(struct run *run)
{
    if (run->operand_count > 1) {
        report_usage(run,
                     "unexpected argument '%.200s': with '--output' there is "
                     "only IN",
                     run->operand[1]);
        return false;
    }
    if (run->operand_count == 1) {
        run->operand[1] = run->operand[2] = NULL;
        run->operand_count = 3;
    }
    return outputs_read(run, &options.outputs, &outputs);
}

/* IN OUT alone: TYPE is NULL, as if it were there. */
static bool check_without_type(struct run *run)
{
    const char *option = options.recipe ? "--recipe" : target_name(&options);
    size_t count = run->operand_count;

    if (count == 1)
        report_usage(run, "missing argument OUT");
    else if (count > 2 || (count == 2 && mf_mix_name(run->operand[1])))
        report_usage(run,
                     "unexpected argument '%.200s': with '%s' there is no TYPE",
                     run->operand[count > 2 ? 2 : 1], option);
    else if (count == 2) {
        run->operand[2] = NULL;
        run->operand_count = 3;
        return true;
    }
    return count == 0;
}

/* In the order IN, OUT or NULL, TYPE.  The command's own name is among the
 * arguments but not an operand, so there is room for one more. */
static bool check_operands(struct run *run)
{
    char **operand = run->operand;
    size_t *count = &run->operand_count;

    if (options.outputs.count > 0)
        return check_outputs(run);
    if (target_is_given(&options) || options.recipe)
        return check_without_type(run);
    if (is_type_first(run))
        swap(operand + 1);
    else if (*count >= 2 && (mf_mix_name(operand[1]) ||
                             (*count == 2 && types_is_near(operand[1])))) {
        memmove(operand + 2, operand + 1, (*count - 1) * sizeof(*operand));
        operand[1] = NULL;
        ++*count;
        if (remote_is_url(operand[0])) {
            report_usage(run, "missing argument OUT, since IN is a URL");
            return false;
        }
    }
    if (*count != 4)
        return true;
    *count = 3;
    return parse_threads(run, operand[3]);
}

/* OUT, or the name that llama-quantize gives it, in the folder of IN. */
static const char *out_path(struct run *run)
{
    /* Cut short only if IN is longer than a path can be, and is not opened. */
    static char path[PATH_MAX + 64];
    const char *in = run->operand[0];
    size_t size = strlen(in);
    const char *mix = mf_mix_name(run->operand[2]);

    if (run->operand[1])
        return output_path(run->operand[1]);
    while (size > 1 && in[size - 1] == '/') /* a folder */
        size--;
    while (size > 0 && in[size - 1] != '/')
        size--;
    snprintf(path, sizeof(path), "%.*sggml-model-%s.%s", (int)size, in,
             mix ? mix : "",
             options.to ? options.to : formats_name(FORMATS_BLOCKS, 0));
    return path;
}

/* ---- the command ---- */

static struct request *request;

/* Writes the model, and what was chosen for it; target NULL: nothing was. */
static void write_model(struct run *run, struct mf_model *model,
                        const char *path, const struct mf_convert_options *how,
                        struct target *target)
{
    struct mf_quantize_result result = { 0 };

    if (mf_model_quantize(model, path, &request->options, how, &result) !=
        MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    if (target)
        mf_type_errors_forget(target->errors);
    output_name_left(run, path, result.format,
                     options.keep_split ? result.file_count : 0);
    report_done(run, path, output_done(run, result.file_count));
    result_show(run, path, &result, request);
    if (!target)
        return;
    if (run->options->json || run->options->dry_run || !output_is_stdout(path))
        target_show(target);
    if (options.save_recipe && !recipe_save(target, model))
        return;
    if (options.plot)
        target_plot(target, model);
}

static void write_chosen(struct run *run, struct mf_model *model,
                         const char *path, const struct mf_convert_options *how)
{
    struct target target = { .run = run, .given = &options };

    if (target_choose(&target, model, path, request, how))
        write_model(run, model, path, how, &target);
    target_release(&target);
}

static void quantize_model(struct run *run, struct mf_model *model)
{
    const char *path = outputs.count > 0 ? outputs.at->path : out_path(run);
    struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .format = options.to,
        .names = output_naming(options.names),
        .byte_order = output_order(options.order),
        .replace = run->options->force,
        .dry_run = run->options->dry_run,
        .resume = run->options->resume,
    };

    output_set_part(run, &how);
    if (!output_choose_names(run, model, path, &how))
        return;
    if (outputs.count > 0) {
        outputs_quantize(run, model, &outputs, request, &how);
        return;
    }
    if (target_is_given(&options))
        write_chosen(run, model, path, &how);
    else if (!options.recipe ||
             recipe_find_base(run, model, path, request, &how))
        write_model(run, model, path, &how, NULL);
}

/* llama-quantize limits by it what it keeps of a tensor. */
static void mention_buffers(struct run *run)
{
    if (options.max_buffer > 0)
        report_remark(run, run->operand[0],
                      "'--max-buffer-size' is not needed: no tensor is in "
                      "memory as a whole; --max-memory limits everything");
}

static bool can_write(struct run *run, const char *out)
{
    if (!out)
        return output_can_keep(run, "");
    if (!output_fits(run, out) || !output_can_keep(run, out))
        return false;
    if (!options.keep_split || run->options->dry_run || !output_is_stdout(out))
        return true;
    report_usage(run, "'--keep-split' requires a file as OUT");
    return false;
}

static void quantize(struct run *run)
{
    run->imatrix = options.imatrix;
    record_content(options.imatrix);
    request = room_take(sizeof(*request));
    if (!request) {
        report_no_room(run);
        return;
    }
    if (request_make(run, &options, run->operand[2], request) &&
        target_check(run, &options) &&
        (outputs.count > 0 ? outputs_check(run, &options, &outputs)
                           : can_write(run, run->operand[1]))) {
        mention_buffers(run);
        inputs_whole(run, quantize_model);
    }
    request_release(run, request);
}

/* What was chosen: in a dry run, too. */
static void writes_choice(struct run *run)
{
    if (options.plot && *options.plot)
        sandbox_allow_file(&run->sandbox, output_path(options.plot));
    if (options.save_recipe && *options.save_recipe) {
        sandbox_allow_file(&run->sandbox, options.save_recipe);
        sandbox_allow_file(&run->sandbox,
                           recipe_document(options.save_recipe).at);
    }
}

static void writes(struct run *run)
{
    for (size_t i = 0; i < outputs.count; i++)
        sandbox_allow_file(&run->sandbox, outputs.at[i].path);
    if (outputs.count == 0)
        sandbox_allow_file(&run->sandbox, out_path(run));
    writes_choice(run);
}

/* The words that TYPE can be. */
static void more_help(struct run *run)
{
    char words[1024] = "";
    struct mf_mix_info mix;
    size_t size = 0;

    out_text(&run->out, "\nTYPE is a mix of llama-quantize:\n  ");
    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        if (mix.available && size + strlen(mix.name) + 2 < sizeof(words))
            size += (size_t)snprintf(words + size, sizeof(words) - size, "%s%s",
                                     size > 0 ? " " : "", mix.name);
    out_wrapped(&run->out, words, 2);
    out_text(&run->out, "or one type for all tensors, such as mxfp4, nvfp4, "
                        "apr_q4, apr_q8\n");
}

const struct command command_quantize = {
    .name = "quantize",
    .sub = "",
    .operands = "IN [OUT] TYPE [THREADS]",
    .operands_min = 3,
    .operands_max = 4,
    .summary = "quantize the tensors of a model",
    .about = "Quantizes the model IN to TYPE, a mix such as Q4_K_M or "
             "the type of a tensor, and writes it to OUT, with the bytes "
             "of llama-quantize. IN may be a folder of Hugging Face. "
             "Without OUT the file is ggml-model-TYPE.gguf beside IN. "
             "modelfile-types(7) lists the types and mixes.\n\n"
             "Memory does not grow with the model, and the number of "
             "threads does not change the result. With --resume the work "
             "can be stopped at any time, and goes on where it was.\n\n"
             "With --target-size, --target-bpw or --fit in place of TYPE, the "
             "error of each tensor in each type is measured, and the types "
             "with the least error that fit are chosen: see docs/target.md.\n\n"
             "With --output TYPE=FILE, once for each output and in place of "
             "OUT and TYPE, IN is read once for all of them. Each gets the "
             "bytes of a run of its own, and all other options apply to all. "
             "They get their names when all are complete: if one fails, none "
             "is there.\n",
    .examples =
        "modelfile quantize Llama-3-8B/ model-q4_k_m.gguf Q4_K_M\n"
        "modelfile quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M\n"
        "modelfile quantize model.gguf Q6_K           as ggml-model-Q6_K.gguf\n"
        "modelfile quantize model.gguf small.gguf IQ4_XS --imatrix "
        "matrix.gguf\n"
        "modelfile quantize model.gguf --output Q4_K_M=q4.gguf --output "
        "Q8_0=q8.gguf\n"
        "modelfile quantize model.gguf - Q6_K --dry-run\n"
        "modelfile quantize model.gguf out.gguf Q4_K_M --tensor-type "
        "attn_v=q8_0\n",
    .exit_no = "--include-weights: no entry of the matrix matches",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = quantize,
    .writes = writes,
    .tries = writes_choice,
    .check_operands = check_operands,
    .more_help = more_help,
};
