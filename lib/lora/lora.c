/* SPDX-License-Identifier: MIT
 *
 * lora.c - opens an adapter
 */
#include "lib/lora/lora.h"

#include "lib/base/str.h"

static enum mf_status failed(const struct mf_lora *lora)
{
    return lora->env->error.status;
}

static enum mf_status check_kind(const struct mf_lora *lora)
{
    const struct mf_node *config = lora->adapter.config;
    double alpha;

    if (lora->adapter.gguf && !mf_model_is_lora(lora->model))
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this is not a LoRA adapter: 'general.type' is not "
                       "'adapter', or 'adapter.type' not 'lora'");
    if (!lora->adapter.gguf && (!config || config->kind != MF_NODE_OBJECT))
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this is not an adapter: its folder has no "
                       "'" MF_ADAPTER_CONFIG "'");
    return mf_adapter_alpha(&lora->adapter, &alpha);
}

static enum mf_status read_all(struct mf_lora *lora)
{
    size_t damage = lora->model->index.damage_count;

    if (mf_missing_refuse(lora->model) != MF_OK)
        return failed(lora);
    if (damage > 0)
        return mf_decline(lora->env, MF_REASON_INPUT_INVALID, MF_NO_OFFSET,
                          "the adapter has %zu error%s", damage,
                          damage == 1 ? "" : "s");
    if (mf_adapter_read(&lora->adapter, lora->model, &lora->arena) != MF_OK)
        return failed(lora);
    return check_kind(lora);
}

enum mf_status mf_lora_read(struct mf_lora *lora, struct mf_model *model)
{
    *lora = (struct mf_lora){ .env = model->env, .model = model, .factor = 1 };
    mf_arena_init(&lora->arena, lora->env);
    return read_all(lora);
}

enum mf_status mf_lora_open(struct mf_lora *lora, struct mf_env *env,
                            const char *path)
{
    *lora = (struct mf_lora){ .env = env, .factor = 1 };
    mf_arena_init(&lora->arena, env);
    if (mf_model_open(env, path, NULL, &lora->model) != MF_OK)
        return failed(lora);
    lora->owned = true;
    return read_all(lora);
}

void mf_lora_close(struct mf_lora *lora)
{
    if (!lora->env)
        return;
    if (lora->owned)
        mf_model_close(lora->model);
    mf_arena_release(&lora->arena);
    *lora = (struct mf_lora){ .env = NULL };
}

enum mf_status mf_lora_set_file(const struct mf_lora *lora,
                                enum mf_status status)
{
    if (status != MF_OK && status != MF_ERR_MEMORY && lora->env)
        lora->env->error.file = MF_ERROR_IN_ADAPTER;
    return status;
}
