/* SPDX-License-Identifier: MIT
 *
 * verdicts.c - which tensors of a quantized model follow from the other one
 */
#include "lib/report/compare.h"

#include <string.h>

#include "lib/model/model.h"
#include "lib/model/types.h"

/* ---- which of the two ---- */

static bool is_source(const struct mf_model *model)
{
    const struct mf_index *index = &model->index;

    for (size_t i = 0; i < index->tensor_count; i++) {
        enum mf_type type = (enum mf_type)index->tensor[i].type;

        if (type == MF_TYPE_UNKNOWN || mf_type_is_quantized(type))
            return false;
    }
    return index->tensor_count > 0;
}

static bool is_quantized(const struct mf_model *model)
{
    const struct mf_index *index = &model->index;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (mf_type_is_quantized((enum mf_type)index->tensor[i].type))
            return true;
    return false;
}

/* ---- a tensor ---- */

static void tensor_put(void *user, const struct mf_verified_tensor *tensor)
{
    struct mf_json_out *json = user;

    mf_json_begin(json, '{');
    if (tensor->model != SIZE_MAX)
        mf_put_number(json, "tensor", tensor->model);
    mf_put_text(json, "name", tensor->name);
    mf_put_string(json, "verdict", mf_verdict_name(tensor->verdict));
    if (tensor->weighted)
        mf_put_bool(json, "weighted", true);
    if (tensor->version)
        mf_put_string(json, "version", tensor->version);
    if (tensor->reason)
        mf_put_string(json, "reason", tensor->reason);
    if (tensor->model != SIZE_MAX)
        mf_put_number(json, "blocks", tensor->blocks);
    if (tensor->verdict == MF_VERDICT_DIFFERS) {
        mf_put_number(json, "differ", tensor->differ);
        mf_put_number(json, "block", tensor->block);
        mf_put_number(json, "offset", tensor->offset);
    }
    if (tensor->errors)
        mf_report_errors(json, "errors", tensor->errors);
    mf_json_end(json, '}');
}

/* ---- all of them ---- */

static void counts_put(struct mf_json_out *json,
                       const struct mf_verify_result *result)
{
    mf_put_bool(json, "follows", result->follows);
    mf_json_key(json, "counts");
    mf_json_begin(json, '{');
    for (unsigned i = 0; i < MF_VERDICT_COUNT; i++)
        mf_put_number(json, mf_verdict_name((enum mf_verdict)i),
                      result->tensors[i]);
    mf_json_end(json, '}');
}

static enum mf_status verify(struct mf_model *model, struct mf_model *source,
                             const char *imatrix,
                             const struct mf_report_both *both,
                             struct mf_json_out *json)
{
    const struct mf_verify_options options = { .size = sizeof(options),
                                               .imatrix = imatrix,
                                               .tensor = tensor_put,
                                               .user = json };
    struct mf_verify_result result;
    enum mf_status status;

    mf_json_key(json, "tensors");
    mf_json_begin(json, '[');
    status = mf_verify(model, source, &options, &result);
    mf_json_end(json, ']');
    if (status == MF_OK)
        counts_put(json, &result);
    if (status == MF_OK || !mf_report_can_go_on_after(&model->env->error))
        return status;
    mf_report_reason(json, "reason", model->env->error.message, both);
    mf_clear_error(model->env);
    return MF_OK;
}

enum mf_status mf_report_verify(struct mf_model *const *models, size_t a,
                                size_t b,
                                const struct mf_report_options *options,
                                struct mf_json_out *json)
{
    size_t source = is_source(models[a]) ? a : b, model = source == a ? b : a;
    const struct mf_report_both both = { models[a], models[b],
                                         options && options->paths };
    enum mf_status status;

    if (!is_source(models[source]) || !is_quantized(models[model]))
        return MF_OK;
    mf_json_key(json, "verify");
    mf_json_begin(json, '{');
    mf_put_number(json, "model", model);
    mf_put_number(json, "source", source);
    status = verify(models[model], models[source],
                    options ? options->imatrix : NULL, &both, json);
    mf_json_end(json, '}');
    return status;
}
