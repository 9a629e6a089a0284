/* SPDX-License-Identifier: MIT
 *
 * values.c - reading a metadata value as events, whatever its format
 */
#include "lib/model/values.h"

#include <assert.h>

#include "lib/base/text.h"
#include "lib/model/model.h"

/* Smaller than a reader's usual window: a listing shows the first elements of
 * many arrays and should not read 128 KiB of each. */
#define VALUES_WINDOW ((size_t)16 * 1024)

/* Of text that must be unescaped. */
#define PIECE ((size_t)4096)

const char *mf_value_type_name(enum mf_value_type type)
{
    static const char *const names[] = {
        [MF_VALUE_U8] = "u8",         [MF_VALUE_I8] = "i8",
        [MF_VALUE_U16] = "u16",       [MF_VALUE_I16] = "i16",
        [MF_VALUE_U32] = "u32",       [MF_VALUE_I32] = "i32",
        [MF_VALUE_F32] = "f32",       [MF_VALUE_BOOL] = "bool",
        [MF_VALUE_STRING] = "string", [MF_VALUE_ARRAY] = "array",
        [MF_VALUE_U64] = "u64",       [MF_VALUE_I64] = "i64",
        [MF_VALUE_F64] = "f64",       [MF_VALUE_NULL] = "null",
        [MF_VALUE_OBJECT] = "object", [MF_VALUE_MIXED] = "mixed",
    };

    return (unsigned)type < sizeof(names) / sizeof(*names) ? names[type]
                                                           : "unknown";
}

/* Values whose events `next` gives. */
static struct mf_values *values_new(struct mf_env *env,
                                    enum mf_status (*next)(struct mf_values *,
                                                           struct mf_value *))
{
    size_t piece = next == mf_json_value_next ? PIECE : 0;
    struct mf_values *values = mf_alloc(env, sizeof(*values) + piece);

    if (values)
        *values =
            (struct mf_values){ .env = env, .next = next, .piece_room = piece };
    return values;
}

static void values_free(struct mf_values *values)
{
    mf_release(values->env, values, sizeof(*values) + values->piece_room);
}

enum mf_status mf_values_open(struct mf_model *model, size_t index,
                              struct mf_values **out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    struct mf_env *env = model->env;
    struct mf_values *values;
    struct mf_meta meta;

    mf_clear_error(env);
    if (!mf_meta_at(model, index, &meta))
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "invalid metadata index %zu: the model has %zu keys",
                       index, model->index.meta_count);
    values = values_new(env, model->format->value_next);
    if (!values)
        return env->error.status;
    values->version = model->index.kind.version;
    values->meta = meta;
    if (mf_reader_init_span(&values->reader, env,
                            &model->file[meta.shard].source, meta.span,
                            VALUES_WINDOW) != MF_OK) {
        values_free(values);
        return env->error.status;
    }
    values->reader.big_endian = model->index.kind.byte_order == MF_BIG_ENDIAN;
    values->model = model;
    mf_model_hold(model);
    *out = values;
    return MF_OK;
}

/* ---- JSON in a string ----
 *
 * A value may be a string that contains JSON (safetensors has no other type).
 * Its bytes may be escaped in the file, so they have no offset there: the
 * string is read as a value, and its pieces are the source of a second reader,
 * on which the JSON tokenizer runs.  That source can only be read in order,
 * which is all that the tokenizer does. */
static int64_t text_read(const struct mf_source *source, uint64_t offset,
                         void *buffer, size_t size, struct mf_io_stats *io)
{
    struct mf_values *values = (struct mf_values *)source->user;
    struct mf_value piece;

    (void)offset, (void)io;
    assert(values->text);
    while (values->rest.size == 0) {
        if (mf_values_next(values->text, &piece) != MF_OK)
            return -1;
        if (piece.event == MF_EVENT_DONE)
            return 0;
        values->rest = piece.text;
    }
    size = size < values->rest.size ? size : values->rest.size;
    memcpy(buffer, values->rest.at, size);
    values->rest.at += size;
    values->rest.size -= size;
    return (int64_t)size;
}

static const struct mf_source_ops text_ops = { .read = text_read };

enum mf_status mf_values_open_text(struct mf_model *model, size_t index,
                                   struct mf_values **out)
{
    struct mf_env *env = model->env;
    struct mf_values *values = values_new(env, mf_json_value_next);
    struct mf_span span = { 0 };

    if (!values)
        return env->error.status;
    if (mf_values_open(model, index, &values->text) != MF_OK) {
        values_free(values);
        return env->error.status;
    }
    span.size = values->text->meta.count;
    values->meta.count = span.size;
    values->source = (struct mf_source){ .ops = &text_ops,
                                         .name = "",
                                         .size = span.size,
                                         .fd = -1,
                                         .user = values };
    if (mf_reader_init_span(&values->reader, env, &values->source, span,
                            VALUES_WINDOW) != MF_OK) {
        mf_values_close(values);
        return env->error.status;
    }
    *out = values;
    return MF_OK;
}

/* ---- events ---- */

enum mf_status mf_values_next(struct mf_values *values, struct mf_value *out)
{
    MF_NEED(NULL, values);
    MF_NEED(values->env, out);

    mf_clear_error(values->env);
    *out = (struct mf_value){ .event = MF_EVENT_DONE };
    if (values->done)
        return MF_OK;
    if (values->model && values->model->closed)
        return mf_fail(values->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the model was closed");
    values->next(values, out);
    values->done = values->done || values->env->error.status != MF_OK;
    return values->env->error.status;
}

void mf_values_close(struct mf_values *values)
{
    struct mf_values *text;
    struct mf_model *model;

    if (!values)
        return;
    text = values->text;
    model = values->model;
    mf_reader_release(&values->reader);
    values_free(values);
    mf_values_close(text);
    if (model)
        mf_model_leave(model);
}

enum mf_status mf_values_text(struct mf_values *values, struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;
    size_t size = values->text_left < reader->capacity
                      ? (size_t)values->text_left
                      : reader->capacity;
    const char *text = (const char *)mf_take(reader, size);
    size_t whole;

    if (!text)
        return mf_reader_check(reader, "a string");
    /* A character that is cut by the end of the piece is left for the next one,
     * unless it is all there is. */
    whole = size < values->text_left ? mf_utf8_whole(text, size) : size;
    if (whole == 0)
        whole = size;
    reader->at -= size - whole;
    values->text_left -= whole;
    out->event = values->text_event;
    out->type = MF_VALUE_STRING;
    out->text = (struct mf_str){ text, whole };
    out->more = values->text_left > 0;
    return MF_OK;
}
