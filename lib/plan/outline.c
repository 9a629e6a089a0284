/* SPDX-License-Identifier: MIT
 *
 * outline.c - the GGUF file whose memory is planned, where it is not there
 *
 * A folder of Hugging Face is planned as the file that is made of it, any model
 * as the file that it would be quantized to.  A model of another format has its
 * numbers in metadata of its own, as GGUF's keys or under names that its format
 * has for them.
 */
#include <string.h>

#include "lib/draft/carry.h"
#include "lib/draft/put.h"
#include "lib/hf/hf.h"
#include "lib/plan/plan.h"
#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

/* ---- as it would be quantized ---- */

/* What is quantized: a folder in its own type, or a GGUF file as it is. */
static enum mf_status list_model(struct mf_draft *draft, struct mf_model *model)
{
    static const char *const split[] = { "split.no", "split.count",
                                         "split.tensors.count" };
    const struct mf_hf_options options = { .own_type = true };
    size_t left_out;

    if (mf_hf_applies(model, draft->format))
        return mf_hf_outline(draft, model, &options);
    if (model->format != draft->format)
        return mf_decline(model->env, MF_REASON_FAMILY_UNKNOWN, MF_NO_OFFSET,
                          "neither a GGUF file nor a Hugging Face folder that "
                          "becomes one");
    draft->version = model->info.version;
    draft->any_type = true;
    if (mf_carry_metadata(draft, model, &left_out) != MF_OK ||
        mf_draft_list_tensors(draft, model, NULL, 0,
                              model->index.tensor_count) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < sizeof(split) / sizeof(*split); i++)
        mf_set_remove(draft, split[i]);
    return MF_OK;
}

static enum mf_status quantize_draft(struct mf_draft *draft,
                                     struct mf_model *model, const char *as)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .type = as,
                                                 .allow_requantize = true };
    struct mf_mix_result result;

    for (size_t i = 0; i < draft->tensor_count; i++)
        while (draft->tensor[i].rank > 1 &&
               draft->tensor[i].dim[draft->tensor[i].rank - 1] == 1)
            draft->tensor[i].rank--;
    if (mf_mix_apply(&draft, 1, model, &options, NULL, true, &result) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++) {
        struct mf_draft_tensor *tensor = &draft->tensor[i];

        if (tensor->type != MF_TYPE_UNKNOWN)
            tensor->type_id =
                draft->format->type_id((enum mf_type)tensor->type);
    }
    return MF_OK;
}

static enum mf_status open_as(struct mf_model *model, const char *as,
                              struct mf_model **out)
{
    struct mf_draft draft;
    enum mf_status status;

    mf_draft_init(&draft, model->env, mf_format_with_values(MF_VALUES_TYPED));
    status = list_model(&draft, model);
    if (status == MF_OK)
        status = quantize_draft(&draft, model, as);
    if (status == MF_OK)
        status = mf_draft_as_model(&draft, model->file[0].path, out);
    mf_draft_release(&draft);
    return status;
}

/* Quantized, it is read again as the file that it would be. */
static enum mf_status open_bare(struct mf_model *model, const char *as,
                                struct mf_plan_outline *out)
{
    struct mf_model *floats = NULL;
    enum mf_status status;

    if (!as)
        return mf_hf_outline_bare(model, &out->model, &out->unsure);
    status = mf_hf_outline_bare(model, &floats, &out->unsure);
    if (status == MF_OK)
        status = open_as(floats, as, &out->model);
    mf_model_close(floats);
    return status;
}

/* ---- metadata of other formats ---- */

/* The vocabulary may be large, and its size is a fact of the format. */
static void drop_vocabulary(struct mf_draft *draft)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->entry_count; i++)
        if (!mf_str_begins(draft->entry[i].key, "tokenizer."))
            draft->entry[kept++] = draft->entry[i];
    draft->entry_count = kept;
}

static enum mf_status open_keys(struct mf_model *model, struct mf_model **out)
{
    struct mf_draft draft;
    enum mf_status status = mf_carry_as_gguf(&draft, model);

    drop_vocabulary(&draft);
    if (status == MF_OK)
        status = mf_draft_as_model(&draft, model->file[0].path, out);
    mf_draft_release(&draft);
    return status;
}

/* ---- all of it ---- */

enum mf_status mf_plan_outline_open(struct mf_model *model, const char *as,
                                    struct mf_plan_outline *out)
{
    enum mf_status status;

    *out = (struct mf_plan_outline){ .model = NULL };
    if (model->bare)
        return open_bare(model, as, out);
    if (as) {
        status = open_as(model, as, &out->model);
        /* Last: that a model has no GGUF form at all is the better answer. */
        return status == MF_OK ? mf_quantize_refuse(model) : status;
    }
    status = mf_model_outline(model, MF_OUTLINE_HEADER, &out->model);
    if (status == MF_OK && !out->model &&
        model->format->naming != MF_NAMING_GGUF)
        status = open_keys(model, &out->keys);
    return status;
}

void mf_plan_outline_close(struct mf_plan_outline *outline)
{
    mf_model_close(outline->model);
    mf_model_close(outline->keys);
    *outline = (struct mf_plan_outline){ .model = NULL };
}
