/* SPDX-License-Identifier: MIT
 *
 * applies.c - which models a recipe is for
 *
 * Apart from the recipes: a library without them has this file, and refuses.
 */
#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hub/hub.h"
#include "lib/model/nearby.h"
#include "lib/program.h"

/* A key with its type, as GGUF's are in files of other formats, counts too.
 * APR's own may be empty. */
bool mf_model_names_architecture(const struct mf_model *model)
{
    bool json = model->format->values == MF_VALUES_JSON;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (mf_str_begins(meta.key, "general.architecture") ||
            (json && meta.type == MF_VALUE_STRING && meta.count > 0 &&
             (mf_str_is(meta.key, "architecture") ||
              mf_str_is(meta.key, "model_type"))))
            return true;
    return false;
}

bool mf_hub_applies_mistral(const struct mf_model *model,
                            const struct mf_format *format)
{
    return format->values == MF_VALUES_TYPED &&
           (model->format->naming == MF_NAMING_HF ||
            model->format->values == MF_VALUES_JSON) &&
           mf_nearby_any(model) && !mf_model_names_architecture(model);
}

bool mf_hub_applies(const struct mf_model *model,
                    const struct mf_format *format)
{
    struct mf_arena arena;
    bool found;

    if (!mf_hub_applies_mistral(model, format))
        return false;
    mf_arena_init(&arena, model->env);
    found = mf_sidecar_exists(model, &arena, "config.json");
    mf_arena_release(&arena);
    return found;
}
