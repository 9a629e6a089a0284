/* SPDX-License-Identifier: MIT
 *
 * output_lora.c - an adapter that is added to the model that is written
 */
#include <math.h>

#include "lib/write/convert.h"

enum mf_status mf_outputs_open_lora(struct mf_outputs *outputs,
                                    const struct mf_convert_options *options)
{
    struct mf_lora *lora = &outputs->lora;

    if (!options->lora)
        return MF_OK;
    if (!isfinite(options->lora_scale))
        return mf_fail(outputs->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the scale of an adapter is not finite");
    if (mf_lora_open(lora, outputs->env, options->lora) != MF_OK)
        return mf_lora_set_file(lora, outputs->env->error.status);
    lora->factor = options->lora_scale != 0 ? options->lora_scale : 1;
    return mf_lora_set_file(lora, mf_lora_check(lora));
}

enum mf_status mf_outputs_apply_lora(struct mf_outputs *outputs,
                                     struct mf_draft *draft)
{
    return outputs->lora.model
               ? mf_lora_apply(&outputs->lora, draft, outputs->model)
               : MF_OK;
}

enum mf_status mf_outputs_check_lora(const struct mf_outputs *outputs)
{
    return outputs->lora.model ? mf_lora_check_used(&outputs->lora) : MF_OK;
}
