/* SPDX-License-Identifier: MIT
 *
 * adapter.c - an adapter of PEFT as a GGUF file
 *
 * Its tensors take the way of the model's, by the recipe of the model's
 * config.json; its keys are few, and say nothing about the model.
 */
#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/card/card.h"
#include "lib/hf/hub/hub.h"
#include "lib/hf/hub/tensors.h"

#define TOKENS "alora_invocation_tokens"

static enum mf_status put_tokens(struct mf_draft *draft,
                                 const struct mf_lora *lora)
{
    const struct mf_node *list = mf_node_at(lora->adapter.config, TOKENS);
    const struct mf_node *text =
        mf_node_at(lora->adapter.config, "invocation_string");
    union mf_number *elements;
    size_t count = 0;

    if (!list || list->count == 0)
        return text && text->kind == MF_NODE_STRING && text->text.size > 0
                   ? mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "'adapter_config.json': 'invocation_string' "
                             "without '" TOKENS "'")
                   : MF_OK;
    elements =
        mf_arena_take(&draft->arena, (size_t)list->count * sizeof(*elements));
    if (!elements)
        return draft->env->error.status;
    for (const struct mf_node *node = list->first; node; node = node->next)
        if (list->kind != MF_NODE_ARRAY || node->kind != MF_NODE_NUMBER ||
            !mf_number_as(node->type, node->number, MF_VALUE_U32,
                          &elements[count++]))
            return mf_fail(draft->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "'adapter_config.json': '" TOKENS
                           "' is not a list of token ids");
    return mf_set_array(draft, "adapter.alora.invocation_tokens", MF_VALUE_U32,
                        elements, count);
}

static enum mf_status put_keys(struct mf_draft *draft, struct mf_lora *lora,
                               const struct mf_hub_tensors *tensors,
                               const struct mf_hf_options *options)
{
    const struct mf_card_request card = {
        .model = lora->model,
        .model_name = options->model_name,
        .metadata = options->metadata,
        .counts = { .total = -(int64_t)tensors->total,
                    .shared = (int64_t)tensors->shared,
                    .expert = (int64_t)tensors->expert,
                    .expert_count = (int64_t)tensors->expert_count },
    };
    struct mf_card_names names;
    double alpha = 0;

    if (mf_adapter_alpha(&lora->adapter, &alpha) != MF_OK ||
        mf_set_text(draft, "general.type", (struct mf_str){ "adapter", 7 }) !=
            MF_OK ||
        mf_set_text(draft, "adapter.type", (struct mf_str){ "lora", 4 }) !=
            MF_OK ||
        mf_card_put(draft, &card, options->name ? &names : NULL) != MF_OK ||
        mf_set_f32(draft, "adapter.lora.alpha", alpha) != MF_OK ||
        put_tokens(draft, lora) != MF_OK)
        return draft->env->error.status;
    if (options->name) {
        options->name->prefix = "";
        options->name->type = mf_hub_tensors_type_name(tensors);
        if (options->name->type)
            options->name->stem =
                mf_name_file(&draft->arena, names.name, &names.parts,
                             options->name->type, "LoRA");
        return draft->env->error.status;
    }
    return mf_set_u32(draft, "general.quantization_version", 2);
}

enum mf_status mf_hf_convert_adapter(struct mf_draft *draft,
                                     struct mf_lora *lora,
                                     struct mf_model *base,
                                     const struct mf_hf_options *options)
{
    struct mf_hub hub = {
        .env = lora->env, .draft = draft, .model = base, .options = options
    };
    struct mf_hub_tensors tensors = { .recipe = &hub.recipe,
                                      .draft = draft,
                                      .type = options->type,
                                      .typed = options->typed,
                                      .adapter = lora };

    if (mf_hub_open(&hub) != MF_OK ||
        mf_set_text(draft, "general.architecture", hub.arch) != MF_OK)
        return draft->env->error.status;
    tensors.arch = hub.arch;
    mf_recipe_give(
        &hub.recipe, "block_count",
        mf_recipe_field(&hub.recipe, (struct mf_str){ "block_count", 11 }));
    return mf_hub_tensors(&tensors) == MF_OK
               ? put_keys(draft, lora, &tensors, options)
               : draft->env->error.status;
}
