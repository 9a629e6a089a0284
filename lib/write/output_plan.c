/* SPDX-License-Identifier: MIT
 *
 * output_plan.c - which tensors and metadata go into which file
 *
 * The hard part is to decide, from the options together, what changes and what
 * stays as it is:
 *
 * - If no byte would change, the file is copied as a whole (`verbatim`): also
 *   padding, the order of the header's fields and tensors of unknown type,
 *   which no writer of ours would reproduce.
 * - A file of the model's own format keeps its version and byte order; its
 *   values are copied as bytes, not decoded and encoded again.
 * - Shards: the first one has the metadata, the others only say which shard
 *   they are, as llama-gguf-split writes them, byte for byte.  A model that
 *   stops being split loses the keys of the split, one that is split gets new
 *   ones.
 *
 * Plans that fail write nothing, so everything that can be refused is refused
 * here.
 */
#include <stdio.h>

#include "lib/hf/hf.h"
#include "lib/io/path.h"
#include "lib/model/facts.h"
#include "lib/model/open_parts.h"
#include "lib/write/convert.h"

/* ---- the format ---- */

const struct mf_format *mf_output_format(struct mf_model *model,
                                         const char *path, const char *name)
{
    const struct mf_format *format;

    if (!name) {
        format = mf_format_by_suffix(path);
        return format ? format : mf_format_to_write(model->format->name);
    }
    format = mf_format_to_write(name);
    if (!format)
        mf_format_unknown(model->env, name);
    return format;
}

/* ---- one file ---- */

static enum mf_status check_model(struct mf_model *model,
                                  const struct mf_format *format)
{
    if (model->index.damage_count > 0)
        return mf_decline(model->env, mf_index_damage_reason(&model->index),
                          MF_NO_OFFSET,
                          "the model has %zu error%s and is not copied",
                          model->index.damage_count,
                          model->index.damage_count == 1 ? "" : "s");
    if (mf_model_is_imatrix(model) && format != model->format)
        return mf_decline(model->env, MF_REASON_IMATRIX_INPUT, MF_NO_OFFSET,
                          "this is an importance matrix and not converted to "
                          "%s",
                          format->name);
    if (mf_draft_check_source(model) != MF_OK)
        return model->env->error.status;
    if (!model->info.has_tensors)
        return mf_fail(model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the model was opened without its tensors");
    return MF_OK;
}

/* general.file_type of a GGUF file all of whose matrices have that type. */
static enum mf_status set_file_type(struct mf_draft *draft, enum mf_type type)
{
    struct mf_edit edit = { .key = "general.file_type", .type = MF_VALUE_U32 };

    edit.number.u64 = type == MF_TYPE_F32 ? 0 : type == MF_TYPE_F16 ? 1 : 32;
    return mf_draft_find_named(draft, edit.key) ? mf_draft_edit(draft, &edit, 1)
                                                : MF_OK;
}

static bool keeps_types(const struct mf_convert_options *options)
{
    return !options->dequantize && options->type &&
           strcmp(options->type, "keep") == 0;
}

enum mf_status mf_outputs_set_types(struct mf_draft *draft,
                                    const struct mf_convert_options *options)
{
    static const enum mf_type types[] = { MF_TYPE_F32, MF_TYPE_F16,
                                          MF_TYPE_BF16 };
    const char *name = options->type;

    if (keeps_types(options))
        return MF_OK;
    draft->f32_vectors =
        options->names == MF_NAMING_GGUF && draft->out->f32_vectors;
    for (size_t i = 0; name && i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(mf_types[types[i]].name, name) == 0)
            draft->floats = types[i];
    if (name && draft->floats == MF_TYPE_UNKNOWN)
        return mf_fail(draft->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "unknown type '%s': expected f32, f16 or bf16",
                       mf_quote((struct mf_str){ name, strlen(name) }).text);
    return MF_OK;
}

/* What no tensor is any more. */
static void remove_compression(struct mf_draft *draft)
{
    struct mf_entry *entry = mf_draft_find(draft, "quantization_config");

    if (entry)
        mf_draft_remove(draft, entry);
}

/* The metadata, version and byte order of a draft. */
static enum mf_status add_metadata(struct mf_outputs *outputs,
                                   struct mf_draft *draft,
                                   const struct mf_convert_options *options)
{
    struct mf_model *model = outputs->model;

    draft->reserve = options->reserve;
    draft->version = options->version;
    mf_outputs_set_order(model, draft, options);
    if (draft->format == model->format) {
        draft->mode = model->part[0].mode;
        /* An old version is not big-endian. */
        if (draft->version == 0 &&
            mf_outputs_order(model, options) == model->info.byte_order)
            draft->version = model->info.version;
    }
    if (mf_carry_metadata(draft, model, &outputs->left_out) != MF_OK)
        return draft->env->error.status;
    if (outputs->renaming.decoded)
        remove_compression(draft);
    if (draft->floats != MF_TYPE_UNKNOWN &&
        (draft->dequantize || !mf_has_blocks(&model->index)) &&
        set_file_type(draft, draft->floats) != MF_OK)
        return draft->env->error.status;
    return mf_draft_edit(draft, options->edits, options->edit_count);
}

/* ---- split metadata ---- */

static enum mf_status add_number(struct mf_draft *draft, const char *key,
                                 enum mf_value_type type, uint64_t number)
{
    struct mf_entry *entry = mf_draft_add_entry(draft);

    if (!entry)
        return draft->env->error.status;
    entry->key = (struct mf_str){ key, strlen(key) };
    entry->type = type;
    entry->number.u64 = number;
    return MF_OK;
}

/* What llama.cpp's loader requires of each shard, in llama-gguf-split's order.
 */
static enum mf_status add_split_keys(struct mf_draft *draft, size_t number,
                                     size_t count, size_t tensors)
{
    if (add_number(draft, "split.no", MF_VALUE_U16, number) != MF_OK ||
        add_number(draft, "split.tensors.count", MF_VALUE_I32, tensors) !=
            MF_OK)
        return draft->env->error.status;
    return add_number(draft, "split.count", MF_VALUE_U16, count);
}

static void remove_split_keys(struct mf_draft *draft)
{
    static const char *const keys[] = { "split.no", "split.count",
                                        "split.tensors.count" };

    for (size_t i = 0; i < 3; i++) {
        struct mf_entry *entry = mf_draft_find(draft, keys[i]);

        if (entry)
            mf_draft_remove(draft, entry);
    }
}

/* ---- shards ---- */

/* With the padding that follows. */
static uint64_t size_of(const void *of, size_t tensor)
{
    const struct mf_outputs *outputs = of;
    uint64_t size = outputs->renaming.made
                        ? outputs->renaming.draft.tensor[tensor].size
                        : outputs->model->index.tensor[tensor].size;

    return (size + 31) & ~UINT64_C(31);
}

/* path without the format's suffix. */
static struct mf_str stem_of(const struct mf_format *format, const char *path)
{
    size_t size = strlen(path);

    if (mf_name_ends(path, format->suffix))
        size -= strlen(format->suffix);
    return (struct mf_str){ path, size };
}

bool mf_shard_path(const char *path, const char *format, size_t number,
                   size_t count, char *out, size_t room)
{
    const struct mf_format *written =
        format ? mf_format_to_write(format) : NULL;
    struct mf_str stem;
    int size;

    if (!written || !path || !out)
        return false;
    stem = stem_of(written, path);
    size = snprintf(out, room, "%.*s-%05zu-of-%05zu%s", (int)stem.size, stem.at,
                    number + 1, count, written->suffix);
    return size > 0 && (size_t)size < room;
}

static bool sharded(const struct mf_convert_options *options)
{
    return options->shard_size > 0 || options->shard_tensors > 0;
}

/* A file that says it is the only shard becomes a whole model.  Not by an edit,
 * which changes the keys it names and no others. */
static bool is_only_shard(const struct mf_model *model,
                          const struct mf_convert_options *options)
{
    return model->part[0].is_split && model->part[0].split_count == 1 &&
           options->edit_count == 0;
}

/* Metadata of the model goes into the first file; others say what they are,
 * and where metadata is strings alone what framework they are for. */
static enum mf_status
add_shard_metadata(struct mf_outputs *outputs, struct mf_draft *draft,
                   size_t number, const struct mf_convert_options *options)
{
    bool numbered = draft->format->sharding == MF_SHARDING_NUMBERED;
    const struct mf_entry *framework;
    struct mf_entry *entry;

    if (number == 0) {
        if (add_metadata(outputs, draft, options) != MF_OK)
            return outputs->env->error.status;
        if (numbered && (sharded(options) || outputs->model->file_count > 1 ||
                         is_only_shard(outputs->model, options)))
            remove_split_keys(draft);
    } else {
        draft->version = outputs->output[0].draft.version;
        draft->big_endian = outputs->output[0].draft.big_endian;
        framework = draft->format->values == MF_VALUES_STRINGS
                        ? mf_draft_find(&outputs->output[0].draft, "format")
                        : NULL;
        if (framework) {
            entry = mf_draft_add_entry(draft);
            if (!entry)
                return outputs->env->error.status;
            *entry = *framework;
        }
    }
    return numbered && sharded(options)
               ? add_split_keys(
                     draft, number, outputs->count,
                     mf_draft_source_count(outputs->model, &outputs->renaming))
               : MF_OK;
}

static enum mf_status plan_output(struct mf_outputs *outputs, size_t number,
                                  const struct mf_convert_options *options,
                                  size_t first, size_t count)
{
    struct mf_output *output = &outputs->output[number];

    output->draft.lossy = options->lossy;
    output->draft.dequantize = options->dequantize;
    if (mf_outputs_set_types(&output->draft, options) != MF_OK ||
        add_shard_metadata(outputs, &output->draft, number, options) != MF_OK ||
        mf_draft_list_tensors(&output->draft, outputs->model,
                              &outputs->renaming, first, count) != MF_OK ||
        mf_outputs_apply_lora(outputs, &output->draft) != MF_OK)
        return outputs->env->error.status;
    return mf_draft_plan(&output->draft);
}

enum mf_status mf_outputs_rename(struct mf_outputs *outputs,
                                 const struct mf_convert_options *options)
{
    const struct mf_renaming_options how = {
        .lossy = options->lossy,
        .decode =
            options->dequantize || (options->type && !keeps_types(options)),
    };

    return mf_renaming_init(&outputs->renaming, outputs->model, options->names,
                            how);
}

/* ---- all files ---- */

/* Whether no option would change a byte. */
static bool is_verbatim(const struct mf_model *model,
                        const struct mf_format *format,
                        const struct mf_convert_options *options)
{
    return format == model->format && model->file_count == 1 &&
           model->info.missing_count == 0 && !model->selected &&
           !sharded(options) && !model->part[0].is_split &&
           options->reserve == 0 && options->edit_count == 0 &&
           options->names == MF_NAMING_KEEP && !options->lora &&
           (!options->type || keeps_types(options)) &&
           (options->version == 0 || options->version == model->info.version) &&
           mf_outputs_order(model, options) == model->info.byte_order;
}

static enum mf_status name_outputs(struct mf_outputs *outputs,
                                   const struct mf_format *format,
                                   const char *path, bool shards)
{
    const struct mf_format *list = mf_format_list_of(outputs->env, format);
    struct mf_str stem = stem_of(format, path);
    size_t room = strlen(path) + (list ? strlen(list->suffix) : 0) + 64;

    if (shards && !list && format->sharding == MF_SHARDING_LISTED)
        return mf_fail(outputs->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this env does not know %s, and so no list of shards",
                       format->name);
    for (size_t i = 0; i < outputs->count; i++) {
        char *name = shards ? mf_arena_text(&outputs->arena, room) : NULL;

        if (shards && !name)
            return outputs->env->error.status;
        if (shards)
            mf_shard_path(path, format->name, i, outputs->count, name, room);
        outputs->output[i].path = shards ? name : path;
    }
    if (shards && list) {
        outputs->index_path = mf_arena_text(&outputs->arena, room);
        if (!outputs->index_path)
            return outputs->env->error.status;
        memcpy(outputs->index_path, stem.at, stem.size);
        strcpy(outputs->index_path + stem.size, list->suffix);
    }
    return MF_OK;
}

void mf_outputs_init(struct mf_outputs *outputs, struct mf_model *model)
{
    *outputs = (struct mf_outputs){ .env = model->env,
                                    .model = model,
                                    .stage = MF_STAGE_NONE,
                                    .index = MF_TARGET_NONE };
    mf_arena_init(&outputs->arena, model->env);
}

enum mf_status mf_outputs_make(struct mf_outputs *outputs,
                               const struct mf_format *format, const char *path,
                               size_t count, bool shards)
{
    outputs->output = mf_alloc(outputs->env, count * sizeof(*outputs->output));
    if (!outputs->output)
        return outputs->env->error.status;
    outputs->count = count;
    for (size_t i = 0; i < count; i++) {
        outputs->output[i] = (struct mf_output){ .target = MF_TARGET_NONE };
        mf_draft_init(&outputs->output[i].draft, outputs->env, format);
    }
    return name_outputs(outputs, format, path, shards);
}

/* Whether files of the format can be cut as the options say. */
static enum mf_status check_shards(struct mf_env *env,
                                   const struct mf_format *format,
                                   const struct mf_convert_options *options,
                                   bool folder)
{
    if (sharded(options) && format->sharding == MF_SHARDING_NONE)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "%s models cannot be split", format->name);
    if (options->empty_first && !sharded(options) && !folder)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "a first shard without tensors requires a limit for "
                       "shards");
    if (options->empty_first && format->sharding != MF_SHARDING_NUMBERED)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%s cannot have a first shard without tensors",
                       format->name);
    return MF_OK;
}

/* All that is not made of a folder of Hugging Face. */
static enum mf_status plan_files(struct mf_outputs *out,
                                 const struct mf_format *format,
                                 const char *path,
                                 const struct mf_convert_options *options)
{
    struct mf_model *model = out->model;
    struct mf_env *env = model->env;
    struct mf_cut cut = { .options = options, .size = size_of, .from = out };
    size_t first = 0, count = 1;

    if (mf_outputs_rename(out, options) != MF_OK)
        return env->error.status;
    cut.tensors = mf_draft_source_count(model, &out->renaming);
    if (sharded(options))
        count = mf_cut_count(&cut) + options->empty_first;
    if (count > 99999)
        return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%zu shards are too many: their names have five digits",
                       count);
    if (mf_outputs_make(out, format, path, count, sharded(options)) != MF_OK ||
        mf_outputs_open_lora(out, options) != MF_OK)
        return env->error.status;
    /* NaN and infinite values pass where the format's readers accept them and
     * nothing is converted. */
    out->finite_only =
        !options->allow_nonfinite &&
        (options->type || options->dequantize || !format->allows_nonfinite);
    out->verbatim = is_verbatim(model, format, options);
    if (out->verbatim) {
        out->output->draft.big_endian = model->info.byte_order == MF_BIG_ENDIAN;
        out->output->draft.file_size = model->file[0].source.size;
        return MF_OK;
    }
    for (size_t i = 0; i < count; i++) {
        size_t tensors = cut.tensors;

        if (sharded(options))
            tensors =
                options->empty_first && i == 0 ? 0 : mf_cut_take(&cut, first);
        if (plan_output(out, i, options, first, tensors) != MF_OK)
            return env->error.status;
        first += tensors;
    }
    return mf_outputs_check_lora(out);
}

enum mf_status mf_outputs_plan(struct mf_model *model, const char *path,
                               const struct mf_convert_options *options,
                               struct mf_outputs *out)
{
    struct mf_env *env = model->env;
    const struct mf_format *format =
        mf_output_format(model, path, options->format);
    bool folder;

    mf_outputs_init(out, model);
    if (mf_outputs_check_order(env, path, options) != MF_OK)
        return env->error.status;
    if (mf_output_is_folder(path) &&
        mf_model_require_complete(model) == MF_OK &&
        check_model(model, mf_format_to_write("safetensors")) == MF_OK &&
        mf_outputs_check_folder(env, options, false) == MF_OK)
        return mf_outputs_plan_folder(path, options, out);
    if (!format || mf_model_require_complete(model) != MF_OK ||
        check_model(model, format) != MF_OK)
        return env->error.status;
    folder = mf_outputs_are_hub(model, format, options);
    if (env->error.status != MF_OK ||
        check_shards(env, format, options, folder) != MF_OK)
        return env->error.status;
    if (options->names == MF_NAMING_GGUF && format->values == MF_VALUES_TYPED &&
        model->format->values != MF_VALUES_TYPED && mf_model_is_lora(model))
        return mf_outputs_plan_adapter(path, options, out);
    if (folder)
        return mf_outputs_plan_hub(path, options, out);
    if (env->error.status != MF_OK ||
        mf_outputs_check_folder(env, options, false) != MF_OK)
        return env->error.status;
    return plan_files(out, format, path, options);
}

void mf_outputs_release(struct mf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        mf_target_abort(&outputs->output[i].target);
        mf_draft_release(&outputs->output[i].draft);
    }
    mf_target_abort(&outputs->index);
    mf_stage_abort(&outputs->stage);
    mf_lora_close(&outputs->lora);
    mf_model_close(outputs->of_base);
    mf_renaming_release(&outputs->renaming);
    mf_release(outputs->env, outputs->output,
               outputs->count * sizeof(*outputs->output));
    mf_arena_release(&outputs->arena);
    outputs->count = 0;
}
