/* SPDX-License-Identifier: MIT
 *
 * read.c - the entries of an old importance matrix, and what follows them
 *
 * Without a magic, each number is all there is to tell such a file from another
 * one that happens to begin with small numbers: so all of them are checked, and
 * bytes after the end are an error.
 */
#include "imatrix/imatrix.h"

static enum mf_status status_of(const struct mf_reader *reader)
{
    return reader->env->error.status;
}

/* A count or length that exceeds what is left. */
static enum mf_status too_large(struct mf_reader *reader, uint64_t offset,
                                const char *what, uint64_t number)
{
    return mf_refuse(reader->env, MF_RULE_FILE_COUNT, offset,
                     "%s is %" PRIu64 ", but %" PRIu64 " bytes are left", what,
                     number, mf_reader_left(reader));
}

/* A NUL or another control character. */
static bool has_control(struct mf_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((uint8_t)text.at[i] < ' ' || text.at[i] == 0x7f)
            return true;
    return false;
}

/* The name of an entry, terminated, in the arena of tensors. */
static enum mf_status read_name(struct mf_reader *reader,
                                struct mf_index *index, struct mf_str *out)
{
    uint64_t at = mf_reader_offset(reader);
    uint32_t size = mf_take_u32(reader);
    char *text;

    if (mf_reader_check(reader, "an entry") != MF_OK)
        return status_of(reader);
    if (size > mf_reader_left(reader))
        return too_large(reader, at, "the length of a name", size);
    if (size == 0 || size > MF_NAME_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, at,
                         "a name has %" PRIu32 " bytes, expected 1 to %d", size,
                         MF_NAME_MAX);
    text = mf_arena_text(&index->tensor_arena, size);
    if (!text || !mf_take_bytes(reader, text, size))
        return mf_reader_check(reader, "a name") == MF_OK ? MF_ERR_MEMORY
                                                          : status_of(reader);
    *out = (struct mf_str){ text, size };
    if (has_control(*out))
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, at,
                         "the name '%s' has a control character",
                         mf_quote(*out).text);
    return MF_OK;
}

static enum mf_status read_entry(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part)
{
    struct mf_record record = mf_record_begin(part, mf_reader_offset(reader));
    uint64_t *dim = mf_index_dims(index, 1), at;
    struct mf_str name;
    uint32_t count;

    if (!dim || read_name(reader, index, &name) != MF_OK)
        return status_of(reader);
    mf_take_u32(reader); /* calls: see "imatrix.calls" */
    at = mf_reader_offset(reader);
    count = mf_take_u32(reader);
    if (mf_reader_check(reader, "an entry") != MF_OK)
        return status_of(reader);
    if (count == 0)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, at,
                         "entry '%s' has no values", mf_quote(name).text);
    if (count > mf_reader_left(reader) / sizeof(float))
        return too_large(reader, at, "the count of an entry's values", count);
    *dim = count;
    record.name = name.at;
    record.name_size = (uint16_t)name.size;
    record.type = MF_TYPE_F32;
    record.rank = 1;
    record.dim = dim;
    record.offset = mf_reader_offset(reader);
    mf_skip(reader, count * sizeof(float));
    return index->metadata_only ? MF_OK : mf_index_add(index, &record);
}

/* ---- metadata ---- */

static enum mf_status add_meta(struct mf_index *index,
                               const struct mf_part *part, struct mf_meta meta,
                               const char *key)
{
    struct mf_meta *row = mf_index_add_meta(index, part);

    if (!row)
        return index->env->error.status;
    meta.key = (struct mf_str){ key, strlen(key) };
    meta.shard = row->shard;
    *row = meta;
    return MF_OK;
}

static enum mf_status add_calls(const struct mf_reader *reader,
                                struct mf_index *index,
                                const struct mf_part *part, uint32_t count)
{
    struct mf_meta meta = { .type = MF_VALUE_ARRAY,
                            .of = MF_VALUE_I32,
                            .count = count,
                            .span = { .offset = sizeof(count) } };

    meta.span.size = mf_reader_offset(reader) - meta.span.offset;
    return add_meta(index, part, meta, "imatrix.calls");
}

/* What later versions wrote after the entries. */
static enum mf_status read_tail(struct mf_reader *reader,
                                struct mf_index *index,
                                const struct mf_part *part)
{
    struct mf_meta chunks = { .type = MF_VALUE_I32,
                              .span = { mf_reader_offset(reader), 4 } };
    struct mf_meta datasets = { .type = MF_VALUE_ARRAY, .of = MF_VALUE_STRING };
    uint32_t size;

    if (mf_reader_left(reader) == 0)
        return MF_OK;
    chunks.number.i64 = (int32_t)mf_take_u32(reader);
    datasets.span.offset = mf_reader_offset(reader);
    size = mf_take_u32(reader);
    if (mf_reader_check(reader, "the name of the text") != MF_OK)
        return status_of(reader);
    if (size > mf_reader_left(reader))
        return too_large(reader, datasets.span.offset,
                         "the length of the text's name", size);
    mf_skip(reader, size);
    datasets.count = size > 0;
    datasets.span.size = mf_reader_offset(reader) - datasets.span.offset;
    if (mf_reader_left(reader) > 0)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD,
                         mf_reader_offset(reader),
                         "%" PRIu64 " bytes follow the end of the matrix",
                         mf_reader_left(reader));
    if (add_meta(index, part, chunks, "imatrix.chunk_count") != MF_OK)
        return status_of(reader);
    return add_meta(index, part, datasets, "imatrix.datasets");
}

enum mf_status mf_imatrix_parse(struct mf_reader *reader,
                                struct mf_index *index, struct mf_part *part)
{
    uint32_t count = mf_take_u32(reader);
    size_t first = index->tensor_count;

    if (mf_reader_check(reader, "the count of entries") != MF_OK)
        return status_of(reader);
    if (count > mf_reader_left(reader) / IMATRIX_ENTRY_MIN)
        return too_large(reader, 0, "the count of entries", count);
    part->alignment = 1;
    for (uint32_t i = 0; i < count; i++)
        if (read_entry(reader, index, part) != MF_OK)
            return status_of(reader);
    if (add_calls(reader, index, part, count) != MF_OK ||
        read_tail(reader, index, part) != MF_OK)
        return status_of(reader);
    /* Offsets count from the first values. */
    if (index->tensor_count > first)
        part->data_offset = index->tensor[first].offset;
    for (size_t i = first; i < index->tensor_count; i++)
        index->tensor[i].offset -= part->data_offset;
    return MF_OK;
}
