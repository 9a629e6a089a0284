/* SPDX-License-Identifier: MIT
 *
 * quantize.c - modelfile quantize: smaller weights
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define PLACE(member) 0, offsetof(struct options, member)

/* Names behind the first of each are llama-quantize's, so that its users'
 * scripts go on working. */
const struct option quantize_options[] = {
    { "--imatrix", OPTION_TEXT, "FILE", PLACE(imatrix),
      "an importance matrix of llama-imatrix, old or new" },
    { "--include-weights", OPTION_LIST, "TEXT", PLACE(include_weights),
      "of its entries only those whose name holds TEXT" },
    { "--exclude-weights", OPTION_LIST, "TEXT", PLACE(exclude_weights),
      "of its entries none whose name holds TEXT" },
    { "--tensor-type", OPTION_LIST, "PATTERN=TYPE", PLACE(tensor_types),
      "another type for tensors whose name has the pattern" },
    { "--output-type", OPTION_TEXT, "TYPE", PLACE(output_type),
      "of output.weight" },
    { "--output-tensor-type", OPTION_TEXT, "TYPE", PLACE(output_type), NULL },
    { "--embedding-type", OPTION_TEXT, "TYPE", PLACE(embedding_type),
      "of token_embd.weight" },
    { "--token-embedding-type", OPTION_TEXT, "TYPE", PLACE(embedding_type),
      NULL },
    { "--pure", OPTION_FLAG, NULL, PLACE(pure), "one type for all tensors" },
    { "--leave-output", OPTION_FLAG, NULL, PLACE(leave_output),
      "output.weight stays as it is" },
    { "--leave-output-tensor", OPTION_FLAG, NULL, PLACE(leave_output), NULL },
    { "--allow-requantize", OPTION_FLAG, NULL, PLACE(allow_requantize),
      "also of tensors that are quantized already" },
    { "--override-kv", OPTION_LIST, "KEY=TYPE:VALUE", PLACE(overrides),
      "changes metadata; TYPE is int, float, bool or str" },
    { "--prune-layers", OPTION_LIST, "N,N,...", PLACE(prune_layers),
      "leaves out blocks; those after them move up" },
    { "--keep-split", OPTION_FLAG, NULL, PLACE(keep_split),
      "as many files as IN has, numbered" },
    { "--report", OPTION_FLAG, NULL, PLACE(report),
      "how far the numbers have come from what they were" },
    { "--names", OPTION_CHOICE, "gguf|hf", MF_NAMING_GGUF,
      offsetof(struct options, names),
      "tensors as llama.cpp or Hugging Face names and orders them" },
    { "--to", OPTION_CHOICE, "gguf|apr", 1, offsetof(struct options, to),
      "format; OUT's suffix if not given" },
    OPTIONS_WRITE,
    { "THREADS", OPTION_AT_ALL, "N", PLACE(threads), NULL },
    { 0 },
};

#define EDITS_MAX  LIST_MAX
#define LAYERS_MAX 1024

struct wishes {
    struct mf_quantize_options options;
    struct mf_tensor_type tensor_type[LIST_MAX];
    struct mf_edit edit[EDITS_MAX];
    size_t tensors[LIST_MAX]; /* that each tensor_type decides */
    uint32_t prune[LAYERS_MAX];
};

/* ---- what is wished for ---- */

static bool take_tensor_types(struct run *run, struct wishes *wishes)
{
    const struct text_list *list = &run->options.tensor_types;

    for (size_t i = 0; i < list->count; i++) {
        char *text = (char *)list->at[i]; /* an argument: ours to cut */
        char *equals = strrchr(text, '=');

        if (!equals || equals == text || !equals[1]) {
            report_usage(run,
                         "'--tensor-type' cannot be '%.100s'; it is "
                         "PATTERN=TYPE",
                         text);
            return false;
        }
        *equals = 0;
        if (mf_pattern_check(run->env, text) != MF_OK) {
            report_usage(run, "'--tensor-type': %s",
                         mf_env_error(run->env)->message);
            return false;
        }
        if (!types_tensor_known(run, "--tensor-type", equals + 1))
            return false;
        wishes->tensor_type[i] =
            (struct mf_tensor_type){ .pattern = text, .type = equals + 1 };
    }
    wishes->options.tensor_types = wishes->tensor_type;
    wishes->options.tensor_type_tensors = wishes->tensors;
    wishes->options.tensor_type_count = list->count;
    return true;
}

/* llama.cpp's loader wants u32, and llama-quantize writes that.  Of a number
 * below 0 it loses the sign, and of a larger one the highest bits: those are
 * refused here. */
static bool take_integer(struct mf_edit *edit, const char *value)
{
    unsigned long long number;
    char *end;

    errno = 0;
    number = strtoull(value, &end, 10);
    edit->type = MF_VALUE_U32;
    edit->number.u64 = number;
    return *value >= '0' && *value <= '9' && !*end && errno == 0 &&
           number <= UINT32_MAX;
}

/* The types are those that llama.cpp's loader overrides with. */
static bool take_override(struct mf_edit *edit, char *text)
{
    char *equals = strchr(text, '='), *value, *end = NULL;

    if (!equals || equals == text)
        return false;
    *equals = 0;
    *edit = (struct mf_edit){ .key = text };
    value = strchr(equals + 1, ':');
    if (!value)
        return false;
    *value++ = 0;
    if (strcmp(equals + 1, "str") == 0) {
        edit->type = MF_VALUE_STRING;
        edit->text = str_of(value);
        return true;
    }
    if (strcmp(equals + 1, "bool") == 0) {
        edit->type = MF_VALUE_BOOL;
        edit->number.boolean = strcmp(value, "true") == 0;
        return edit->number.boolean || strcmp(value, "false") == 0;
    }
    if (strcmp(equals + 1, "int") == 0)
        return take_integer(edit, value);
    edit->type = MF_VALUE_F32;
    edit->number.f64 = (double)(float)strtod(value, &end);
    return strcmp(equals + 1, "float") == 0 && *value && !*end;
}

static bool take_overrides(struct run *run, struct wishes *wishes)
{
    const struct text_list *list = &run->options.overrides;

    for (size_t i = 0; i < list->count; i++) {
        char shown[128];

        strncpy(shown, list->at[i], sizeof(shown) - 1);
        shown[sizeof(shown) - 1] = 0;
        if (!take_override(&wishes->edit[i], (char *)list->at[i])) {
            report_usage(run,
                         "'--override-kv' cannot be '%s'; it is "
                         "KEY=int:7 (0 to 4294967295), float:0.5, bool:true or "
                         "str:text",
                         shown);
            return false;
        }
    }
    wishes->options.edits = wishes->edit;
    wishes->options.edit_count = list->count;
    return true;
}

/* Of one --prune-layers; false where it is no list of numbers. */
static bool add_layers(struct wishes *wishes, const char *text)
{
    size_t *count = &wishes->options.prune_count;

    do {
        char *end;
        unsigned long number = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || (*end && *end != ',') ||
            number > UINT32_MAX || *count == LAYERS_MAX)
            return false;
        wishes->prune[(*count)++] = (uint32_t)number;
        text = *end ? end + 1 : end;
    } while (*text);
    return true;
}

static bool take_layers(struct run *run, struct wishes *wishes)
{
    const struct text_list *list = &run->options.prune_layers;

    wishes->options.prune = wishes->prune;
    for (size_t i = 0; i < list->count; i++)
        if (!add_layers(wishes, list->at[i])) {
            report_usage(run,
                         "'--prune-layers' cannot be '%.60s'; it is a list of "
                         "at most %d numbers such as 20,21",
                         list->at[i], LAYERS_MAX);
            return false;
        }
    return true;
}

/* Which entries of the importance matrix are used. */
static bool weights_are_clear(struct run *run)
{
    const struct options *options = &run->options;
    bool include = options->include_weights.count > 0;
    bool exclude = options->exclude_weights.count > 0;

    if (include && exclude)
        report_usage(run, "'--include-weights' and '--exclude-weights' cannot "
                          "both be given");
    else if ((include || exclude) && !options->imatrix)
        report_usage(run,
                     "'%s' chooses entries of an importance matrix: give one "
                     "with '--imatrix'",
                     include ? "--include-weights" : "--exclude-weights");
    else
        return true;
    return false;
}

static bool types_are_known(struct run *run)
{
    const struct options *options = &run->options;

    return types_quantize_known(run, run->operand[2]) &&
           (!options->output_type ||
            types_tensor_known(run, "--output-type", options->output_type)) &&
           (!options->embedding_type ||
            types_tensor_known(run, "--embedding-type",
                               options->embedding_type));
}

static bool take_wishes(struct run *run, struct wishes *wishes)
{
    const struct options *options = &run->options;

    wishes->options = (struct mf_quantize_options){
        .type = run->operand[2],
        .pure = options->pure,
        .leave_output = options->leave_output,
        .allow_requantize = options->allow_requantize,
        .keep_split = options->keep_split,
        .report = options->report,
        .output_type = options->output_type,
        .embedding_type = options->embedding_type,
        .imatrix = options->imatrix,
        .include = options->include_weights.at,
        .include_count = options->include_weights.count,
        .exclude = options->exclude_weights.at,
        .exclude_count = options->exclude_weights.count,
    };
    return take_tensor_types(run, wishes) && take_overrides(run, wishes) &&
           take_layers(run, wishes);
}

/* ---- what came of it ---- */

static void row_text(struct run *run, const struct mf_quantized *type)
{
    struct out *out = &run->out;

    out_column(out, str_of(type->name), 8, false);
    out_format(out, "%8zu %15s %15s", type->tensors,
               number_text(type->parameters).at, number_text(type->bytes).at);
    if (type->measured > 0)
        out_format(out, " %9.4g %9.4g %10.8f", type->rmse, type->worst,
                   type->cosine);
    out_text(out, "\n");
}

struct weighted_text {
    char at[96];
};

static struct weighted_text
weighted_text(const struct mf_quantize_result *result)
{
    struct weighted_text text;

    snprintf(text.at, sizeof(text.at),
             "weighted %zu of %zu tensor%s by the importance matrix",
             result->weighted, result->changed,
             result->changed == 1 ? "" : "s");
    return text;
}

static void show_text(struct run *run, const char *path,
                      const struct mf_quantize_result *result)
{
    struct out *out = &run->out;

    out_text(out, "type     tensors      parameters           bytes");
    out_line(out, run->options.report && !run->options.dry_run
                      ? "      RMSE     worst     cosine"
                      : "");
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        if (result->type[i].tensors > 0)
            row_text(run, &result->type[i]);
    if (result->fallbacks > 0)
        out_format(out,
                   "%zu tensor%s got another type than the mix says: rows that "
                   "are no whole blocks\n",
                   result->fallbacks, result->fallbacks == 1 ? "" : "s");
    if (run->options.imatrix)
        out_line(out, weighted_text(result).at);
    out_escaped(out, str_of(path), "");
    out_format(out, ": %s, %s", result->format,
               size_text(result->file_size).at);
    if (result->file_count > 1)
        out_format(out, " in %zu files", result->file_count);
    out_line(out, run->options.dry_run ? " (nothing was written)" : "");
}

static void row_json(struct run *run, const struct mf_quantized *type)
{
    mf_json_key(&run->json, type->name);
    mf_json_begin(&run->json, '{');
    json_number(run, "tensors", type->tensors);
    json_number(run, "parameters", type->parameters);
    json_number(run, "bytes", type->bytes);
    if (type->measured > 0) {
        json_double(run, "rmse", type->rmse);
        json_double(run, "max_error", type->worst);
        json_double(run, "cosine", type->cosine);
    }
    mf_json_end(&run->json, '}');
}

static void unused_json(struct run *run, const struct wishes *wishes)
{
    mf_json_key(&run->json, "unused_patterns");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < wishes->options.tensor_type_count; i++)
        if (wishes->tensors[i] == 0)
            mf_json_string(&run->json, wishes->tensor_type[i].pattern,
                           strlen(wishes->tensor_type[i].pattern));
    mf_json_end(&run->json, ']');
}

/* Standard error: patterns that were mistyped, most likely. */
static void warn_of_unused(struct run *run, const struct wishes *wishes)
{
    char text[256];

    for (size_t i = 0; i < wishes->options.tensor_type_count; i++) {
        if (wishes->tensors[i] > 0)
            continue;
        snprintf(text, sizeof(text),
                 "warning: pattern '%.100s' of '--tensor-type' applies to no "
                 "tensor",
                 wishes->tensor_type[i].pattern);
        report_remark(run, run->operand[0], text);
    }
}

static void show_json(struct run *run, const char *path,
                      const struct mf_quantize_result *result,
                      const struct wishes *wishes)
{
    json_str(run, "output", str_of(path));
    json_text(run, "format", result->format);
    json_number(run, "file_count", result->file_count);
    json_number(run, "file_bytes", result->file_size);
    json_number(run, "changed", result->changed);
    json_number(run, "fallbacks", result->fallbacks);
    json_number(run, "weighted", result->weighted);
    unused_json(run, wishes);
    json_bool(run, "written", !run->options.dry_run);
    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        if (result->type[i].tensors > 0)
            row_json(run, &result->type[i]);
    mf_json_end(&run->json, '}');
}

/* ---- where to ---- */

static const char *const formats[] = { NULL, "gguf", "apr" };

/* The command's own name is among the arguments and no operand: there is room
 * for one more. */
void quantize_operands(struct run *run)
{
    char **operand = run->operand;

    if (run->operand_count < 2 ||
        (!mf_mix_name(operand[1]) &&
         (run->operand_count > 2 || !types_is_near(operand[1]))))
        return;
    memmove(operand + 2, operand + 1,
            (run->operand_count - 1) * sizeof(*operand));
    operand[1] = NULL;
    run->operand_count++;
}

/* OUT, or the file beside IN that llama-quantize would name. */
static const char *target_path(struct run *run)
{
    /* IN was opened: its path is no longer than the system's longest. */
    static char path[PATH_MAX + 64];
    const char *in = run->operand[0], *slash = strrchr(in, '/');

    if (run->operand[1])
        return output_path(run->operand[1]);
    snprintf(path, sizeof(path), "%.*sggml-model-%s.%s",
             slash ? (int)(slash + 1 - in) : 0, in,
             mf_mix_name(run->operand[2]),
             run->options.to ? formats[run->options.to] : "gguf");
    return path;
}

static struct wishes wishes;

static void quantize(struct run *run, struct mf_model *model)
{
    static struct mf_quantize_result result;
    const struct options *options = &run->options;
    const char *path = target_path(run);
    struct mf_convert_options how = { .format = formats[options->to],
                                      .names = (enum mf_naming)options->names,
                                      .replace = options->force,
                                      .dry_run = options->dry_run };

    if (mf_model_quantize(model, path, &wishes.options, &how, &result) !=
        MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    report_done(run, path,
                result.file_count > 1 ? "was written, in several files"
                                      : "was written");
    warn_of_unused(run, &wishes);
    if (options->json)
        show_json(run, path, &result, &wishes);
    else if (!output_is_stdout(path) || options->dry_run)
        show_text(run, path, &result);
    else if (options->imatrix)
        report_remark(run, run->operand[0], weighted_text(&result).at);
}

/* Standard output is no file that could be numbered. */
static bool keeps_split(struct run *run)
{
    if (!run->options.keep_split || run->options.dry_run ||
        !output_is_stdout(run->operand[1]))
        return true;
    report_usage(run, "'--keep-split' names files after OUT, and standard "
                      "output is none");
    return false;
}

void writes_quantized(struct run *run)
{
    sandbox_allow_file(&run->sandbox, target_path(run));
}

void command_quantize(struct run *run)
{
    if (!types_are_known(run) || !weights_are_clear(run) ||
        !take_wishes(run, &wishes))
        return;
    if (!run->operand[1] ||
        (output_fits(run, run->operand[1]) && keeps_split(run)))
        inputs_whole(run, quantize);
}
