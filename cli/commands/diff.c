/* SPDX-License-Identifier: MIT
 *
 * diff.c - modelfile diff: compare two models
 */
#include <inttypes.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/missing.h"
#include "cli/report.h"
#include "cli/value.h"

static struct {
    bool no_data, values, strict_metadata;
} options;

static const struct option table[] = {
    OPTION_FLAG("--no-data", options.no_data,
                "compare headers only; do not read tensor data"),
    OPTION_FLAG("--values", options.values,
                "decode tensors that differ and measure the difference"),
    OPTION_FLAG("--strict-metadata", options.strict_metadata,
                "count differences of metadata between formats, too"),
    OPTIONS_WORK,
    OPTION_FLAG("--one-file", shared_options.one_file,
                "these files only, not the other shards of their models"),
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    { 0 },
};

enum { A, B, SIDES };

struct diff {
    struct run *run;
    struct mf_model *model[SIDES];
    const char *path[SIDES];
    size_t keys, tensors; /* number of differences */
    bool tensors_begun;   /* the JSON array "tensors" is open */
};

static const struct word {
    enum mf_difference_what what;
    const char *in_json;
} words[] = {
    { MF_ONLY_A, "only_a" },     { MF_ONLY_B, "only_b" },
    { MF_DIFFERS_TYPE, "type" }, { MF_DIFFERS_SHAPE, "shape" },
    { MF_DIFFERS_DATA, "data" },
};

/* The index on that side; SIZE_MAX if it is missing there. */
static size_t index_of(const struct mf_difference *difference, int side)
{
    return side == A ? difference->a : difference->b;
}

/* The side that has it; A if both do. */
static int side_of(const struct mf_difference *difference)
{
    return difference->what & MF_ONLY_B ? B : A;
}

/* ---- text ---- */

/* "tensor 'NAME' differs: " or "tensor 'NAME' is only in FILE: " */
static void begin_line(struct diff *diff, const char *kind, struct mf_str name,
                       const struct mf_difference *difference)
{
    struct out *out = &diff->run->out;

    out_text(out, kind);
    out_text(out, " '");
    out_escaped(out, name, "");
    if (difference->what & (MF_ONLY_A | MF_ONLY_B)) {
        out_text(out, "' is only in ");
        out_escaped(out, str_of(diff->path[side_of(difference)]), "");
        out_text(out, ": ");
    } else {
        out_text(out, "' differs: ");
    }
}

/* The value, after its type if the other side has another one. */
static void value_of(struct diff *diff, int side, size_t index,
                     const char *other_type)
{
    struct type_text type;
    struct mf_meta meta;

    mf_meta_at(diff->model[side], index, &meta);
    type = type_text(&meta);
    if (other_type && strcmp(type.at, other_type) != 0)
        out_format(&diff->run->out, "%s ", type.at);
    value_text(diff->run, diff->model[side], index, false);
}

static void meta_text(struct diff *diff, const struct mf_difference *difference)
{
    struct out *out = &diff->run->out;
    int side = side_of(difference);
    struct mf_meta a, b;

    mf_meta_at(diff->model[side], index_of(difference, side), &a);
    begin_line(diff, "key", a.key, difference);
    if (difference->what & MF_DIFFERS_DATA) {
        mf_meta_at(diff->model[B], difference->b, &b);
        value_of(diff, A, difference->a, type_text(&b).at);
        out_text(out, " | ");
        value_of(diff, B, difference->b, type_text(&a).at);
        if (a.type == MF_VALUE_ARRAY && b.type == MF_VALUE_ARRAY)
            out_format(out, ", first at element %" PRIu64, difference->first);
    } else {
        value_of(diff, side, index_of(difference, side), NULL);
    }
    out_text(out, "\n");
}

/* ", NaN in A alone: 3" */
static void odd_text(struct out *out, uint64_t count, const char *what)
{
    if (count > 0)
        out_format(out, ", %s alone: %s", what, number_text(count).at);
}

/* A second line: how far apart the values are. */
static void values_text(struct diff *diff, struct mf_str name,
                        const struct mf_difference *difference)
{
    const struct mf_value_errors *values = difference->values;
    struct out *out = &diff->run->out;

    if (!values && !difference->no_values)
        return;
    out_text(out, "tensor '");
    out_escaped(out, name, "");
    if (!values) {
        out_format(out, "': values not compared: %s\n", difference->no_values);
        return;
    }
    out_format(out, "': max error %.6g, relative %.6g; RMSE %.6g, cosine %.9g",
               values->max_absolute, values->max_relative, values->rmse,
               values->cosine);
    odd_text(out, values->from_zero, "zero in A");
    odd_text(out, values->nan_a, "NaN in A");
    odd_text(out, values->nan_b, "NaN in B");
    odd_text(out, values->inf_a, "Inf in A");
    odd_text(out, values->inf_b, "Inf in B");
    out_text(out, "\n");
}

static void tensor_text(struct diff *diff,
                        const struct mf_difference *difference)
{
    struct out *out = &diff->run->out;
    const char *between = "";
    struct mf_tensor a, b;
    int side = side_of(difference);

    mf_tensor_at(diff->model[side], index_of(difference, side), &a);
    begin_line(diff, "tensor", a.name, difference);
    if (difference->what & (MF_ONLY_A | MF_ONLY_B)) {
        out_format(out, "%s, %s\n", a.type, shape_text(&a).at);
        return;
    }
    mf_tensor_at(diff->model[B], difference->b, &b);
    if (difference->what & MF_DIFFERS_TYPE) {
        out_format(out, "type %s | %s", a.type, b.type);
        between = ", ";
    }
    if (difference->what & MF_DIFFERS_SHAPE) {
        out_format(out, "%sshape %s | %s", between, shape_text(&a).at,
                   shape_text(&b).at);
        between = ", ";
    }
    if (difference->what & MF_DIFFERS_DATA && a.data.size == b.data.size)
        out_format(out, "%sdata, first at byte %s", between,
                   number_text(difference->first).at);
    else if (difference->what & MF_DIFFERS_DATA)
        out_format(out, "%s bytes | %s bytes", number_text(a.data.size).at,
                   number_text(b.data.size).at);
    out_text(out, "\n");
    values_text(diff, a.name, difference);
}

/* ---- JSON ---- */

static void tensor_json(struct run *run, const struct mf_tensor *tensor)
{
    json_text(run, "type", tensor->type);
    shape_json(run, tensor);
    json_number(run, "bytes", tensor->data.size);
}

static void side_json(struct diff *diff, const struct mf_difference *difference,
                      int side)
{
    size_t index = index_of(difference, side);
    struct mf_tensor tensor;

    mf_json_key(&diff->run->json, side == A ? "a" : "b");
    if (index == SIZE_MAX) {
        mf_json_null(&diff->run->json);
        return;
    }
    mf_json_begin(&diff->run->json, '{');
    if (!difference->is_tensor)
        value_json(diff->run, diff->model[side], index, false);
    else if (mf_tensor_at(diff->model[side], index, &tensor))
        tensor_json(diff->run, &tensor);
    mf_json_end(&diff->run->json, '}');
}

static void values_json(struct run *run, const struct mf_difference *difference)
{
    const struct mf_value_errors *values = difference->values;

    if (!values && !difference->no_values)
        return;
    mf_json_key(&run->json, "values");
    mf_json_begin(&run->json, '{');
    if (values) {
        json_number(run, "finite", values->count);
        json_double(run, "max_abs", values->max_absolute);
        json_double(run, "max_rel", values->max_relative);
        json_double(run, "rmse", values->rmse);
        json_double(run, "cosine", values->cosine);
        json_number(run, "zero_a", values->from_zero);
        json_number(run, "nan_a", values->nan_a);
        json_number(run, "nan_b", values->nan_b);
        json_number(run, "inf_a", values->inf_a);
        json_number(run, "inf_b", values->inf_b);
    } else {
        json_text(run, "refused", difference->no_values);
    }
    mf_json_end(&run->json, '}');
}

static void begin_tensors(struct diff *diff)
{
    if (diff->tensors_begun)
        return;
    diff->tensors_begun = true;
    mf_json_end(&diff->run->json, ']');
    mf_json_key(&diff->run->json, "tensors");
    mf_json_begin(&diff->run->json, '[');
}

static void difference_json(struct diff *diff,
                            const struct mf_difference *difference)
{
    struct mf_json_out *json = &diff->run->json;
    int side = side_of(difference);
    size_t index = index_of(difference, side);
    struct mf_tensor tensor;
    struct mf_meta meta;

    if (difference->is_tensor)
        begin_tensors(diff);
    mf_json_begin(json, '{');
    if (difference->is_tensor &&
        mf_tensor_at(diff->model[side], index, &tensor))
        json_str(diff->run, "name", tensor.name);
    else if (mf_meta_at(diff->model[side], index, &meta))
        json_str(diff->run, "key", meta.key);
    mf_json_key(json, "differs");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (difference->what & words[i].what)
            mf_json_string(json, words[i].in_json, strlen(words[i].in_json));
    mf_json_end(json, ']');
    side_json(diff, difference, A);
    side_json(diff, difference, B);
    if (difference->what & MF_DIFFERS_DATA)
        json_number(diff->run, "first", difference->first);
    values_json(diff->run, difference);
    mf_json_end(json, '}');
}

/* ---- the verdict ---- */

static void found(void *user, const struct mf_difference *difference)
{
    struct diff *diff = user;

    *(difference->is_tensor ? &diff->tensors : &diff->keys) += 1;
    if (diff->run->options->json)
        difference_json(diff, difference);
    else if (difference->is_tensor)
        tensor_text(diff, difference);
    else
        meta_text(diff, difference);
}

/* Formats have different keys for the same thing: between two formats,
 * differences of metadata are printed but do not make the models different,
 * unless --strict-metadata is given. */
static bool keys_count(const struct diff *diff)
{
    return options.strict_metadata ||
           strcmp(mf_model_info(diff->model[A])->format,
                  mf_model_info(diff->model[B])->format) == 0;
}

static void counted(struct out *out, size_t count, const char *what)
{
    out_format(out, "%zu %s%s", count, what, count == 1 ? "" : "s");
}

static void verdict_text(const struct diff *diff, bool same)
{
    const struct mf_model_info *info = mf_model_info(diff->model[A]);
    struct out *out = &diff->run->out;

    out_escaped(out, str_of(diff->path[A]), "");
    out_text(out, " and ");
    out_escaped(out, str_of(diff->path[B]), "");
    if (same && diff->keys == 0) {
        out_text(out, " are the same: ");
        counted(out, info->metadata_count, "key");
        out_text(out, " and ");
        counted(out, info->tensor_count, "tensor");
    } else {
        out_text(out, same ? " are the same but for " : " differ in ");
        counted(out, diff->keys, "key");
        out_text(out, keys_count(diff) ? "" : " (not counted)");
        if (!same) {
            out_text(out, " and ");
            counted(out, diff->tensors, "tensor");
        }
    }
    missing_counted(diff->run, diff->model[A]);
    missing_counted(diff->run, diff->model[B]);
    out_line(out, options.no_data ? ", data not read" : "");
}

static void compare(struct diff *diff)
{
    struct run *run = diff->run;
    struct mf_diff_options how = { .size = sizeof(struct mf_diff_options),
                                   .no_data = options.no_data,
                                   .values = options.values };
    enum mf_status status;
    bool same;

    if (run->options->json) {
        json_str(run, "a", str_of(diff->path[A]));
        json_str(run, "b", str_of(diff->path[B]));
        mf_json_key(&run->json, "metadata");
        mf_json_begin(&run->json, '[');
    }
    status = mf_model_diff(diff->model[A], diff->model[B], &how, found, diff);
    same = diff->tensors == 0 && (diff->keys == 0 || !keys_count(diff));
    if (run->options->json) {
        begin_tensors(diff);
        mf_json_end(&run->json, ']');
    }
    if (status != MF_OK) {
        report_failure(run, NULL); /* the message has the file */
        return;
    }
    if (!same)
        report_code(run, EXIT_NO);
    if (run->options->json)
        json_bool(run, "same", same);
    else
        verdict_text(diff, same);
}

static void diff_models(struct run *run)
{
    struct diff diff = { .run = run };
    bool open = true;

    if (options.values && options.no_data) {
        report_usage(run, "'--values' and '--no-data' cannot both be given");
        return;
    }
    answer_begin(run);
    answer_files_begin(run);
    for (int side = A; side < SIDES && open; side++) {
        diff.path[side] = run->operand[side];
        answer_file_begin(run, diff.path[side]);
        diff.model[side] =
            inputs_open(run, diff.path[side], MF_SHARDS_AUTO, false);
        answer_file_end(run);
        open = diff.model[side] != NULL;
    }
    answer_files_end(run);
    if (open)
        compare(&diff);
    for (int side = A; side < SIDES; side++)
        mf_model_close(diff.model[side]);
    answer_end(run);
}

const struct command command_diff = {
    .name = "diff",
    .sub = "",
    .operands = "A B",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "compare two models",
    .about = "Compares metadata, tensors, types, shapes and data of two "
             "models, which may have different formats. --values decodes "
             "both and prints how far the numbers differ; --no-data "
             "compares headers only. The exit code is 0 only if nothing "
             "differs.\n",
    .examples = "modelfile diff base.gguf tuned.gguf\n"
                "modelfile diff model.safetensors model.gguf\n"
                "modelfile diff --no-data old/ new/           headers only\n"
                "modelfile diff --values model.gguf model-q8_0.gguf\n"
                "modelfile diff --json a.gguf b.gguf\n",
    .exit_no = "the models differ",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = diff_models,
};
