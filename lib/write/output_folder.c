/* SPDX-License-Identifier: MIT
 *
 * output_folder.c - a folder of Hugging Face, of a GGUF file or of another one
 *
 * What is in it lib/hf/restore says; here its tensors are cut into shards,
 * whose names and index.json are those that transformers looks for.  Another
 * folder keeps its names and files; its tensors get another type, and a
 * compressed checkpoint becomes floats.
 */
#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/adapter.h"
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/model/nearby.h"
#include "lib/write/convert.h"

bool mf_output_is_folder(const char *path)
{
    size_t size = strlen(path);

    return size > 0 && path[size - 1] == '/';
}

static enum mf_status check_options(struct mf_env *env,
                                    const struct mf_convert_options *options)
{
    const char *type = options->type;

    if (options->names == MF_NAMING_GGUF)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a folder has Hugging Face's names");
    if (options->lora || options->edit_count > 0 || options->resume ||
        options->reserve > 0 || options->empty_first)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a GGUF file becomes a folder unchanged: no adapter, "
                       "edits, reserve or resuming");
    if (!type || strcmp(type, "keep") == 0 || strcmp(type, "f32") == 0 ||
        strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0)
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "unknown type '%s': expected f32, f16 or bf16",
                   mf_quote((struct mf_str){ type, strlen(type) }).text);
}

/* ---- shards ---- */

static enum mf_status put_format(struct mf_draft *draft)
{
    struct mf_entry *entry = mf_draft_add_entry(draft);

    if (!entry)
        return draft->env->error.status;
    entry->key = (struct mf_str){ "format", 6 };
    entry->type = MF_VALUE_STRING;
    entry->text = (struct mf_str){ "pt", 2 };
    entry->count = 2;
    return MF_OK;
}

/* Each shard's tensors, taken from the first one, which has all of them. */
static enum mf_status cut_draft(struct mf_outputs *outputs, struct mf_cut *cut)
{
    struct mf_draft *whole = &outputs->output[0].draft;
    size_t first, kept;

    cut->from = whole;
    first = kept = mf_cut_take(cut, 0);
    for (size_t i = 1; i < outputs->count; i++) {
        struct mf_draft *draft = &outputs->output[i].draft;
        size_t count = mf_cut_take(cut, first);

        if (put_format(draft) != MF_OK ||
            mf_draft_reserve(draft, count) != MF_OK)
            return outputs->env->error.status;
        for (size_t t = 0; t < count; t++)
            *mf_draft_add_tensor(draft) = whole->tensor[first + t];
        first += count;
    }
    whole->tensor_count = kept;
    return MF_OK;
}

/* As many files as it takes, the first of which gets the draft. */
static enum mf_status make_shards(struct mf_outputs *outputs,
                                  const struct mf_convert_options *options,
                                  const char *path)
{
    struct mf_draft whole = outputs->output[0].draft;
    const struct mf_format *format = whole.format;
    struct mf_cut cut = { .options = options,
                          .size = mf_cut_draft,
                          .from = &whole,
                          .tensors = whole.tensor_count };
    size_t count = mf_cut_count(&cut);
    enum mf_status status;

    if (count > 99999)
        return mf_fail(outputs->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%zu shards are too many: their names have five digits",
                       count);
    if (count < 2)
        return MF_OK;
    mf_release(outputs->env, outputs->output, sizeof(*outputs->output));
    outputs->count = 0;
    outputs->output = NULL;
    status = mf_outputs_make(outputs, format, path, count, true);
    if (outputs->count == 0) {
        mf_draft_release(&whole);
        return status;
    }
    mf_draft_release(&outputs->output[0].draft);
    outputs->output[0].draft = whole;
    return status == MF_OK ? cut_draft(outputs, &cut) : status;
}

/* ---- the plan ---- */

/* So that they are removed with the folder, whatever happens. */
static enum mf_status expect_files(struct mf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!mf_stage_expect(&outputs->stage,
                             mf_base_name(outputs->output[i].path)))
            return outputs->env->error.status;
    if (outputs->index_path &&
        !mf_stage_expect(&outputs->stage, mf_base_name(outputs->index_path)))
        return outputs->env->error.status;
    return MF_OK;
}

static enum mf_status restore(struct mf_outputs *outputs,
                              const struct mf_convert_options *options)
{
    const struct mf_restore_options how = {
        .type = options->type && strcmp(options->type, "keep") != 0
                    ? options->type
                    : NULL,
        .lossy = options->lossy,
    };
    struct mf_draft *draft = &outputs->output[0].draft;
    enum mf_status status = put_format(draft);

    if (status == MF_OK)
        status = mf_hf_restore(outputs->model, draft, &how, &outputs->stage,
                               &outputs->restored);
    outputs->left_out = outputs->restored.lost;
    return status;
}

/* ---- of another folder ---- */

static bool is_hub_folder(struct mf_model *model, struct mf_arena *arena)
{
    return model->format->naming == MF_NAMING_HF && mf_nearby_any(model) &&
           !mf_model_is_lora(model) &&
           mf_sidecar_exists(model, arena, "config.json");
}

static enum mf_status carry(struct mf_outputs *outputs,
                            const struct mf_convert_options *options)
{
    struct mf_draft *draft = &outputs->output[0].draft;
    struct mf_beside beside;

    draft->lossy = options->lossy;
    draft->dequantize = options->dequantize;
    if (mf_outputs_set_types(draft, options) != MF_OK ||
        mf_outputs_rename(outputs, options) != MF_OK ||
        put_format(draft) != MF_OK ||
        mf_draft_list_tensors(
            draft, outputs->model, &outputs->renaming, 0,
            mf_draft_source_count(outputs->model, &outputs->renaming)) != MF_OK)
        return outputs->env->error.status;
    beside = (struct mf_beside){ .dtype = mf_type_torch(draft->floats),
                                 .decoded = outputs->renaming.decoded };
    return mf_beside_copy(outputs->model, &outputs->stage, &beside);
}

enum mf_status mf_outputs_plan_folder(const char *path,
                                      const struct mf_convert_options *options,
                                      struct mf_outputs *out)
{
    struct mf_env *env = out->env;
    const struct mf_format *format = mf_format_to_write("safetensors");
    const char *whole;
    bool folder = false;
    enum mf_status status = check_options(env, options);

    if (status == MF_OK)
        folder = is_hub_folder(out->model, &out->arena);
    if (status == MF_OK && env->error.status != MF_OK)
        status = env->error.status;
    if (status == MF_OK && !folder &&
        out->model->format->values != MF_VALUES_TYPED)
        status = mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "only a GGUF file, or a folder that has a "
                         "config.json, becomes a folder of Hugging Face");
    if (status == MF_OK)
        status = mf_stage_begin(env, path, &out->stage);
    if (status != MF_OK)
        return status;
    whole = mf_path_sibling(&out->arena, out->stage.inside,
                            (struct mf_str){ "model.safetensors", 17 });
    if (!whole)
        return env->error.status;
    out->finite_only = !options->allow_nonfinite && options->type;
    status = mf_outputs_make(out, format, whole, 1, false);
    if (status == MF_OK)
        status = folder ? carry(out, options) : restore(out, options);
    if (status == MF_OK)
        status = make_shards(out, options, whole);
    if (status == MF_OK)
        status = expect_files(out);
    for (size_t i = 0; i < out->count && status == MF_OK; i++)
        status = mf_draft_plan(&out->output[i].draft);
    return status;
}
