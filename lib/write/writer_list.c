/* SPDX-License-Identifier: MIT
 *
 * writer_list.c - the metadata and tensors of a file that a program makes
 */
#include "lib/base/options.h"
#include "lib/write/writer.h"

enum mf_status mf_writer_refuse(struct mf_env *env, const char *why)
{
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET, "%s", why);
}

enum mf_status mf_writer_wrong_stage(const struct mf_writer *writer,
                                     struct mf_env *env)
{
    static const char *const why[] = {
        [MF_WRITER_LISTING] = "the writer is not open yet",
        [MF_WRITER_PLANNED] =
            "metadata and tensors can no longer be added: open it",
        [MF_WRITER_OPEN] = "the header of this file has been written",
        [MF_WRITER_DONE] = "this file has been committed",
        [MF_WRITER_FAILED] = "this writer has failed: make a new one",
    };

    return mf_writer_refuse(env, why[writer->stage]);
}

enum mf_status mf_writer_new(struct mf_env *env,
                             const struct mf_writer_options *options,
                             struct mf_writer **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, options);
    MF_NEED(env, out);

    struct mf_writer_options known;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    options = &known;

    const struct mf_format *format = mf_format_to_write(options->format);
    struct mf_output_ops given = { 0 };
    struct mf_writer *writer;

    mf_clear_error(env);
    if (!format)
        return mf_format_unknown(env, options->format);

    const struct mf_format_out *how = mf_format_out(format);

    if (options->version != 0 &&
        (options->version < how->oldest || options->version > how->version))
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "writing version %" PRIu32 " of %s is not supported",
                       options->version, format->name);
    if (options->output &&
        mf_target_check_given(env, options->output, &given) != MF_OK)
        return env->error.status;
    writer = mf_alloc(env, sizeof(*writer));
    if (!writer)
        return env->error.status;
    mf_env_hold(env);
    *writer = (struct mf_writer){ .env = env,
                                  .output.target = MF_TARGET_NONE,
                                  .replace = options->replace,
                                  .given = given };
    mf_draft_init(&writer->output.draft, env, format);
    writer->output.draft.version = options->version;
    writer->output.draft.reserve = options->reserve;
    writer->output.draft.big_endian = options->big_endian;
    *out = writer;
    return MF_OK;
}

/* ---- lists ---- */

static bool is_listing(struct mf_writer *writer)
{
    mf_clear_error(writer->env);
    if (writer->stage == MF_WRITER_LISTING)
        return true;
    mf_writer_wrong_stage(writer, writer->env);
    return false;
}

/* A copy of an array's elements, strings included, in the arena. */
static const void *keep_elements(struct mf_draft *draft,
                                 const struct mf_edit *value)
{
    const struct mf_str *text = value->elements;
    struct mf_str *kept;
    size_t each = value->of == MF_VALUE_STRING ? sizeof(struct mf_str)
                                               : sizeof(union mf_number);

    if (value->count > SIZE_MAX / each)
        return NULL;
    kept = mf_arena_take(&draft->arena, (size_t)value->count * each + 1);
    if (!kept)
        return NULL;
    if (value->of != MF_VALUE_STRING) {
        if (value->count > 0)
            memcpy(kept, value->elements, (size_t)value->count * each);
        return kept;
    }
    for (uint64_t i = 0; i < value->count; i++) {
        kept[i] = mf_draft_text(draft, text[i]);
        if (!kept[i].at)
            return NULL;
    }
    return kept;
}

enum mf_status mf_writer_set(struct mf_writer *writer,
                             const struct mf_edit *value)
{
    MF_NEED(NULL, writer);
    MF_NEED(writer->env, value);
    if (mf_edits_check(writer->env, value, 1) != MF_OK)
        return MF_ERR_ARGUMENT;

    struct mf_draft *draft = &writer->output.draft;
    struct mf_edit kept = *value;
    struct mf_str key;

    if (!is_listing(writer))
        return writer->env->error.status;
    key = (struct mf_str){ value->key, strlen(value->key) };
    if (value->unset)
        return mf_draft_edit(draft, value, 1);
    kept.key = mf_draft_text(draft, key).at;
    if (value->type == MF_VALUE_STRING)
        kept.text = mf_draft_text(draft, value->text);
    if (value->type == MF_VALUE_ARRAY)
        kept.elements = keep_elements(draft, value);
    if (!kept.key || (value->type == MF_VALUE_STRING && !kept.text.at) ||
        (value->type == MF_VALUE_ARRAY && !kept.elements))
        return writer->env->error.status != MF_OK
                   ? writer->env->error.status
                   : mf_writer_refuse(writer->env,
                                      "the array has too many elements");
    return mf_draft_edit(draft, &kept, 1);
}

enum mf_status mf_writer_copy_metadata(struct mf_writer *writer,
                                       struct mf_model *model)
{
    MF_NEED(NULL, writer);
    MF_NEED(writer->env, model);

    size_t left_out;

    if (!is_listing(writer))
        return writer->env->error.status;
    if (!model->format->written && !model->format->is_source)
        return mf_writer_refuse(
            writer->env, "metadata of this kind of file cannot be copied");
    return mf_carry_metadata(&writer->output.draft, model, &left_out);
}

static enum mf_type type_named(const char *name)
{
    for (int i = 0; i < MF_TYPE_COUNT; i++)
        if (strcmp(mf_types[i].name, name) == 0)
            return (enum mf_type)i;
    return MF_TYPE_UNKNOWN;
}

/* Dimensions in the format's order, in the arena. */
static uint64_t *keep_dims(struct mf_draft *draft,
                           const struct mf_new_tensor *tensor)
{
    uint64_t *dim =
        mf_arena_take(&draft->arena, (tensor->rank + 1) * sizeof(*dim));

    for (uint32_t i = 0; dim && i < tensor->rank; i++)
        dim[i] =
            tensor
                ->dim[draft->format->fastest_first ? tensor->rank - 1 - i : i];
    return dim;
}

enum mf_status mf_writer_add(struct mf_writer *writer,
                             const struct mf_new_tensor *tensor, size_t *index)
{
    MF_NEED(NULL, writer);
    MF_NEED(writer->env, tensor);
    MF_NEED(writer->env, tensor->name.at || tensor->name.size == 0);

    struct mf_draft *draft = &writer->output.draft;
    enum mf_type type;
    struct mf_draft_tensor *added;
    uint64_t elements, size, *dim;
    struct mf_str name;

    if (!is_listing(writer))
        return writer->env->error.status;
    if (!tensor->type || (tensor->rank > 0 && !tensor->dim))
        return mf_writer_refuse(writer->env,
                                "the tensor's type or shape is NULL");
    type = type_named(tensor->type);
    if (type == MF_TYPE_UNKNOWN || tensor->rank > MF_RANK_MAX ||
        draft->format->type_id(type) == MF_NO_TYPE_ID)
        return mf_fail(
            writer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "%s cannot carry tensors of type '%s'", draft->format->name,
            mf_quote((struct mf_str){ tensor->type, strlen(tensor->type) })
                .text);
    if (!mf_elements(tensor->dim, tensor->rank, &elements) ||
        !mf_type_size(type, elements, &size))
        return mf_writer_refuse(writer->env,
                                "the tensor's elements are not a multiple of "
                                "the block size, or too many for a file");
    name = mf_draft_text(draft, tensor->name);
    dim = keep_dims(draft, tensor);
    added = name.at && dim ? mf_draft_add_tensor(draft) : NULL;
    if (!added)
        return writer->env->error.status;
    *added = (struct mf_draft_tensor){ .name = name,
                                       .dim = dim,
                                       .rank = tensor->rank,
                                       .type = type,
                                       .type_id = draft->format->type_id(type),
                                       .size = size };
    if (index)
        *index = draft->tensor_count - 1;
    return MF_OK;
}

/* ---- duplicate names ---- */

static struct mf_str tensor_name(const void *table, size_t row)
{
    return ((const struct mf_draft *)table)->tensor[row].name;
}

static struct mf_str entry_key(const void *table, size_t row)
{
    return ((const struct mf_draft *)table)->entry[row].key;
}

static enum mf_status check_list(struct mf_draft *draft, const char *what,
                                 size_t count,
                                 struct mf_str (*name_at)(const void *, size_t))
{
    struct mf_names names = { .seed = draft->env->hash_seed,
                              .name_at = name_at,
                              .table = draft };
    enum mf_status status = mf_names_init(&names, &draft->arena, count);

    for (size_t i = 0; i < count && status == MF_OK; i++)
        if (mf_names_add(&names, i) != MF_NOT_FOUND)
            status = mf_fail(draft->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                             "duplicate %s '%s'", what,
                             mf_quote(name_at(draft, i)).text);
    return status;
}

enum mf_status mf_writer_check_names(struct mf_writer *writer)
{
    struct mf_draft *draft = &writer->output.draft;
    enum mf_status status =
        check_list(draft, "metadata key", draft->entry_count, entry_key);

    return status == MF_OK
               ? check_list(draft, "tensor", draft->tensor_count, tensor_name)
               : status;
}
