/* SPDX-License-Identifier: MIT
 *
 * index.c - the packed tensor index of APR version 2
 */
#include "apr/apr.h"

#define RANK_WRITTEN 8   /* aprender truncates longer shapes */
#define NAME_WRITTEN 256 /* and longer names */

/* Reserves memory for all tensors from the sizes of those entries that are in
 * the reader's window already. */
static enum mf_status reserve_tables(struct mf_reader *reader,
                                     struct mf_index *index, uint64_t count)
{
    struct mf_reader ahead = mf_reader_ahead(reader);
    uint64_t seen = 0, names = 0, dims = 0;

    while (seen < count) {
        uint16_t size = mf_take_u16(&ahead);
        uint8_t rank;

        mf_skip(&ahead, size + 1u); /* and the dtype */
        rank = mf_take_u8(&ahead);
        mf_skip(&ahead, rank * 8u + 8 + 8);
        if (ahead.failed || rank > MF_RANK_MAX)
            break; /* the end of the window, or refused by read_entry */
        seen++;
        names += size;
        dims += rank;
    }
    return mf_index_reserve(index, count, seen, names, dims);
}

static void check_name(struct mf_index *index, const struct mf_record *record)
{
    struct mf_str name = { record->name, record->name_size };
    const char *what = NULL;
    enum mf_severity severity = MF_ERROR;

    if (name.size == 0) {
        what = "is empty";
    } else if (!mf_text_is_utf8(name.at, name.size) ||
               memchr(name.at, 0, name.size)) {
        what = "is not UTF-8 or contains a NUL";
    } else if (mf_text_clean(name.at, name.size) < name.size) {
        what = "contains a control or invisible character";
        severity = MF_WARNING;
    } else if (name.size > NAME_WRITTEN) {
        what = "is longer than the 256 bytes that aprender writes";
        severity = MF_WARNING;
    }
    if (what)
        mf_index_note_of(index, record, severity, MF_RULE_APR_NAME,
                         record->entry, "the name of tensor '%s' %s",
                         mf_quote(name).text, what);
}

/* The index must be sorted by the bytes of the names. */
static void check_order(struct mf_index *index, const struct mf_part *part,
                        const struct mf_record *record)
{
    const struct mf_record *before;
    size_t shared;
    int order;

    if (index->tensor_count == part->first)
        return;
    before = &index->tensor[index->tensor_count - 1];
    shared = before->name_size < record->name_size ? before->name_size
                                                   : record->name_size;
    order = memcmp(before->name, record->name, shared);
    if (order > 0 || (order == 0 && before->name_size > record->name_size))
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_APR_INDEX_ORDER, record->entry,
            "tensor '%s' comes after '%s', but the index must be "
            "sorted by name",
            mf_record_name(record).text, mf_record_name(before).text);
}

static enum mf_status read_name(struct mf_reader *reader,
                                struct mf_index *index,
                                struct mf_record *record)
{
    uint16_t size = mf_take_u16(reader);
    char *name = mf_arena_text(&index->tensor_arena, size);

    if (!name)
        return reader->env->error.status;
    mf_take_bytes(reader, name, size);
    record->name = name;
    record->name_size = size;
    return MF_OK;
}

static enum mf_status read_shape(struct mf_reader *reader,
                                 struct mf_index *index,
                                 struct mf_record *record)
{
    uint64_t *dim;

    record->rank = mf_take_u8(reader);
    if (record->rank > MF_RANK_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_RANK, record->entry,
                         "tensor '%s' has %u dimensions, the limit is %d",
                         mf_record_name(record).text, record->rank,
                         MF_RANK_MAX);
    dim = mf_index_dims(index, record->rank);
    if (!dim)
        return reader->env->error.status;
    for (uint8_t i = 0; i < record->rank; i++)
        dim[i] = mf_take_u64(reader);
    record->dim = dim;
    return MF_OK;
}

static enum mf_status read_entry(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part)
{
    struct mf_record record = mf_record_begin(part, mf_reader_offset(reader));

    if (read_name(reader, index, &record) != MF_OK)
        return reader->env->error.status;
    record.type_id = mf_take_u8(reader);
    if (read_shape(reader, index, &record) != MF_OK)
        return reader->env->error.status;
    record.offset = mf_take_u64(reader);
    record.size = mf_take_u64(reader);
    if (mf_reader_check(reader, "the tensor index") != MF_OK)
        return reader->env->error.status;
    check_name(index, &record);
    check_order(index, part, &record);
    if (record.rank > RANK_WRITTEN)
        mf_index_note_of(
            index, &record, MF_WARNING, MF_RULE_APR_RANK, record.entry,
            "tensor '%s' has %u dimensions, but aprender writes at "
            "most %d",
            mf_record_name(&record).text, record.rank, RANK_WRITTEN);
    mf_apr_resolve_type(index, &record);
    return mf_index_add(index, &record);
}

enum mf_status mf_apr_read_index(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part, uint32_t count)
{
    if (count == 0)
        return MF_OK; /* no index: the data may begin here */
    if (reserve_tables(reader, index, count) != MF_OK)
        return reader->env->error.status;
    for (; count > 0; count--)
        if (read_entry(reader, index, part) != MF_OK)
            return reader->env->error.status;
    return MF_OK;
}
