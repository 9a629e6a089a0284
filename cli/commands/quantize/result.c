/* SPDX-License-Identifier: MIT
 *
 * result.c - what modelfile quantize prints
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/quantize/quantize.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"

static bool has_report(const struct run *run, const struct request *request)
{
    return request->options.report && !run->options->dry_run &&
           !run->options->share;
}

/* Copies have no error to measure, whatever their type: the row says so. */
static void row_text(struct run *run, const struct mf_quantized *type,
                     bool report)
{
    struct out *out = &run->out;

    out_column(out, str_of(type->name), 8, false);
    out_format(out, "%8zu %15s %15s", type->tensors,
               number_text(type->parameters).at, number_text(type->bytes).at);
    if (type->measured > 0)
        out_format(out, " %9.4g %9.4g %10.8f", type->rmse, type->worst,
                   type->cosine);
    else if (report)
        out_format(out, " %9s", "copied");
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
                      const struct mf_quantize_result *result,
                      const struct request *request)
{
    struct out *out = &run->out;

    out_text(out, "type     tensors      parameters           bytes");
    out_line(out,
             has_report(run, request) ? "      RMSE     worst     cosine" : "");
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        if (result->type[i].tensors > 0)
            row_text(run, &result->type[i], has_report(run, request));
    if (result->fallbacks > 0)
        out_format(out,
                   "%zu tensor%s fell back to another type: rows are not a "
                   "multiple of the block size\n",
                   result->fallbacks, result->fallbacks == 1 ? "" : "s");
    if (request->options.imatrix)
        out_line(out, weighted_text(result).at);
    if (result->effort > 1)
        out_format(out, "effort %" PRIu32 ": scales are searched further\n",
                   result->effort);
    out_escaped(out, str_of(path), "");
    out_format(out, ": %s, %s", result->format,
               size_text(result->file_size).at);
    if (result->file_count > 1)
        out_format(out, " in %zu files", result->file_count);
    out_text(out, output_part_text(run).at);
    out_line(out, run->options->dry_run ? " (nothing was written)" : "");
}

static void row_json(struct run *run, const struct mf_quantized *type,
                     bool report)
{
    mf_json_key(&run->json, type->name);
    mf_json_begin(&run->json, '{');
    json_number(run, "tensors", type->tensors);
    json_number(run, "parameters", type->parameters);
    json_number(run, "bytes", type->bytes);
    if (report)
        json_number(run, "measured", type->measured);
    if (type->measured > 0) {
        json_double(run, "rmse", type->rmse);
        json_double(run, "max_error", type->worst);
        json_double(run, "cosine", type->cosine);
    }
    mf_json_end(&run->json, '}');
}

static void show_json(struct run *run, const char *path,
                      const struct mf_quantize_result *result,
                      const struct request *request)
{
    json_str(run, "output", str_of(path));
    json_text(run, "format", result->format);
    json_number(run, "file_count", result->file_count);
    json_number(run, "file_bytes", result->file_size);
    json_number(run, "changed", result->changed);
    json_number(run, "fallbacks", result->fallbacks);
    json_number(run, "weighted", result->weighted);
    json_bool(run, "needs_imatrix", result->unweighted > 0);
    json_number(run, "effort", result->effort);
    patterns_json(run, &request->patterns);
    output_part_json(run);
    json_bool(run, "written", !run->options->dry_run && !run->options->share);
    mf_json_key(&run->json, "types");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        if (result->type[i].tensors > 0)
            row_json(run, &result->type[i], has_report(run, request));
    mf_json_end(&run->json, '}');
}

void result_show_many(struct run *run, const struct outputs *outputs,
                      const struct request *request)
{
    patterns_warn(run, &request->patterns);
    if (run->options->json) {
        mf_json_key(&run->json, "outputs");
        mf_json_begin(&run->json, '[');
    }
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_quantize_output *output = &outputs->at[i];

        if (run->options->json) {
            mf_json_begin(&run->json, '{');
            json_text(run, "quantization", output->type);
            show_json(run, output->path, &outputs->result[i], request);
            mf_json_end(&run->json, '}');
            continue;
        }
        out_text(&run->out, i > 0 ? "\n" : "");
        show_text(run, output->path, &outputs->result[i], request);
    }
    if (run->options->json)
        mf_json_end(&run->json, ']');
}

void result_show(struct run *run, const char *path,
                 const struct mf_quantize_result *result,
                 const struct request *request)
{
    patterns_warn(run, &request->patterns);
    if (run->options->json)
        show_json(run, path, result, request);
    else if (!output_is_stdout(path) || run->options->dry_run)
        show_text(run, path, result, request);
    else if (request->options.imatrix && result->weighted == result->changed)
        report_remark(run, run->operand[0], weighted_text(result).at);
}
