/* SPDX-License-Identifier: MIT
 *
 * stats.c - modelfile tensors stats: min, max, mean and more of each tensor
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands/tensors/tensors.h"
#include "cli/decimal.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/tsv.h"

static struct {
    bool tsv, histogram;
    struct errors_options errors;
} options;

static const struct option table[] = {
    OPTION_FLAG("--histogram", options.histogram,
                "numbers by sign and power of two, outliers, and rows that are "
                "zero or constant"),
    OPTION_TEXT("--errors", "TYPE,...", options.errors.types,
                "instead: bytes and squared error in these types, or in all, "
                "of tensors that are quantized"),
    OPTION_TEXT("--imatrix", "FILE", options.errors.imatrix,
                "measure --errors with an importance matrix"),
    OPTION_TEXT("--plot", "FILE.svg", options.errors.plot,
                "draw --errors: a row for each block, a panel for each type"),
    OPTION_FLAG("--tsv", options.tsv,
                "a line of tab-separated values per tensor, all digits"),
    OPTION_ONE_FILE,
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTION_FORCE,
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

static struct number_text rounded(double number, int digits)
{
    struct number_text text;

    snprintf(text.at, sizeof(text.at), "%.*g", digits, number);
    return text;
}

static struct number_text shortest(double number)
{
    struct decimal_text digits = decimal_shortest(number);
    struct number_text text = { "" };

    memcpy(text.at, digits.at, sizeof(text.at) - 1);
    return text;
}

/* A minimum or maximum: integers and f64 with all digits, and so are others
 * where both look the same but differ. */
static struct number_text extreme_text(const struct mf_tensor_stats *stats,
                                       union mf_number number, int digits)
{
    struct number_text text;

    if (stats->kind == MF_VALUE_I64)
        snprintf(text.at, sizeof(text.at), "%" PRId64, number.i64);
    else if (stats->kind == MF_VALUE_U64)
        snprintf(text.at, sizeof(text.at), "%" PRIu64, number.u64);
    else if (stats->kind == MF_VALUE_F64 ||
             (stats->min < stats->max &&
              strcmp(rounded(stats->min, digits).at,
                     rounded(stats->max, digits).at) == 0))
        text = shortest(number.f64);
    else
        text = rounded(number.f64, digits);
    return text;
}

/* How tensors are printed. */
struct layout {
    bool narrow;
    int digits, width; /* of numbers */
    int min, max;      /* columns of these */
};

static int wider(int width, const char *text)
{
    int size = (int)strlen(text);

    return size > width ? size : width;
}

static struct layout layout_of(const struct run *run,
                               const struct mf_tensor_stats *stats,
                               size_t count)
{
    bool narrow = is_narrow(run);
    struct layout layout = { .narrow = narrow,
                             .digits = narrow ? 3 : 5,
                             .width = narrow ? 9 : 12 };

    layout.min = layout.max = layout.width;
    for (size_t i = 0; i < count; i++) {
        layout.min =
            wider(layout.min,
                  extreme_text(&stats[i], stats[i].least, layout.digits).at);
        layout.max =
            wider(layout.max,
                  extreme_text(&stats[i], stats[i].greatest, layout.digits).at);
    }
    return layout;
}

static void stats_text(struct run *run, const struct layout *layout,
                       const struct mf_tensor *tensor,
                       const struct mf_tensor_stats *stats)
{
    struct out *out = &run->out;
    int digits = layout->digits, width = layout->width;

    if (layout->narrow)
        out_column(out, tensor->name,
                   out_width(tensor->name) < out->columns ? 0 : out->columns,
                   true);
    else
        out_column(out, tensor->name, 40, false);
    out_format(out, layout->narrow ? "\n  %-7s" : " %-8s", tensor->type);
    out_format(out, " %*s %*s %*.*g %*.*g %*.*g", layout->min,
               extreme_text(stats, stats->least, digits).at, layout->max,
               extreme_text(stats, stats->greatest, digits).at, width, digits,
               stats->mean, width, digits, stats->std, width, digits,
               stats->l2);
    if (layout->narrow)
        out_format(out, " %7s %5s %5s\n", count_text(stats->zeros).at,
                   count_text(stats->nans).at,
                   count_text(stats->infinities).at);
    else
        out_format(out, " %10" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n",
                   stats->zeros, stats->nans, stats->infinities);
}

static void extreme_json(struct run *run, const char *key,
                         const struct mf_tensor_stats *stats,
                         union mf_number number)
{
    mf_json_key(&run->json, key);
    if (stats->kind == MF_VALUE_I64)
        mf_json_i64(&run->json, number.i64);
    else if (stats->kind == MF_VALUE_U64)
        mf_json_u64(&run->json, number.u64);
    else
        mf_json_f64(&run->json, number.f64);
}

static void stats_json(struct run *run, const struct mf_tensor *tensor,
                       const struct mf_tensor_stats *stats)
{
    json_str(run, "name", tensor->name);
    json_text(run, "type", tensor->type);
    json_number(run, "finite", stats->count);
    extreme_json(run, "min", stats, stats->least);
    extreme_json(run, "max", stats, stats->greatest);
    json_double(run, "mean", stats->mean);
    json_double(run, "std", stats->std);
    json_double(run, "l2", stats->l2);
    json_number(run, "zeros", stats->zeros);
    json_number(run, "nan", stats->nans);
    json_number(run, "inf", stats->infinities);
}

static void extreme_tsv(struct out *out, const struct mf_tensor_stats *stats,
                        union mf_number number)
{
    tsv_next(out);
    if (stats->kind == MF_VALUE_I64)
        out_format(out, "%" PRId64, number.i64);
    else if (stats->kind == MF_VALUE_U64)
        tsv_number(out, number.u64);
    else
        tsv_double(out, number.f64);
}

static void stats_tsv(struct run *run, const struct mf_tensor *tensor,
                      const struct mf_tensor_stats *stats)
{
    const double numbers[] = { stats->mean, stats->std, stats->l2 };
    const uint64_t counts[] = { stats->zeros, stats->nans, stats->infinities };
    struct out *out = &run->out;

    tsv_text(out, tensor->name);
    tsv_next(out);
    out_text(out, tensor->type);
    tsv_next(out);
    tsv_number(out, stats->count);
    extreme_tsv(out, stats, stats->least);
    extreme_tsv(out, stats, stats->greatest);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        tsv_next(out);
        tsv_double(out, numbers[i]);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        tsv_next(out);
        tsv_number(out, counts[i]);
    }
}

static void show_tsv(struct run *run, const struct mf_model *model,
                     const size_t *index, size_t count,
                     const struct histograms *measured)
{
    struct mf_tensor tensor;

    out_text(&run->out, "name\ttype\tfinite\tmin\tmax\tmean\tstd\tl2\t"
                        "zeros\tnan\tinf");
    out_line(&run->out, options.histogram
                            ? "\trows\tzero_rows\tconstant_rows\toutliers\t"
                              "beyond\tfirst\tnegative\tpositive"
                            : "");
    for (size_t i = 0; i < count; i++) {
        mf_tensor_at(model, index[i], &tensor);
        stats_tsv(run, &tensor, &measured->found[i]);
        histogram_show(measured, i);
        out_text(&run->out, "\n");
    }
}

static void stats_head(struct run *run, const struct layout *layout)
{
    struct out *out = &run->out;
    int width = layout->width;

    if (layout->narrow) {
        out_format(out, "name\n  %-7s", "type");
    } else {
        out_column(out, str_of("name"), 40, false);
        out_format(out, " %-8s", "type");
    }
    out_format(out, " %*s %*s %*s %*s %*s", layout->min, "min", layout->max,
               "max", width, "mean", width, "std", width, "L2");
    out_format(out, layout->narrow ? " %7s %5s %5s\n" : " %10s %6s %6s\n",
               "zeros", "NaN", "Inf");
}

static void show_text(struct run *run, const struct mf_model *model,
                      const size_t *index, size_t count,
                      const struct histograms *measured)
{
    struct layout layout = layout_of(run, measured->found, count);
    struct mf_tensor tensor;

    stats_head(run, &layout);
    for (size_t i = 0; i < count; i++) {
        mf_tensor_at(model, index[i], &tensor);
        stats_text(run, &layout, &tensor, &measured->found[i]);
        histogram_show(measured, i);
    }
    if (options.histogram && count > 0)
        histograms_scale(run);
}

static void show_json(struct run *run, const struct mf_model *model,
                      const size_t *index, size_t count,
                      const struct histograms *measured)
{
    struct mf_tensor tensor;

    mf_json_key(&run->json, "tensors");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < count; i++) {
        mf_tensor_at(model, index[i], &tensor);
        mf_json_begin(&run->json, '{');
        stats_json(run, &tensor, &measured->found[i]);
        histogram_show(measured, i);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static size_t choose(const struct mf_model *model, const char *pattern,
                     const bool *fits, size_t *index)
{
    struct mf_tensor tensor;
    size_t count = 0;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (fits[i] && names_match(pattern, tensor.name))
            index[count++] = i;
    return count;
}

/* Whether what is missing was asked for. */
static bool needs_missing(const struct mf_model *model, const char *pattern)
{
    struct mf_missed missed;

    for (size_t i = 0; mf_missing_at(model, i, &missed); i++)
        if (names_match(pattern, missed.name))
            return true;
    return false;
}

/* What the measurement of a model works in, for each of its tensors. */
struct tables {
    bool *fits;
    size_t *index;
    struct histograms measured;
};

static enum mf_status measure(struct mf_model *model, const char *pattern,
                              struct tables *tables, size_t count)
{
    enum mf_status status =
        needs_missing(model, pattern) ? mf_missing_refuse(model) : MF_OK;

    return status == MF_OK ? histograms_measure(&tables->measured, model,
                                                tables->index, count)
                           : status;
}

static void show(struct run *run, struct mf_model *model, struct tables *tables)
{
    const char *pattern = run->operand_count > 1 ? run->operand[1] : NULL;
    size_t count;

    if (mf_tensor_stats_miss(model, tables->fits) != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    missing_show(run, run->operand[0], model);
    count = choose(model, pattern, tables->fits, tables->index);
    if (pattern && count == 0 && !needs_missing(model, pattern))
        names_unmatched(run, model, NAMED_TENSOR, pattern);
    else if (measure(model, pattern, tables, count) != MF_OK)
        report_failure(run, run->operand[0]);
    else
        (options.tsv ? show_tsv
         : run->options->json
             ? show_json
             : show_text)(run, model, tables->index, count, &tables->measured);
}

static void stats(struct run *run, struct mf_model *model)
{
    size_t most = mf_model_info(model)->tensor_count + 1;
    size_t places = options.histogram ? sizeof(struct histogram_place) : 0;
    size_t each =
        sizeof(struct mf_tensor_stats) + places + sizeof(size_t) + sizeof(bool);
    struct mf_tensor_stats *found =
        mf_env_resize(run->env, NULL, 0, most * each);
    struct tables tables = {
        .measured = { .run = run, .tsv = options.tsv, .found = found }
    };
    uint8_t *end = (uint8_t *)(found + most);

    if (!found) {
        report_failure(run, run->operand[0]);
        return;
    }
    if (options.histogram)
        tables.measured.place = (void *)end;
    tables.index = (void *)(end + most * places);
    tables.fits = (bool *)(tables.index + most);
    show(run, model, &tables);
    buffer_release(run, &tables.measured.text);
    mf_env_resize(run->env, found, most * each, 0);
}

static void show_errors(struct run *run, struct mf_model *model)
{
    errors_show(run, model, &options.errors);
}

/* False after report_usage where options do not fit together. */
static bool check_errors(struct run *run)
{
    if (options.tsv || options.histogram) {
        report_usage(run, "'--errors' and '%s' cannot both be given",
                     options.tsv ? "--tsv" : "--histogram");
        return false;
    }
    return errors_check(run, &options.errors);
}

static bool check_operands(struct run *run)
{
    return names_one_file(run, NAMED_TENSOR);
}

static void tensors_stats(struct run *run)
{
    if (options.errors.types) {
        run->imatrix = options.errors.imatrix;
        record_content(options.errors.imatrix);
        if (check_errors(run))
            inputs_one(run, false, show_errors);
        return;
    }
    if (options.errors.plot || options.errors.imatrix) {
        report_usage(run, "'%s' requires '--errors'",
                     options.errors.plot ? "--plot" : "--imatrix");
        return;
    }
    run->chooses_missing = true;
    if (!options.tsv || tsv_fits(run))
        inputs_one(run, false, stats);
}

static void writes(struct run *run)
{
    if (options.errors.plot && *options.errors.plot)
        sandbox_allow_file(&run->sandbox, output_path(options.errors.plot));
}

const struct command command_tensors_stats = {
    .name = "tensors",
    .sub = "stats",
    .operands = "FILE [PATTERN]",
    .operands_min = 1,
    .operands_max = 2,
    .summary = "show min, max, mean and more of each tensor",
    .about = "Reads and decodes the tensors whose names match PATTERN, "
             "and prints of each one minimum, maximum, mean, standard "
             "deviation, L2 norm, and how many numbers are zero, NaN or "
             "infinite.\n\n"
             "With --histogram, a line of blocks below each tensor shows how "
             "many numbers there are of each power of two: negative numbers "
             "on the left, the largest magnitude first, positive ones on the "
             "right. Heights are logarithmic. Below that is what deserves a "
             "look: numbers whose magnitude is at least six standard "
             "deviations, rounded up to a power of two, and rows that are "
             "zero, or constant but not zero. --tsv has all of it in further "
             "columns, counts of each sign separated by commas.\n\n"
             "With --errors, rows of each tensor that quantizing changes are "
             "encoded in each type, and compared: 4 % of the rows, and at "
             "least 32. The squared error is also given as a part of the "
             "numbers, the root of its share of their squares. With --imatrix "
             "each squared difference counts as much as the matrix has for its "
             "column. quantize --target-size chooses types by that. --plot "
             "draws it: a row for each block, a column for each kind of "
             "tensor, a panel for each type.\n\n"
             "Tensors without numbers, such as texts, and tensors whose "
             "data cannot be read are named on standard error; the exit "
             "code is then 3 unless --allow-missing is given.\n",
    .examples = "modelfile tensors stats model.gguf\n"
                "modelfile tensors stats model.gguf 'blk.0.*' --json\n"
                "modelfile tensors stats model.gguf --histogram\n"
                "modelfile tensors stats model.gguf --errors q4_k,q6_k\n"
                "modelfile tensors stats model.gguf --errors q4_k,q6_k --plot "
                "errors.svg\n"
                "modelfile tensors stats model.gguf --tsv | sort -k7g\n",
    .exit_no = "no tensor matches PATTERN",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = tensors_stats,
    .writes = writes,
    .check_operands = check_operands,
};
