/* SPDX-License-Identifier: MIT
 *
 * outline.c - a folder of Hugging Face as the GGUF file that is made of it
 *
 * What config.json means is known to the rows that convert a folder.  They make
 * the header of the file, in memory, and that is what is planned: a folder and
 * its file cannot differ.
 */
#include <string.h>

#include "lib/draft/carry.h"
#include "lib/draft/put.h"
#include "lib/hub/hub.h"
#include "lib/plan/plan.h"
#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

static enum mf_status put_bytes(void *user, uint64_t offset, const void *bytes,
                                size_t size)
{
    struct mf_plan_outline *outline = user;

    if (size <= outline->size && offset <= outline->size - size)
        memcpy(outline->bytes + offset, bytes, size);
    return MF_OK;
}

static enum mf_status write_header(const struct mf_draft *draft,
                                   struct mf_plan_outline *outline)
{
    struct mf_sink sink;
    enum mf_status status;

    outline->size = (size_t)draft->data_offset;
    outline->bytes = mf_alloc(draft->env, outline->size);
    if (!outline->bytes)
        return draft->env->error.status;
    memset(outline->bytes, 0, outline->size);
    mf_sink_init(&sink, draft->env);
    sink.write = put_bytes;
    sink.user = outline;
    status = draft->format->out->head(draft, &sink);
    return mf_sink_finish(&sink) == MF_OK ? status : sink.status;
}

/* What is quantized: a folder in its own type, or a GGUF file as it is. */
static enum mf_status list_model(struct mf_draft *draft, struct mf_model *model,
                                 const char *as)
{
    static const char *const split[] = { "split.no", "split.count",
                                         "split.tensors.count" };
    const struct mf_hub_options options = { .own_type = as != NULL };
    size_t left_out;

    if (mf_hub_applies(model, draft->format))
        return mf_hub_outline(draft, model, &options);
    if (model->format != draft->format)
        return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
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

static enum mf_status outline_of(struct mf_model *model,
                                 const struct mf_format *format, const char *as,
                                 struct mf_plan_outline *out)
{
    const struct mf_open_options alone = { .size = sizeof(alone),
                                           .shards = MF_SHARDS_ALONE };
    struct mf_draft draft;
    enum mf_status status;

    mf_draft_init(&draft, model->env, format);
    status = list_model(&draft, model, as);
    if (status == MF_OK && as)
        status = quantize_draft(&draft, model, as);
    if (status == MF_OK)
        status = mf_draft_plan(&draft);
    if (status == MF_OK)
        status = write_header(&draft, out);
    mf_draft_release(&draft);
    if (status == MF_OK)
        status =
            mf_model_open_memory(model->env, model->file[0].path, out->bytes,
                                 out->size, &alone, &out->model);
    return status;
}

enum mf_status mf_plan_outline_open(struct mf_model *model, const char *as,
                                    struct mf_plan_outline *out)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    enum mf_status status;

    *out = (struct mf_plan_outline){ .model = NULL };
    if (!as && !mf_hub_applies(model, format))
        return model->env->error.status;
    status = outline_of(model, format, as, out);
    if (status == MF_OK || status == MF_ERR_MEMORY || as)
        return status;
    /* A family that is not converted, or a file that is wrong: as much as its
     * config.json says is planned. */
    mf_plan_outline_close(model->env, out);
    mf_clear_error(model->env);
    return MF_OK;
}

void mf_plan_outline_close(struct mf_env *env, struct mf_plan_outline *outline)
{
    mf_model_close(outline->model);
    mf_release(env, outline->bytes, outline->size);
    *outline = (struct mf_plan_outline){ .model = NULL };
}
