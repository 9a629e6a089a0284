/* SPDX-License-Identifier: MIT
 *
 * type_errors.c - the error of each tensor in some types: the member
 * "type_errors"
 *
 * Tensors have the names that a quantized GGUF file would have, which for other
 * formats may not be the model's.  Tensors that have no error are listed as
 * well, so that a page can show what was not measured.
 */
#include <math.h>
#include <string.h>

#include "lib/model/model.h"
#include "lib/report/compare.h"
#include "lib/report/put.h"

static void put_double(struct mf_json_out *json, const char *key, double number)
{
    mf_json_key(json, key);
    mf_json_f64(json, number);
}

static void name_put(struct mf_json_out *json, const struct mf_model *model,
                     struct mf_str name)
{
    struct mf_tensor tensor;
    size_t at;

    if (mf_tensor_find(model, name.at, name.size, &tensor, &at))
        mf_put_number(json, "tensor", at);
    mf_put_text(json, "name", name);
}

/* A type that the tensor cannot have is left out. */
static void types_put(struct mf_json_out *json,
                      const struct mf_type_errors *errors,
                      const struct mf_tensor_errors *tensor)
{
    for (size_t i = 0; i < errors->types; i++) {
        const struct mf_type_error *type = &tensor->type[i];

        if (!(type->error < (double)INFINITY))
            continue;
        mf_json_key(json, errors->type_name[i]);
        mf_json_begin(json, '{');
        mf_put_number(json, "bytes", tensor->bytes[i]);
        put_double(json, "error", type->error);
        put_double(json, "relative_error", mf_relative_error(tensor, i));
        put_double(json, "standard_error", sqrt(type->variance));
        mf_json_end(json, '}');
    }
}

static void tensor_put(struct mf_json_out *json, const struct mf_model *model,
                       const struct mf_type_errors *errors,
                       const struct mf_tensor_errors *tensor)
{
    mf_json_begin(json, '{');
    name_put(json, model, tensor->name);
    mf_put_string(json, "type", tensor->from);
    mf_put_number(json, "elements", tensor->elements);
    mf_put_number(json, "rows", tensor->rows);
    mf_put_number(json, "measured_rows", tensor->measured);
    if (tensor->weighted)
        mf_put_bool(json, "weighted", true);
    mf_json_key(json, "errors");
    mf_json_begin(json, '{');
    types_put(json, errors, tensor);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

static void all_put(struct mf_json_out *json, const struct mf_model *model,
                    const struct mf_type_errors *errors)
{
    mf_json_key(json, "types");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < errors->types; i++)
        mf_json_string(json, errors->type_name[i],
                       strlen(errors->type_name[i]));
    mf_json_end(json, ']');
    mf_json_key(json, "tensors");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < errors->count; i++)
        tensor_put(json, model, errors, &errors->tensor[i]);
    mf_json_end(json, ']');
    mf_json_key(json, "others");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < errors->others; i++) {
        mf_json_begin(json, '{');
        name_put(json, model, errors->other[i]);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static enum mf_status measure(struct mf_model *model,
                              const struct mf_report_options *options,
                              struct mf_type_errors **out)
{
    const struct mf_quantize_options quantize = { .size = sizeof(quantize),
                                                  .allow_requantize = true,
                                                  .imatrix = options->imatrix };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .format = "gguf",
                                            .lossy = true };
    const struct mf_type_errors_options what = {
        .types = strcmp(options->errors, "all") == 0 ? NULL : options->errors
    };

    return mf_type_errors_new(model, "model.gguf", &quantize, &how, &what, out);
}

enum mf_status mf_report_type_errors(struct mf_model *model,
                                     const struct mf_report_options *options,
                                     struct mf_json_out *json)
{
    const struct mf_report_both one = { model, NULL,
                                        options && options->paths };
    struct mf_type_errors *errors = NULL;
    enum mf_status status;

    if (!options || !options->errors || !mf_report_has_weights(model))
        return MF_OK;
    status = measure(model, options, &errors);
    if (status != MF_OK && !mf_report_can_go_on_after(&model->env->error))
        return status;
    mf_json_key(json, "type_errors");
    mf_json_begin(json, '{');
    if (status == MF_OK)
        all_put(json, model, errors);
    else
        mf_report_reason(json, "reason", model->env->error.message, &one);
    mf_json_end(json, '}');
    mf_type_errors_free(errors);
    mf_clear_error(model->env);
    return MF_OK;
}
