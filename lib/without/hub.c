/* SPDX-License-Identifier: MIT
 *
 * hub.c - a library that converts no folders of Hugging Face
 */
#include "lib/folder/sidecar.h"
#include "lib/hf/hf.h"
#include "lib/model/nearby.h"
#include "lib/without/without.h"

static enum mf_status refuse(struct mf_env *env)
{
    return mf_without(env, "hub", "convert folders of Hugging Face");
}

/* ---- for lib/write and lib/verify ---- */

enum mf_status mf_hf_convert(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options)
{
    (void)draft;
    (void)options;
    return refuse(model->env);
}

enum mf_status mf_hf_convert_adapter(struct mf_draft *draft,
                                     struct mf_lora *lora,
                                     struct mf_model *base,
                                     const struct mf_hf_options *options)
{
    (void)draft;
    (void)lora;
    (void)options;
    return refuse(base->env);
}

/* Only config.json says whether tensors that become floats belong to a
 * compressed checkpoint, and only lib/hf/hub reads it. */
static enum mf_status check_decoded(struct mf_model *model)
{
    struct mf_arena arena;
    bool found = false;

    mf_arena_init(&arena, model->env);
    if (model->format->naming == MF_NAMING_HF && mf_nearby_any(model))
        found = mf_sidecar_exists(model, &arena, "config.json");
    mf_arena_release(&arena);
    if (found)
        return mf_without(model->env, "hub",
                          "decode the tensors of a folder of Hugging Face");
    return model->env->error.status;
}

enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, enum mf_naming to,
                                struct mf_renaming_options how)
{
    bool gguf = mf_is_named_for_gguf(&model->index);

    *renaming = (struct mf_renaming){ .to = MF_NAMING_KEEP };
    if (to != MF_NAMING_KEEP && gguf != (to == MF_NAMING_GGUF))
        return mf_without(model->env, "hub", "change the names of tensors");
    return how.decode ? check_decoded(model) : MF_OK;
}

/* ---- for lib/plan ---- */

enum mf_status mf_hf_outline(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options)
{
    (void)draft;
    (void)options;
    return refuse(model->env);
}

enum mf_status mf_hf_outline_bare(struct mf_model *model, struct mf_model **out,
                                  bool *unsure)
{
    (void)out;
    *unsure = false;
    return refuse(model->env);
}
