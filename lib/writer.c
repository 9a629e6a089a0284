/* SPDX-License-Identifier: MIT
 *
 * writer.c - files that a program makes: metadata, tensors, then bytes
 */
#include <stdatomic.h>

#include "lib/convert.h"

enum stage { LISTING, OPEN, DONE };

struct mf_writer {
    struct mf_env *env;
    struct mf_output output;
    enum stage stage;
    bool replace;
    atomic_uint_fast64_t *got; /* bytes of each tensor that were written */
    size_t got_count;
    size_t next;      /* tensor, in the order of the data, for push */
    uint64_t next_at; /* byte of it */
};

/* What is pushed or asked for at once. */
#define PIECE ((size_t)1024 * 1024)

static enum mf_status refuse(struct mf_env *env, const char *why)
{
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET, "%s", why);
}

enum mf_status mf_writer_new(struct mf_env *env,
                             const struct mf_writer_options *options,
                             struct mf_writer **out)
{
    const struct mf_format *format = mf_format_to_write(options->format);
    struct mf_writer *writer;

    mf_clear_error(env);
    if (!format)
        return refuse(env, "the writer's format is none of gguf, apr and "
                           "safetensors");
    writer = mf_alloc(env, sizeof(*writer));
    if (!writer)
        return env->error.status;
    *writer = (struct mf_writer){ .env = env,
                                  .output.target = MF_TARGET_NONE,
                                  .replace = options->replace };
    mf_draft_init(&writer->output.draft, env, format);
    writer->output.draft.version = options->version;
    writer->output.draft.reserve = options->reserve;
    writer->output.draft.big_endian = options->big_endian;
    *out = writer;
    return MF_OK;
}

void mf_writer_free(struct mf_writer *writer)
{
    if (!writer)
        return;
    mf_target_abort(&writer->output.target);
    mf_draft_release(&writer->output.draft);
    mf_release(writer->env, writer->got,
               writer->got_count * sizeof(*writer->got));
    mf_release(writer->env, writer, sizeof(*writer));
}

/* ---- what goes into the file ---- */

static bool is_listing(struct mf_writer *writer)
{
    mf_clear_error(writer->env);
    if (writer->stage == LISTING)
        return true;
    refuse(writer->env, "the header of this file is written already");
    return false;
}

/* Elements of an array, their text included, into the arena. */
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
    struct mf_draft *draft = &writer->output.draft;
    struct mf_edit kept = *value;
    struct mf_str key = { value->key, strlen(value->key) };

    if (!is_listing(writer))
        return writer->env->error.status;
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
                   : refuse(writer->env, "the array has too many elements");
    return mf_draft_edit(draft, &kept, 1);
}

enum mf_status mf_writer_take_metadata(struct mf_writer *writer,
                                       struct mf_model *model)
{
    size_t left_out;

    if (!is_listing(writer))
        return writer->env->error.status;
    if (!model->format->out)
        return refuse(writer->env, "metadata of this kind of file cannot be "
                                   "carried");
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
    struct mf_draft *draft = &writer->output.draft;
    enum mf_type type = type_named(tensor->type);
    struct mf_draft_tensor *added;
    uint64_t elements, size, *dim;
    struct mf_str name;

    if (!is_listing(writer))
        return writer->env->error.status;
    if (type == MF_TYPE_UNKNOWN || tensor->rank > MF_RANK_MAX ||
        draft->format->type_id(type) == MF_NO_TYPE_ID)
        return mf_fail(
            writer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "%s has no tensors of type '%s'", draft->format->name,
            mf_quote((struct mf_str){ tensor->type, strlen(tensor->type) })
                .text);
    if (!mf_elements(tensor->dim, tensor->rank, &elements) ||
        !mf_type_size(type, elements, &size))
        return refuse(writer->env, "the tensor's shape is no whole number of "
                                   "blocks, or larger than a file can be");
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

enum mf_status mf_writer_open(struct mf_writer *writer, const char *path)
{
    struct mf_output *output = &writer->output;
    struct mf_draft *draft = &output->draft;
    size_t count = draft->tensor_count;
    struct mf_str kept;

    if (!is_listing(writer))
        return writer->env->error.status;
    kept = mf_draft_text(draft, (struct mf_str){ path, strlen(path) });
    writer->got =
        kept.at ? mf_alloc(writer->env, (count + 1) * sizeof(*writer->got))
                : NULL;
    if (!writer->got)
        return writer->env->error.status;
    writer->got_count = count + 1;
    for (size_t i = 0; i < writer->got_count; i++)
        atomic_init(&writer->got[i], 0);
    writer->stage = DONE; /* there is no way back from a failure */
    if (mf_draft_plan(draft) != MF_OK ||
        mf_target_open(writer->env, kept.at, draft->file_size, writer->replace,
                       &output->target) != MF_OK ||
        mf_output_head(output) != MF_OK)
        return writer->env->error.status;
    writer->stage = OPEN;
    return MF_OK;
}

bool mf_writer_place(const struct mf_writer *writer, size_t index,
                     struct mf_span *out)
{
    const struct mf_draft *draft = &writer->output.draft;

    if (writer->stage != OPEN || index >= draft->tensor_count)
        return false;
    out->offset = draft->data_offset + draft->tensor[index].offset;
    out->size = draft->tensor[index].size;
    return true;
}

/* ---- bytes ---- */

enum mf_status mf_writer_write_at(struct mf_writer *writer, struct mf_env *env,
                                  size_t index, uint64_t offset,
                                  const void *bytes, size_t size)
{
    struct mf_span span;

    if (!mf_writer_place(writer, index, &span))
        return refuse(env, "the writer is not open, or has no such tensor");
    if (offset > span.size || size > span.size - offset)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu bytes at %" PRIu64 " do not fit into tensor %zu, "
                       "which has %" PRIu64,
                       size, offset, index, span.size);
    if (mf_target_write(env, &writer->output.target, span.offset + offset,
                        bytes, size) != MF_OK)
        return env->error.status;
    atomic_fetch_add_explicit(&writer->got[index], size, memory_order_relaxed);
    return MF_OK;
}

/* A pipe needs the bytes between tensors, too. */
static enum mf_status pad_to(struct mf_writer *writer, uint64_t offset)
{
    static const uint8_t zeros[4096];
    struct mf_target *target = &writer->output.target;

    while (target->stream && target->streamed < offset) {
        uint64_t left = offset - target->streamed;
        size_t size = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

        if (mf_target_write(writer->env, target, target->streamed, zeros,
                            size) != MF_OK)
            return writer->env->error.status;
    }
    return MF_OK;
}

/* The tensor that push is at; passes over those that are full. */
static const struct mf_draft_tensor *next_tensor(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;

    while (writer->next < draft->tensor_count) {
        const struct mf_draft_tensor *tensor =
            mf_draft_in_order(draft, writer->next);

        if (writer->next_at < tensor->size)
            return tensor;
        writer->next++;
        writer->next_at = 0;
    }
    return NULL;
}

enum mf_status mf_writer_push(struct mf_writer *writer, const void *bytes,
                              size_t size)
{
    const struct mf_draft *draft = &writer->output.draft;
    const uint8_t *from = bytes;

    mf_clear_error(writer->env);
    while (size > 0) {
        const struct mf_draft_tensor *tensor = next_tensor(writer);
        uint64_t left;
        size_t some;

        if (writer->stage != OPEN || !tensor)
            return refuse(writer->env, "there is no tensor left that these "
                                       "bytes could be of");
        left = tensor->size - writer->next_at;
        some = size < left ? size : (size_t)left;
        if (pad_to(writer, draft->data_offset + tensor->offset) != MF_OK ||
            mf_writer_write_at(writer, writer->env,
                               (size_t)(tensor - draft->tensor),
                               writer->next_at, from, some) != MF_OK)
            return writer->env->error.status;
        writer->next_at += some;
        from += some;
        size -= some;
    }
    return MF_OK;
}

enum mf_status mf_writer_fill(struct mf_writer *writer, mf_produce *produce,
                              void *user)
{
    const struct mf_draft *draft = &writer->output.draft;
    const struct mf_draft_tensor *tensor;
    uint8_t *buffer;
    enum mf_status status = MF_OK;

    mf_clear_error(writer->env);
    buffer = mf_alloc(writer->env, PIECE);
    if (!buffer)
        return writer->env->error.status;
    while (status == MF_OK && (tensor = next_tensor(writer)) != NULL) {
        uint64_t left = tensor->size - writer->next_at;
        size_t size = left < PIECE ? (size_t)left : PIECE;

        memset(buffer, 0, size); /* what is not produced is nothing of ours */
        status = produce(user, (size_t)(tensor - draft->tensor),
                         writer->next_at, buffer, size);
        if (status == MF_OK)
            status = mf_writer_push(writer, buffer, size);
    }
    mf_release(writer->env, buffer, PIECE);
    return status;
}

/* ---- the end ---- */

static enum mf_status check_whole(struct mf_writer *writer)
{
    const struct mf_draft *draft = &writer->output.draft;

    if (writer->stage != OPEN)
        return refuse(writer->env, "the writer is not open");
    for (size_t i = 0; i < draft->tensor_count; i++) {
        uint64_t got =
            atomic_load_explicit(&writer->got[i], memory_order_relaxed);

        if (got != draft->tensor[i].size)
            return mf_fail(writer->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor '%s' was given %" PRIu64
                           " bytes, it has %" PRIu64,
                           mf_quote(draft->tensor[i].name).text, got,
                           draft->tensor[i].size);
    }
    return MF_OK;
}

enum mf_status mf_writer_commit(struct mf_writer *writer)
{
    struct mf_output *output = &writer->output;
    struct mf_crew crew = { 0 };
    uint64_t size = output->draft.file_size;
    enum mf_status status;

    mf_clear_error(writer->env);
    status = check_whole(writer);
    if (status == MF_OK)
        status =
            pad_to(writer, output->draft.data_offset + output->draft.data_size);
    if (status == MF_OK)
        status = mf_crew_init(&crew, writer->env, size, size, 0);
    if (status == MF_OK)
        status = mf_output_foot(output, &crew);
    mf_crew_release(&crew);
    if (status == MF_OK)
        status = mf_target_sync(&output->target);
    if (status == MF_OK)
        status = mf_target_commit(&output->target);
    if (status == MF_OK)
        writer->stage = DONE;
    return status;
}
