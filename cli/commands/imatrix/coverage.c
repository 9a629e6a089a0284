/* SPDX-License-Identifier: MIT
 *
 * coverage.c - modelfile imatrix coverage: what a matrix has of a model
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/report.h"
#include "lib/program.h"

static struct {
    bool gaps;
} options;

static const struct option table[] = {
    OPTION_FLAG("--gaps", options.gaps,
                "list only tensors that are not covered, or not wholly"),
    OPTION_ONE_FILE,
    { 0 },
};

/* ---- a tensor ---- */

static void tensor_json(struct run *run, const struct mf_imatrix_tensor *tensor)
{
    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    json_text(run, "cover", mf_cover_name(tensor->cover));
    if (tensor->cover != MF_COVER_NO_TENSOR) {
        json_number(run, "columns", tensor->columns);
        json_number(run, "experts", tensor->experts);
        json_number(run, "used", tensor->used);
    }
    if (tensor->uses) {
        mf_json_key(&run->json, "uses");
        mf_json_begin(&run->json, '[');
        for (uint64_t i = 0; i < tensor->experts; i++)
            mf_json_f64(&run->json, (double)tensor->uses[i]);
        mf_json_end(&run->json, ']');
    }
    mf_json_end(&run->json, '}');
}

/* The experts that were never used, as many as fit a line. */
static void unused_text(struct run *run, const struct mf_imatrix_tensor *tensor)
{
    uint64_t shown = 0, unused = tensor->experts - tensor->used;

    if (tensor->cover != MF_COVER_PART)
        return;
    out_text(&run->out, "  without");
    for (uint64_t i = 0; i < tensor->experts && shown < 8; i++)
        if (!(tensor->uses[i] > 0))
            out_format(&run->out, "%s %" PRIu64, shown++ > 0 ? "," : "", i);
    if (unused > shown)
        out_format(&run->out, " and %" PRIu64 " more", unused - shown);
}

static void tensor_text(struct run *run, const struct mf_imatrix_tensor *tensor)
{
    struct out *out = &run->out;
    char uses[64] = "";

    if (tensor->uses && tensor->least < tensor->most)
        snprintf(uses, sizeof(uses), "%.0f to %.0f", (double)tensor->least,
                 (double)tensor->most);
    else if (tensor->uses)
        snprintf(uses, sizeof(uses), "%.0f", (double)tensor->most);
    out_column(out, tensor->name, 40, false);
    out_format(out, " %-9s",
               tensor->cover == MF_COVER_NO_TENSOR
                   ? "no tensor"
                   : mf_cover_name(tensor->cover));
    if (tensor->cover == MF_COVER_NO_TENSOR) {
        out_text(out, "\n");
        return;
    }
    out_format(out, " %8" PRIu64 " %9" PRIu64, tensor->columns,
               tensor->experts);
    if (tensor->uses)
        out_format(out, " %6" PRIu64 "  %s", tensor->used, uses);
    unused_text(run, tensor);
    out_text(out, "\n");
}

static void show(void *user, const struct mf_imatrix_tensor *tensor)
{
    struct run *run = user;

    if (options.gaps && tensor->cover == MF_COVER_ALL)
        return;
    (run->options->json ? tensor_json : tensor_text)(run, tensor);
}

/* ---- all of them ---- */

/* Tensors that get values from the matrix. */
static size_t covered(const struct mf_imatrix_coverage *sum)
{
    return sum->of[MF_COVER_ALL] + sum->of[MF_COVER_PART] +
           sum->of[MF_COVER_UNUSED];
}

static void sum_json(struct run *run, const struct mf_imatrix_coverage *sum)
{
    json_number(run, "tensor_count", sum->tensors);
    json_number(run, "covered", covered(sum));
    json_number(run, "partial", sum->of[MF_COVER_PART]);
    json_number(run, "unused", sum->of[MF_COVER_UNUSED]);
    json_number(run, "uncovered", sum->of[MF_COVER_NONE]);
    json_number(run, "mismatched", sum->of[MF_COVER_MISMATCH]);
    json_number(run, "entries_without_tensor", sum->of[MF_COVER_NO_TENSOR]);
    json_number(run, "experts", sum->experts);
    json_number(run, "experts_used", sum->experts_used);
    json_number(run, "chunk_count", sum->chunks);
}

static void sum_text(struct run *run, const struct mf_imatrix_coverage *sum)
{
    static const struct {
        enum mf_imatrix_cover cover;
        const char *text;
    } rest[] = {
        { MF_COVER_PART, "without values for some experts" },
        { MF_COVER_UNUSED, "never used" },
        { MF_COVER_MISMATCH, "with another number of values" },
        { MF_COVER_NO_TENSOR, "for no tensor of this model" },
    };
    struct out *out = &run->out;

    out_format(out, "covered %zu of %zu tensors", covered(sum), sum->tensors);
    for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
        if (sum->of[rest[i].cover] > 0)
            out_format(out, ", %zu %s%s", sum->of[rest[i].cover],
                       rest[i].cover == MF_COVER_NO_TENSOR ? "entries " : "",
                       rest[i].text);
    out_text(out, "\n");
}

static void judge(struct run *run, const struct mf_imatrix_coverage *sum)
{
    if (sum->of[MF_COVER_MISMATCH] > 0)
        report_no(run,
                  "%zu %s another number of values than the tensor: the matrix "
                  "belongs to another model",
                  sum->of[MF_COVER_MISMATCH],
                  sum->of[MF_COVER_MISMATCH] == 1 ? "entry has"
                                                  : "entries have");
    else if (covered(sum) == 0)
        report_no(run, "the matrix covers no tensor of this model");
}

static void cover(struct run *run, struct mf_model *model)
{
    struct mf_imatrix_coverage sum;
    enum mf_status status;

    if (mf_model_is_imatrix(model)) {
        report_usage(run, "both files are importance matrices; usage: "
                          "modelfile imatrix coverage MATRIX MODEL");
        return;
    }
    if (run->options->json) {
        json_str(run, "imatrix", str_of(run->operand[1]));
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    } else {
        out_column(&run->out, str_of("name"), 40, false);
        out_format(&run->out, " %-9s %8s %9s %6s  uses\n", "cover", "columns",
                   "experts", "used");
    }
    run->imatrix = run->operand[1];
    status = mf_model_imatrix_coverage(model, run->operand[1], show, run, &sum);
    if (run->options->json)
        mf_json_end(&run->json, ']');
    if (status != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    (run->options->json ? sum_json : sum_text)(run, &sum);
    judge(run, &sum);
}

/* Either order will do: one of the two is a matrix. */
static void find_model(struct run *run)
{
    struct mf_model *model;
    char *first = run->operand[0];

    if (inputs_try(run, inputs_path(first), MF_SHARDS_ALONE, &model) != MF_OK)
        return; /* reported when it is opened as the model */
    if (mf_model_is_imatrix(model)) {
        run->operand[0] = run->operand[1];
        run->operand[1] = first;
    }
    mf_model_close(model);
}

static void imatrix_coverage(struct run *run)
{
    find_model(run);
    inputs_one(run, false, cover);
}

const struct command command_imatrix_coverage = {
    .name = "imatrix",
    .sub = "coverage",
    .operands = "MATRIX MODEL",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "which tensors and experts an importance matrix covers",
    .about = "Prints which tensors of MODEL, and which experts in them, "
             "have values in the importance matrix MATRIX, in either "
             "format of llama-imatrix.\n",
    .examples = "modelfile imatrix coverage model.imatrix.gguf model.gguf\n"
                "modelfile imatrix coverage --gaps imatrix.dat model.gguf\n",
    .exit_no = "the matrix covers no tensor, or belongs to another model",
    .options = table,
    .execute = imatrix_coverage,
};
