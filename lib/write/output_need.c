/* SPDX-License-Identifier: MIT
 *
 * output_need.c - how much work a conversion is, and the memory that it needs
 */
#include "lib/write/convert.h"

static uint64_t work_of(const struct mf_model *model,
                        const struct mf_draft_tensor *tensor)
{
    if (tensor->made)
        return tensor->made->size;
    return tensor->size > 0 ? model->index.tensor[tensor->record].size : 0;
}

uint64_t mf_outputs_work(const struct mf_outputs *outputs)
{
    uint64_t work = 0;

    if (outputs->verbatim)
        return outputs->model->file[0].source.size;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t t = 0; t < draft->tensor_count; t++) {
            uint64_t more = work_of(outputs->model, &draft->tensor[t]);

            work = more > UINT64_MAX - work ? UINT64_MAX : work + more;
        }
    }
    return work;
}

enum mf_status mf_outputs_buffer_need(const struct mf_outputs *outputs,
                                      size_t *out)
{
    const struct mf_isa *isa = mf_isa_choose(outputs->env);

    *out = 0;
    if (!isa)
        return outputs->env->error.status;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;

        for (size_t t = 0; t < draft->tensor_count; t++) {
            const struct mf_draft_tensor *tensor = &draft->tensor[t];
            struct mf_recoding recoding;

            if (tensor->from == tensor->type)
                continue;
            if (!mf_recoding_init(outputs->env, isa, tensor,
                                  draft->format->fastest_first, &recoding))
                return outputs->env->error.status;
            if (mf_recoding_need(&recoding) > *out)
                *out = mf_recoding_need(&recoding);
        }
    }
    return MF_OK;
}
