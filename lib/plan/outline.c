/* SPDX-License-Identifier: MIT
 *
 * outline.c - a folder of Hugging Face as the GGUF file that is made of it
 *
 * What config.json means is known to the rows that convert a folder.  They make
 * the header of the file, in memory, and that is what is planned: a folder and
 * its file cannot differ.
 */
#include <string.h>

#include "lib/hub/hub.h"
#include "lib/plan/plan.h"

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

static enum mf_status outline_of(struct mf_model *model,
                                 const struct mf_format *format,
                                 struct mf_plan_outline *out)
{
    const struct mf_hub_options options = { .type = MF_TYPE_UNKNOWN };
    struct mf_draft draft;
    enum mf_status status;

    mf_draft_init(&draft, model->env, format);
    status = mf_hub_outline(&draft, model, &options);
    if (status == MF_OK)
        status = mf_draft_plan(&draft);
    if (status == MF_OK)
        status = write_header(&draft, out);
    mf_draft_release(&draft);
    if (status == MF_OK)
        status = mf_model_open_memory(model->env, model->file[0].path,
                                      out->bytes, out->size, NULL, &out->model);
    return status;
}

enum mf_status mf_plan_outline_open(struct mf_model *model,
                                    struct mf_plan_outline *out)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    enum mf_status status;

    *out = (struct mf_plan_outline){ .model = NULL };
    if (!mf_hub_applies(model, format))
        return model->env->error.status;
    status = outline_of(model, format, out);
    if (status == MF_OK || status == MF_ERR_MEMORY)
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
