/* SPDX-License-Identifier: MIT
 *
 * output_hub.c - a folder of Hugging Face as files of GGUF
 *
 * What is in them lib/hf/hub says; here they are cut into shards, as
 * llama.cpp's converter cuts them: by the sizes that the tensors will have,
 * with the keys of the split after all others.  A folder that fits one file
 * becomes one without a number.
 */
#include "lib/draft/put.h"
#include "lib/hf/hf.h"
#include "lib/write/convert.h"

/* ---- the types ---- */

static enum mf_status set_type(struct mf_env *env,
                               const struct mf_convert_options *options,
                               struct mf_hf_options *out)
{
    const char *name = options->type;

    if (!name || strcmp(name, "auto") == 0)
        return MF_OK;
    out->own_type = strcmp(name, "keep") == 0;
    out->typed = !out->own_type;
    out->type = mf_hf_type(name);
    if (out->typed && out->type == MF_TYPE_UNKNOWN)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "unknown type '%s': expected f32, f16, bf16, q8_0, "
                       "tq1_0, tq2_0 or auto",
                       mf_quote((struct mf_str){ name, strlen(name) }).text);
    return MF_OK;
}

static enum mf_status check_base(struct mf_env *env,
                                 const struct mf_convert_options *options)
{
    return options->base
               ? mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                         "the folder of the model that it was made for can be "
                         "named only for an adapter that becomes GGUF with "
                         "llama.cpp's names")
               : MF_OK;
}

enum mf_status mf_outputs_check_folder(struct mf_env *env,
                                       const struct mf_convert_options *options,
                                       bool adapter)
{
    if (!adapter && check_base(env, options) != MF_OK)
        return env->error.status;
    if (!options->model_name && !options->metadata && !options->vocab_only &&
        !options->without_mtp && !options->only_mtp && !options->fuse_qkv &&
        !options->fuse_gate_up && !options->fp8_as_q8 && !options->projector &&
        !options->mistral_format && (!options->big_endian || adapter))
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "name, metadata, parts, fused tensors%s can be chosen only "
                   "for %s that becomes GGUF with llama.cpp's names",
                   adapter ? "" : " and the order of bytes",
                   adapter ? "a model, not an adapter,"
                           : "a Hugging Face folder");
}

/* ---- shards ---- */

static struct mf_cut cut_of(const struct mf_draft *draft,
                            const struct mf_convert_options *options)
{
    return (struct mf_cut){ .options = options,
                            .size = mf_cut_draft,
                            .from = draft,
                            .tensors = draft->tensor_count };
}

static enum mf_status add_split_keys(struct mf_draft *draft, size_t number,
                                     size_t count, size_t tensors)
{
    static const char *const keys[] = { "split.no", "split.count",
                                        "split.tensors.count" };
    const enum mf_value_type types[] = { MF_VALUE_U16, MF_VALUE_U16,
                                         MF_VALUE_I32 };
    const uint64_t values[] = { number, count, tensors };

    for (size_t i = 0; i < 3; i++)
        if (mf_set_number(draft, keys[i], types[i], MF_VALUE_U64,
                          (union mf_number){ .u64 = values[i] }) != MF_OK)
            return draft->env->error.status;
    return MF_OK;
}

/* Moves tensors of the first shard, which has all of them, to another. */
static enum mf_status move_tensors(const struct mf_draft *whole,
                                   struct mf_draft *draft, size_t first,
                                   size_t count)
{
    if (mf_draft_reserve(draft, count) != MF_OK)
        return draft->env->error.status;
    for (size_t i = 0; i < count; i++)
        *mf_draft_add_tensor(draft) = whole->tensor[first + i];
    return MF_OK;
}

static enum mf_status cut_draft(struct mf_outputs *outputs,
                                const struct mf_convert_options *options)
{
    struct mf_draft *whole = &outputs->output[0].draft;
    const struct mf_cut cut = cut_of(whole, options);
    size_t first = 0, kept = 0;

    for (size_t i = 0; i < outputs->count; i++) {
        struct mf_draft *draft = &outputs->output[i].draft;
        size_t count =
            i == 0 && options->empty_first ? 0 : mf_cut_take(&cut, first);

        draft->version = whole->version;
        mf_outputs_set_order(outputs->model, draft, options);
        if (i == 0)
            kept = count;
        else if (move_tensors(whole, draft, first, count) != MF_OK)
            return draft->env->error.status;
        if (add_split_keys(draft, i, outputs->count, cut.tensors) != MF_OK)
            return draft->env->error.status;
        first += count;
    }
    whole->tensor_count = kept;
    return MF_OK;
}

/* ---- the plan ---- */

/* A projector has no vocabulary and predicts nothing, and no adapter is for it.
 */
static enum mf_status check_projector(struct mf_env *env,
                                      const struct mf_convert_options *options)
{
    if (!options->projector ||
        (!options->vocab_only && !options->without_mtp && !options->only_mtp &&
         !options->lora && !options->base))
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "a projector has neither a vocabulary nor layers that "
                   "predict more tokens, and takes no adapter");
}

enum mf_status mf_outputs_list_hub(struct mf_outputs *outputs,
                                   struct mf_draft *draft,
                                   const struct mf_convert_options *options,
                                   struct mf_hf_name *name)
{
    struct mf_model *model = outputs->model;
    struct mf_hf_options hub = { .type = MF_TYPE_UNKNOWN,
                                 .vocab_only = options->vocab_only,
                                 .no_mtp = options->without_mtp,
                                 .mtp_only = options->only_mtp,
                                 .fuse_qkv = options->fuse_qkv,
                                 .fuse_gate_up = options->fuse_gate_up,
                                 .fp8_as_q8 = options->fp8_as_q8,
                                 .decode = options->dequantize,
                                 .projector = options->projector,
                                 .mistral = options->mistral_format,
                                 .no_community_template =
                                     options->no_community_template,
                                 .model_name = options->model_name,
                                 .metadata = options->metadata,
                                 .name = name };

    hub.lora = outputs->lora.model ? &outputs->lora : NULL;
    draft->reserve = options->reserve;
    draft->version = options->version;
    draft->ends_bare = options->vocab_only;
    mf_outputs_set_order(outputs->model, draft, options);
    if (check_projector(model->env, options) != MF_OK ||
        set_type(model->env, options, &hub) != MF_OK ||
        mf_hf_convert(draft, model, &hub) != MF_OK ||
        mf_outputs_check_lora(outputs) != MF_OK)
        return model->env->error.status;
    return mf_draft_edit(draft, options->edits, options->edit_count);
}

/* How many shards it takes: known once the tensors are listed. */
static enum mf_status count_outputs(struct mf_outputs *outputs,
                                    const struct mf_format *format,
                                    const struct mf_convert_options *options,
                                    size_t *count)
{
    struct mf_env *env = outputs->env;
    struct mf_draft draft;
    enum mf_status status = MF_OK;

    *count = 1;
    if (options->shard_size == 0 && options->shard_tensors == 0 &&
        !options->empty_first)
        return MF_OK;
    if (options->vocab_only && options->empty_first)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a vocabulary is one file: it has no first shard");
    mf_draft_init(&draft, env, format);
    status = mf_outputs_list_hub(outputs, &draft, options, NULL);
    if (status == MF_OK) {
        const struct mf_cut cut = cut_of(&draft, options);

        *count = mf_cut_count(&cut) + options->empty_first;
    }
    mf_draft_release(&draft);
    if (status == MF_OK && *count > 99999)
        status = mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                         "%zu shards are too many: their names have five "
                         "digits",
                         *count);
    return status;
}

/* A vocabulary is read through its draft, which must stay where it is. */
enum mf_status mf_outputs_plan_hub(const char *path,
                                   const struct mf_convert_options *options,
                                   struct mf_outputs *out)
{
    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    size_t count = 1;
    enum mf_status status = check_base(out->env, options);

    if (status == MF_OK)
        status = mf_outputs_open_lora(out, options);
    if (status == MF_OK)
        status = count_outputs(out, format, options, &count);

    out->finite_only = !options->allow_nonfinite && options->type;
    out->metadata = options->metadata;
    out->computed =
        !options->vocab_only && !options->only_mtp && !options->projector;
    if (status == MF_OK)
        status = mf_outputs_make(out, format, path, count, count > 1);
    if (status == MF_OK)
        status = mf_outputs_list_hub(out, &out->output[0].draft, options, NULL);
    if (status == MF_OK && count > 1)
        status = cut_draft(out, options);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = mf_draft_plan(&out->output[i].draft);
    return status;
}
