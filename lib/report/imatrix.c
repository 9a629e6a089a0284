/* SPDX-License-Identifier: MIT
 *
 * imatrix.c - what an importance matrix has of a model: the member "imatrix"
 */
#include "lib/model/model.h"
#include "lib/report/put.h"

static void entry_put(void *user, const struct mf_imatrix_tensor *tensor)
{
    struct mf_json_out *json = user;

    mf_json_begin(json, '{');
    if (tensor->tensor != SIZE_MAX)
        mf_put_number(json, "tensor", tensor->tensor);
    mf_put_text(json, "name", tensor->name);
    mf_put_string(json, "cover", mf_cover_name(tensor->cover));
    if (tensor->cover != MF_COVER_NO_TENSOR) {
        mf_put_number(json, "columns", tensor->columns);
        mf_put_number(json, "experts", tensor->experts);
        mf_put_number(json, "used", tensor->used);
    }
    if (tensor->uses) {
        mf_json_key(json, "least");
        mf_json_f32(json, tensor->least);
        mf_json_key(json, "most");
        mf_json_f32(json, tensor->most);
    }
    mf_json_end(json, '}');
}

static void sum_put(struct mf_json_out *json,
                    const struct mf_imatrix_coverage *sum)
{
    mf_put_number(json, "tensors", sum->tensors);
    mf_json_key(json, "of");
    mf_json_begin(json, '{');
    for (unsigned i = 0; i < MF_COVER_COUNT; i++)
        if (sum->of[i] > 0)
            mf_put_number(json, mf_cover_name((enum mf_imatrix_cover)i),
                          sum->of[i]);
    mf_json_end(json, '}');
    mf_put_number(json, "experts", sum->experts);
    mf_put_number(json, "experts_used", sum->experts_used);
    if (sum->chunks > 0)
        mf_put_number(json, "chunks", sum->chunks);
}

enum mf_status mf_report_imatrix(struct mf_model *model,
                                 const struct mf_report_options *options,
                                 struct mf_json_out *json)
{
    struct mf_imatrix_coverage sum = { 0 };
    enum mf_status status;

    if (!options || !options->imatrix || !mf_report_has_weights(model))
        return MF_OK;
    mf_json_key(json, "imatrix");
    mf_json_begin(json, '{');
    mf_json_key(json, "entries");
    mf_json_begin(json, '[');
    status = mf_model_imatrix_coverage(model, options->imatrix, entry_put, json,
                                       &sum);
    mf_json_end(json, ']');
    if (status == MF_OK)
        sum_put(json, &sum);
    mf_json_end(json, '}');
    return status;
}
