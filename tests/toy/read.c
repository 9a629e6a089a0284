/* SPDX-License-Identifier: MIT
 *
 * read.c - the toy format's header, and its values one event at a time
 *
 * What the file claims is compared with the bytes that are left before anything
 * is allocated or looped over.
 */
#include "tests/toy/toy.h"

static enum mf_status status_of(const struct mf_reader *reader)
{
    return reader->env->error.status;
}

/* A text with its length before it, terminated, in the arena. */
static enum mf_status read_text(struct mf_reader *reader,
                                struct mf_index *index, const char *what,
                                struct mf_str *out)
{
    uint64_t size = mf_take_u64(reader);
    char *text;

    if (size > MF_NAME_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_LIMIT,
                         mf_reader_offset(reader),
                         "%s has %" PRIu64 " bytes, at most %d are read", what,
                         size, MF_NAME_MAX);
    if (size > mf_reader_left(reader))
        mf_skip(reader, size); /* the reader fails: the file is truncated */
    if (mf_reader_check(reader, what) != MF_OK)
        return status_of(reader);
    text = mf_arena_text(&index->arena, (size_t)size);
    if (!text)
        return status_of(reader);
    mf_take_bytes(reader, text, (size_t)size);
    *out = (struct mf_str){ text, (size_t)size };
    return MF_OK;
}

/* ---- metadata ---- */

static bool is_value_type(unsigned type)
{
    return type <= MF_VALUE_F64 && type != MF_VALUE_ARRAY;
}

static enum mf_status unknown_type(struct mf_reader *reader,
                                   const struct mf_meta *meta, unsigned type)
{
    return mf_refuse(reader->env, MF_RULE_FILE_VALUE_TYPE,
                     mf_reader_offset(reader) - 1, "'%s' has unknown type %u",
                     mf_quote(meta->key).text, type);
}

static enum mf_status read_string(struct mf_reader *reader,
                                  struct mf_index *index, struct mf_meta *meta)
{
    char *text;

    meta->count = mf_take_u64(reader);
    meta->span.offset = mf_reader_offset(reader);
    if (meta->count > MF_TEXT_KEPT || meta->count > mf_reader_left(reader)) {
        mf_skip(reader, meta->count); /* read when it is wanted */
        return MF_OK;
    }
    text = mf_arena_text(&index->arena, (size_t)meta->count);
    if (!text)
        return status_of(reader);
    mf_take_bytes(reader, text, (size_t)meta->count);
    meta->text = (struct mf_str){ text, (size_t)meta->count };
    return MF_OK;
}

static enum mf_status read_array(struct mf_reader *reader, struct mf_meta *meta)
{
    unsigned of = mf_take_u8(reader);

    meta->count = mf_take_u64(reader);
    if (!reader->failed && !is_value_type(of))
        return unknown_type(reader, meta, of);
    meta->of = (enum mf_value_type)of;
    if (meta->count > mf_reader_left(reader) / 8) /* none is shorter */
        mf_skip(reader, UINT64_MAX);
    else if (of != MF_VALUE_STRING)
        mf_skip(reader, 8 * meta->count);
    else
        for (uint64_t i = 0; i < meta->count && !reader->failed; i++)
            mf_skip(reader, mf_take_u64(reader));
    return MF_OK;
}

static enum mf_status read_key(struct mf_reader *reader, struct mf_index *index,
                               struct mf_part *part, struct mf_split_keys *keys)
{
    struct mf_meta *meta = mf_index_add_meta(index, part);
    enum mf_status status = MF_OK;
    unsigned type;

    if (!meta || read_text(reader, index, "a key", &meta->key) != MF_OK)
        return status_of(reader);
    type = mf_take_u8(reader);
    if (type != MF_VALUE_ARRAY && !is_value_type(type))
        return unknown_type(reader, meta, type);
    meta->type = (enum mf_value_type)type;
    meta->span.offset = mf_reader_offset(reader);
    if (type == MF_VALUE_STRING)
        status = read_string(reader, index, meta);
    else if (type == MF_VALUE_ARRAY)
        status = read_array(reader, meta);
    else
        meta->number.u64 = mf_take_u64(reader);
    if (status != MF_OK || mf_reader_check(reader, "a value") != MF_OK)
        return status_of(reader);
    meta->span.size = mf_reader_offset(reader) - meta->span.offset;
    mf_split_key(index, part, meta, keys);
    return MF_OK;
}

/* ---- tensors ---- */

static enum mf_status read_tensor(struct mf_reader *reader,
                                  struct mf_index *index,
                                  const struct mf_part *part)
{
    struct mf_record record = mf_record_begin(part, mf_reader_offset(reader));
    struct mf_str name;
    uint64_t *dim;

    if (read_text(reader, index, "a tensor's name", &name) != MF_OK)
        return status_of(reader);
    record.name = name.at;
    record.name_size = (uint16_t)name.size;
    record.type_id = mf_take_u8(reader);
    record.type = (uint16_t)toy_type_of(record.type_id);
    record.rank = mf_take_u8(reader);
    if (record.rank > MF_RANK_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_RANK, record.entry,
                         "tensor '%s' has %u dimensions, at most %d are read",
                         mf_record_name(&record).text, record.rank,
                         MF_RANK_MAX);
    dim = mf_index_dims(index, record.rank);
    if (!dim)
        return status_of(reader);
    for (unsigned i = 0; i < record.rank; i++)
        dim[i] = mf_take_u64(reader);
    record.dim = dim;
    record.offset = mf_take_u64(reader);
    record.size = mf_take_u64(reader);
    record.flags = MF_RECORD_SIZED;
    if (mf_reader_check(reader, "the tensor list") != MF_OK)
        return status_of(reader);
    return mf_index_add(index, &record);
}

enum mf_status toy_parse(struct mf_reader *reader, struct mf_index *index,
                         struct mf_part *part)
{
    struct mf_split_keys keys = { 0 };
    uint64_t key_count, tensor_count;

    mf_skip(reader, 8); /* magic and version: see probe */
    key_count = mf_take_u64(reader);
    tensor_count = mf_take_u64(reader);
    part->data_offset = mf_take_u64(reader);
    part->alignment = TOY_ALIGNMENT;
    if (mf_reader_check(reader, "the header") != MF_OK)
        return status_of(reader);
    /* These loops end early where the file does: each entry takes bytes. */
    for (; key_count > 0; key_count--)
        if (read_key(reader, index, part, &keys) != MF_OK)
            return status_of(reader);
    mf_split_finish(index, part, &keys);
    for (; tensor_count > 0 && !index->metadata_only; tensor_count--)
        if (read_tensor(reader, index, part) != MF_OK)
            return status_of(reader);
    if (part->data_offset < mf_reader_offset(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, 24,
                         "the data begins at %" PRIu64
                         ", inside the header, which ends at %" PRIu64,
                         part->data_offset, mf_reader_offset(reader));
    return MF_OK;
}

/* ---- values ---- */

static enum mf_status next_item(struct mf_values *values,
                                enum mf_value_type type, struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;

    out->event = MF_EVENT_ITEM;
    out->type = type;
    if (type == MF_VALUE_STRING) {
        values->text_event = MF_EVENT_ITEM;
        values->text_left =
            values->depth == 0 ? values->meta.count : mf_take_u64(reader);
        return mf_values_text(values, out);
    }
    out->number.u64 = mf_take_u64(reader);
    return mf_reader_check(reader, "a value");
}

enum mf_status toy_value_next(struct mf_values *values, struct mf_value *out)
{
    struct mf_level *array = &values->level[0];

    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started) {
        values->started = true;
        if (values->meta.type != MF_VALUE_ARRAY)
            return next_item(values, values->meta.type, out);
        mf_skip(&values->reader, 1 + 8); /* type and count, as in meta */
        values->depth = 1;
        array->left = values->meta.count;
        out->event = MF_EVENT_BEGIN;
        out->type = MF_VALUE_ARRAY;
        out->of = values->meta.of;
        out->count = array->left;
    } else if (values->depth == 0) {
        values->done = true;
    } else if (array->left > 0) {
        array->left--;
        return next_item(values, values->meta.of, out);
    } else {
        values->depth = 0;
        out->event = MF_EVENT_END;
        out->type = MF_VALUE_ARRAY;
    }
    return MF_OK;
}
