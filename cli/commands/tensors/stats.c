/* SPDX-License-Identifier: MIT
 *
 * stats.c - modelfile tensors stats: min, max, mean and more of each tensor
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/report.h"

static const struct option table[] = {
    OPTION_ONE_FILE,
    OPTIONS_WORK,
    { 0 },
};

/* Columns of a full line.  On a narrower terminal the name gets a line of its
 * own, and the numbers fewer digits. */
#define STATS_COLUMNS 139

static bool is_narrow(const struct run *run)
{
    return run->out.columns > 0 && run->out.columns < STATS_COLUMNS;
}

static void stats_short(struct run *run, const struct mf_tensor *tensor,
                        const struct mf_tensor_stats *stats)
{
    struct out *out = &run->out;

    out_column(out, tensor->name,
               out_width(tensor->name) < out->columns ? 0 : out->columns, true);
    out_format(out, "\n  %-7s %9.3g %9.3g %9.3g %9.3g %9.3g %7s %5s %5s\n",
               tensor->type, stats->min, stats->max, stats->mean, stats->std,
               stats->l2, count_text(stats->zeros).at,
               count_text(stats->nans).at, count_text(stats->infinities).at);
}

static void stats_text(struct run *run, const struct mf_tensor *tensor,
                       const struct mf_tensor_stats *stats)
{
    struct out *out = &run->out;

    if (is_narrow(run)) {
        stats_short(run, tensor, stats);
        return;
    }
    out_column(out, tensor->name, 40, false);
    out_format(out,
               " %-8s %12.5g %12.5g %12.5g %12.5g %12.5g %10" PRIu64
               " %6" PRIu64 " %6" PRIu64 "\n",
               tensor->type, stats->min, stats->max, stats->mean, stats->std,
               stats->l2, stats->zeros, stats->nans, stats->infinities);
}

static void stats_json(struct run *run, const struct mf_tensor *tensor,
                       const struct mf_tensor_stats *stats)
{
    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    json_text(run, "type", tensor->type);
    json_number(run, "finite", stats->count);
    json_double(run, "min", stats->min);
    json_double(run, "max", stats->max);
    json_double(run, "mean", stats->mean);
    json_double(run, "std", stats->std);
    json_double(run, "l2", stats->l2);
    json_number(run, "zeros", stats->zeros);
    json_number(run, "nan", stats->nans);
    json_number(run, "inf", stats->infinities);
    mf_json_end(&run->json, '}');
}

static void stats_head(struct run *run)
{
    if (run->options->json) {
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
        return;
    }
    if (is_narrow(run)) {
        out_format(&run->out, "name\n  %-7s %9s %9s %9s %9s %9s %7s %5s %5s\n",
                   "type", "min", "max", "mean", "std", "L2", "zeros", "NaN",
                   "Inf");
        return;
    }
    out_column(&run->out, str_of("name"), 40, false);
    out_format(&run->out, " %-8s %12s %12s %12s %12s %12s %10s %6s %6s\n",
               "type", "min", "max", "mean", "std", "L2", "zeros", "NaN",
               "Inf");
}

static void show_stats(struct run *run, const struct mf_model *model,
                       const size_t *index, size_t count,
                       const struct mf_tensor_stats *stats)
{
    struct mf_tensor tensor;

    stats_head(run);
    for (size_t i = 0; i < count; i++) {
        mf_tensor_at(model, index[i], &tensor);
        (run->options->json ? stats_json : stats_text)(run, &tensor, &stats[i]);
    }
    if (run->options->json)
        mf_json_end(&run->json, ']');
}

static size_t choose(const struct mf_model *model, const char *pattern,
                     size_t *index)
{
    struct mf_tensor tensor;
    size_t count = 0;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (names_match(pattern, tensor.name))
            index[count++] = i;
    return count;
}

static void stats(struct run *run, struct mf_model *model)
{
    size_t most = mf_model_info(model)->tensor_count + 1, count;
    struct mf_tensor_stats *found = NULL;
    size_t *index = mf_env_resize(run->env, NULL, 0, most * sizeof(*index));
    const char *pattern = run->operand_count > 1 ? run->operand[1] : NULL;

    if (index)
        found = mf_env_resize(run->env, NULL, 0, most * sizeof(*found));
    if (found) {
        count = choose(model, pattern, index);
        if (pattern && count == 0)
            names_unmatched(run, model, NAMED_TENSOR, pattern);
        else if (mf_tensor_stats(model, index, count, found) == MF_OK)
            show_stats(run, model, index, count, found);
        else
            report_failure(run, run->operand[0]);
        mf_env_resize(run->env, found, most * sizeof(*found), 0);
    } else {
        report_failure(run, run->operand[0]);
    }
    if (index)
        mf_env_resize(run->env, index, most * sizeof(*index), 0);
}

static bool check_operands(struct run *run)
{
    return names_one_file(run, NAMED_TENSOR);
}

static void tensors_stats(struct run *run)
{
    inputs_one(run, false, stats);
}

const struct command command_tensors_stats = {
    .name = "tensors",
    .sub = "stats",
    .operands = "FILE [PATTERN]",
    .operands_min = 1,
    .operands_max = 2,
    .summary = "show min, max, mean and more of each tensor",
    .examples = "modelfile tensors stats model.gguf\n"
                "modelfile tensors stats model.gguf 'blk.0.*' --json\n",
    .options = table,
    .execute = tensors_stats,
    .check_operands = check_operands,
};
