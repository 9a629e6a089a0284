/* SPDX-License-Identifier: MIT
 *
 * errors.c - --errors of modelfile tensors stats: each tensor in some types
 *
 * What modelfile quantize --target-size chooses by, without factors: bytes, and
 * the sum of squared errors; and what part of the numbers the error is.
 */
#include <math.h>
#include <string.h>

#include "cli/commands/tensors/tensors.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/types.h"

/* ---- the option ---- */

bool errors_check(struct run *run, const struct errors_options *options)
{
    if (!types_check_errors(run, options->types))
        return false;
    if (options->imatrix && !*options->imatrix) {
        report_usage(run, "'--imatrix' requires the name of a file");
        return false;
    }
    if (options->plot && !*options->plot) {
        report_usage(run, "'--plot' needs the name of a file");
        return false;
    }
    return !options->plot || (output_fits(run, options->plot) &&
                              output_is_free(run, options->plot));
}

/* ---- a tensor ---- */

static double standard_error(const struct mf_type_error *type)
{
    return sqrt(type->variance);
}

static void show_text(struct run *run, const struct mf_type_errors *errors,
                      const struct mf_tensor_errors *tensor)
{
    struct out *out = &run->out;

    out_escaped(out, tensor->name, "");
    out_format(out, ": %s, %s of %s rows\n", tensor->from,
               number_text(tensor->measured).at, number_text(tensor->rows).at);
    for (size_t t = 0; t < errors->types; t++) {
        const struct mf_type_error *type = &tensor->type[t];

        if (!(type->error < (double)INFINITY))
            continue;
        out_format(out, "  %-8s %17s %9.3g %% %12.6g", errors->type_name[t],
                   number_text(tensor->bytes[t]).at,
                   100 * mf_relative_error(tensor, t), type->error);
        if (type->variance > 0)
            out_format(out, " (standard error %.2g)", standard_error(type));
        out_text(out, "\n");
    }
}

static void show_json(struct run *run, const struct mf_type_errors *errors,
                      const struct mf_tensor_errors *tensor)
{
    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    json_text(run, "type", tensor->from);
    json_number(run, "elements", tensor->elements);
    json_number(run, "rows", tensor->rows);
    json_number(run, "measured_rows", tensor->measured);
    mf_json_key(&run->json, "errors");
    mf_json_begin(&run->json, '{');
    for (size_t t = 0; t < errors->types; t++) {
        const struct mf_type_error *type = &tensor->type[t];

        if (!(type->error < (double)INFINITY))
            continue;
        mf_json_key(&run->json, errors->type_name[t]);
        mf_json_begin(&run->json, '{');
        json_number(run, "bytes", tensor->bytes[t]);
        json_double(run, "error", type->error);
        json_double(run, "relative_error", mf_relative_error(tensor, t));
        json_double(run, "standard_error", standard_error(type));
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, '}');
    mf_json_end(&run->json, '}');
}

/* ---- the model ---- */

/* silent: only counts them. */
static size_t show_all(struct run *run, const struct mf_type_errors *errors,
                       const char *pattern, bool silent)
{
    size_t shown = 0;

    for (size_t i = 0; i < errors->count; i++) {
        if (!names_match(pattern, errors->tensor[i].name))
            continue;
        shown++;
        if (!silent)
            (run->options->json ? show_json : show_text)(run, errors,
                                                         &errors->tensor[i]);
    }
    return shown;
}

static void show(struct run *run, struct mf_model *model,
                 const struct mf_type_errors *errors,
                 const struct errors_options *options)
{
    const char *pattern = run->operand_count > 1 ? run->operand[1] : NULL;
    bool picture_only = options->plot && output_is_stdout(options->plot);
    size_t shown;

    if (run->options->json) {
        mf_json_key(&run->json, "tensors");
        mf_json_begin(&run->json, '[');
    }
    shown = show_all(run, errors, pattern, picture_only);
    if (run->options->json)
        mf_json_end(&run->json, ']');
    if (pattern && shown == 0)
        names_unmatched(run, model, NAMED_TENSOR, pattern);
    else if (options->plot &&
             errors_plot(run, model, errors, pattern, options->plot) &&
             run->options->json)
        json_str(run, "plot", str_of(options->plot));
}

void errors_show(struct run *run, struct mf_model *model,
                 const struct errors_options *given)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .allow_requantize = true,
                                                 .imatrix = given->imatrix };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .format = "gguf",
                                            .lossy = true };
    const struct mf_type_errors_options what = {
        .types = strcmp(given->types, "all") == 0 ? NULL : given->types
    };
    struct mf_type_errors *errors;

    if (mf_type_errors_new(model, "model.gguf", &options, &how, &what,
                           &errors) != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    show(run, model, errors, given);
    mf_type_errors_free(errors);
}
