/* SPDX-License-Identifier: MIT
 *
 * output_adapter.c - an adapter of PEFT as a GGUF file
 *
 * Of the model that it was made for, config.json is enough.  Where tensors are
 * there, their names and shapes count as well: of some families they say how
 * many layers there are.
 */
#include <stdio.h>

#include "lib/folder/sidecar.h"
#include "lib/hf/hf.h"
#include "lib/model/steady.h"
#include "lib/write/convert.h"

/* The folder of the model that the adapter was made for. */
static const char *base_of(const struct mf_outputs *outputs,
                           const struct mf_convert_options *options)
{
    struct mf_str name =
        mf_node_text(outputs->lora.adapter.config, "base_model_name_or_path");

    if (options->base)
        return options->base;
    return name.at && name.size > 0 && strlen(name.at) == name.size ? name.at
                                                                    : NULL;
}

/* What stands for that model: a folder, without tensors. */
struct stand_in {
    struct mf_model model;
    struct mf_file file;
};

static enum mf_status open_base(struct mf_outputs *outputs,
                                const struct mf_convert_options *options,
                                struct stand_in *out)
{
    const char *folder = base_of(outputs, options);
    size_t room = folder ? strlen(folder) + sizeof("/config.json") : 0;
    char *path = folder ? mf_arena_text(&outputs->arena, room) : NULL;

    *out = (struct stand_in){ .model = { .env = outputs->env } };
    if (!folder)
        return mf_fail(outputs->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "'adapter_config.json' does not name the model that the "
                       "adapter was made for: give its folder");
    if (!path)
        return outputs->env->error.status;
    snprintf(path, room, "%s/config.json", folder);
    if (mf_sidecar_source(outputs->env, path, &out->file.source) != MF_OK) {
        if (outputs->env->error.status == MF_ERR_LIMIT)
            return mf_sidecar_fail(outputs->env, path);
        mf_clear_error(outputs->env);
        return mf_fail(outputs->env, MF_ERR_IO, MF_NO_OFFSET,
                       "cannot open '%s': the adapter needs the config.json of "
                       "the model that it was made for, in a local folder",
                       mf_quote((struct mf_str){ path, strlen(path) }).text);
    }
    outputs->base = path;
    out->file.path = path;
    out->model.format = outputs->model->format;
    out->model.file = &out->file;
    out->model.file_count = 1;
    return MF_OK;
}

/* The model in that folder, or what stands for it; NULL after mf_fail. */
static struct mf_model *model_of(struct mf_outputs *outputs,
                                 const struct mf_convert_options *options,
                                 struct stand_in *stand_in)
{
    enum mf_status status = mf_model_open(
        outputs->env, base_of(outputs, options), NULL, &outputs->of_base);

    if (status == MF_OK)
        return outputs->of_base;
    if (status == MF_ERR_MEMORY)
        return NULL;
    mf_clear_error(outputs->env);
    return &stand_in->model;
}

static enum mf_status set_type(struct mf_env *env, const char *name,
                               struct mf_hf_options *out)
{
    out->type = name ? mf_hf_type(name) : MF_TYPE_F32;
    out->typed = !name || strcmp(name, "auto") != 0;
    if (!out->typed || out->type == MF_TYPE_F32 || out->type == MF_TYPE_F16 ||
        out->type == MF_TYPE_BF16 || out->type == MF_TYPE_Q8_0)
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "type '%s' is not one of an adapter: expected f32, f16, "
                   "bf16, q8_0 or auto",
                   mf_quote((struct mf_str){ name, strlen(name) }).text);
}

enum mf_status mf_outputs_list_adapter(struct mf_outputs *outputs,
                                       struct mf_draft *draft,
                                       const struct mf_convert_options *options,
                                       struct mf_hf_name *name)
{
    struct mf_hf_options hub = { .type = MF_TYPE_UNKNOWN, .name = name };
    enum mf_status status = set_type(outputs->env, options->type, &hub);
    struct mf_model *model;
    struct stand_in base;

    if (status != MF_OK || open_base(outputs, options, &base) != MF_OK)
        return outputs->env->error.status;
    mf_outputs_set_order(outputs->model, draft, options);
    draft->reserve = options->reserve;
    draft->version = options->version;
    model = model_of(outputs, options, &base);
    status = model ? mf_hf_convert_adapter(draft, &outputs->lora, model, &hub)
                   : outputs->env->error.status;
    mf_seen_forget(&base.model);
    mf_source_close(&base.file.source);
    return status == MF_OK
               ? mf_draft_edit(draft, options->edits, options->edit_count)
               : status;
}

/* Whether PEFT scales the pair by another factor than llama.cpp will, which
 * knows lora_alpha only.  The same where PEFT's result is unknown. */
static bool is_rescaled(const struct mf_adapter *adapter, size_t place)
{
    uint64_t rank, other;
    double alpha, scale;

    if (!mf_adapter_rank(adapter, place, &rank, &other))
        return false;
    if (mf_adapter_alpha(adapter, &alpha) == MF_OK &&
        mf_adapter_scale(adapter, mf_adapter_at(adapter, place)->name, rank, 1,
                         &scale) == MF_OK)
        return scale != alpha / (double)rank;
    mf_clear_error(adapter->model->env);
    return true;
}

static size_t count_rescaled(const struct mf_adapter *adapter)
{
    size_t count = 0;

    for (size_t i = 0; i < adapter->model->index.tensor_count; i++)
        count += mf_adapter_is_pair(adapter, i) && is_rescaled(adapter, i);
    return count;
}

enum mf_status mf_outputs_plan_adapter(const char *path,
                                       const struct mf_convert_options *options,
                                       struct mf_outputs *out)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);

    if (options->lora)
        return mf_fail(out->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "an adapter is not added to an adapter");
    if (mf_outputs_check_folder(out->env, options, true) != MF_OK)
        return out->env->error.status;
    if (options->shard_size > 0 || options->shard_tensors > 0)
        return mf_fail(out->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "an adapter is one file");
    out->finite_only = !options->allow_nonfinite;
    if (mf_lora_read(&out->lora, out->model) != MF_OK ||
        mf_outputs_make(out, format, path, 1, false) != MF_OK ||
        mf_outputs_list_adapter(out, &out->output[0].draft, options, NULL) !=
            MF_OK)
        return out->env->error.status;
    out->rescaled = count_rescaled(&out->lora.adapter);
    return mf_draft_plan(&out->output[0].draft);
}
