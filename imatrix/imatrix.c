/* SPDX-License-Identifier: MIT
 *
 * imatrix.c - the importance matrices that llama-imatrix wrote before 2025
 *
 * Little-endian; no magic, no version, no alignment:
 *
 *     i32              entries
 *     for each entry
 *       i32, bytes     length of its name, name
 *       i32            calls: how often the tensor was used
 *       i32, f32...    count of values, values: sums over the calls
 *     in later versions
 *       i32            chunks of text that it was made from
 *       i32, bytes     length of the name of that text, name
 *
 * In the index an entry is a tensor with its name and one dimension.  What else
 * the file says has the keys of the GGUF files that came after it, and
 * "imatrix.calls", an array with a number for each entry.
 */
#include "lib/model/format.h"

/* The fewest bytes of an entry: three numbers, a name of one byte, a value. */
#define ENTRY_MIN (3 * 4 + 1 + 4)

/* ---- the entries of an old importance matrix, and what follows them ---- */

/* Without a magic, each number is all there is to tell such a file from another
 * one that happens to begin with small numbers: so all of them are checked, and
 * bytes after the end are an error. */

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

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    uint32_t count = mf_take_u32(reader);
    size_t first = index->tensor_count;

    if (mf_reader_check(reader, "the count of entries") != MF_OK)
        return status_of(reader);
    if (count > mf_reader_left(reader) / ENTRY_MIN)
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

/* ---- detection ---- */

/* More than ten times what the largest models have. */
#define ENTRIES_MAX 0xffffff

/* There is no magic.  What begins with a small number, the length of a name and
 * a name without control characters is most likely such a file: of all foreign
 * formats that we know none does. */
static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    uint32_t count, size;

    (void)out;
    if (head->size < 4 + ENTRY_MIN)
        return false;
    count = mf_little_32(head->at);
    size = mf_little_32(head->at + 4);
    if (count == 0 || count > ENTRIES_MAX || size == 0 || size > MF_NAME_MAX)
        return false;
    for (size_t at = 8; at < head->size && at - 8 < size; at++)
        if (head->at[at] < ' ' || head->at[at] == 0x7f)
            return false;
    return true;
}

static uint32_t type_id(enum mf_type type)
{
    return type == MF_TYPE_F32 ? 0 : MF_NO_TYPE_ID;
}

/* ---- values ---- */

/* The calls of the next entry. */
static enum mf_status next_calls(struct mf_reader *reader, struct mf_value *out)
{
    mf_skip(reader, mf_take_u32(reader));
    out->number.i64 = (int32_t)mf_take_u32(reader);
    mf_skip(reader, (uint64_t)mf_take_u32(reader) * sizeof(float));
    return mf_reader_check(reader, "an entry");
}

static enum mf_status next_item(struct mf_values *values,
                                enum mf_value_type type, struct mf_value *out)
{
    struct mf_reader *reader = &values->reader;

    out->event = MF_EVENT_ITEM;
    out->type = type;
    if (type == MF_VALUE_STRING) {
        values->text_event = MF_EVENT_ITEM;
        values->text_left = mf_take_u32(reader);
        if (values->text_left > mf_reader_left(reader))
            return mf_fail(values->env, MF_ERR_IO, mf_reader_offset(reader),
                           "the value has changed since the file was opened");
        return mf_values_text(values, out);
    }
    if (values->depth > 0)
        return next_calls(reader, out);
    out->number.i64 = (int32_t)mf_take_u32(reader);
    return mf_reader_check(reader, "a number");
}

static enum mf_status value_next(struct mf_values *values, struct mf_value *out)
{
    struct mf_level *array = &values->level[0];

    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started) {
        values->started = true;
        if (values->meta.type != MF_VALUE_ARRAY)
            return next_item(values, values->meta.type, out);
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

static const struct mf_fact_row facts[] = {
    { 0, NULL },
};

const struct mf_format mf_format_imatrix = {
    .name = "imatrix",
    .variant = "",
    .suffix = ".dat",
    .description = "importance matrices of llama-imatrix before 2025",
    .layout = MF_LAYOUT_INLINE,
    .values = MF_VALUES_TYPED,
    .fastest_first = true,
    .accessory = true,
    .readers = MF_READER_LLAMA,
    .probe = probe,
    .parse = parse,
    .value_next = value_next,
    .type_id = type_id,
    .facts = facts,
};
