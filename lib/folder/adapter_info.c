/* SPDX-License-Identifier: MIT
 *
 * adapter_info.c - what an adapter says about itself
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/folder/adapter.h"

/* A text that fits, or none. */
static void copy(struct mf_str text, char *out, size_t room)
{
    if (!text.at || text.size >= room || memchr(text.at, 0, text.size))
        return;
    memcpy(out, text.at, text.size);
    out[text.size] = 0;
}

static struct mf_str meta_text(const struct mf_model *model, const char *key)
{
    const struct mf_meta *meta = mf_index_meta(&model->index, key);

    return meta && meta->type == MF_VALUE_STRING ? meta->text
                                                 : (struct mf_str){ NULL, 0 };
}

static void describe(const struct mf_adapter *adapter,
                     struct mf_adapter_info *out)
{
    const struct mf_model *model = adapter->model;
    struct mf_str kind = adapter->gguf
                             ? meta_text(model, "adapter.type")
                             : mf_node_text(adapter->config, "peft_type");
    struct mf_str base =
        adapter->gguf
            ? meta_text(model, "general.base_model.0.repo_url")
            : mf_node_text(adapter->config, "base_model_name_or_path");

    if (adapter->gguf && !base.at)
        base = meta_text(model, "general.base_model.0.name");
    if (kind.at && mf_str_is(kind, "LORA")) /* as GGUF has it */
        kind = (struct mf_str){ "lora", strlen("lora") };
    copy(kind, out->kind, sizeof(out->kind));
    copy(base, out->base_model, sizeof(out->base_model));
    out->has_alpha = mf_adapter_alpha(adapter, &out->alpha) == MF_OK;
    if (!out->has_alpha)
        out->alpha = 0;
    mf_clear_error(model->env);
}

/* A pair's rank and scale. */
static void add_pair(const struct mf_adapter *adapter, size_t place,
                     struct mf_adapter_info *out)
{
    uint64_t rank, other;
    double scale;

    out->pairs++;
    if (!mf_adapter_rank(adapter, place, &rank, &other))
        return;
    if (out->rank_max == 0 || rank < out->rank_min)
        out->rank_min = rank;
    if (rank > out->rank_max)
        out->rank_max = rank;
    if (mf_adapter_scale(adapter, mf_adapter_at(adapter, place)->name, rank, 1,
                         &scale) != MF_OK) {
        mf_clear_error(adapter->model->env);
        return;
    }
    if (!out->has_scale || scale < out->scale_min)
        out->scale_min = scale;
    if (!out->has_scale || scale > out->scale_max)
        out->scale_max = scale;
    out->has_scale = true;
}

static void add_up(const struct mf_adapter *adapter,
                   struct mf_adapter_info *out)
{
    for (size_t i = 0; i < adapter->model->index.tensor_count; i++) {
        enum mf_adapter_part part = mf_adapter_at(adapter, i)->part;

        out->whole += part == MF_ADAPTER_WHOLE;
        if (part == MF_ADAPTER_A && mf_adapter_is_pair(adapter, i))
            add_pair(adapter, i++, out);
    }
}

enum mf_status mf_model_adapter_info(struct mf_model *model,
                                     struct mf_adapter_info *out)
{
    struct mf_adapter adapter;
    struct mf_arena arena;
    enum mf_status status;

    MF_NEED(NULL, model);
    MF_NEED(model->env, out);
    mf_clear_error(model->env);
    *out = (struct mf_adapter_info){ .found = mf_model_is_adapter(model) };
    if (!out->found)
        return MF_OK;
    mf_arena_init(&arena, model->env);
    status = mf_adapter_read(&adapter, model, &arena);
    if (status == MF_OK) {
        describe(&adapter, out);
        add_up(&adapter, out);
    }
    mf_arena_release(&arena);
    return status;
}
