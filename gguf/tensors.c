/* SPDX-License-Identifier: MIT
 *
 * tensors.c - the tensor infos of a GGUF header
 */
#include "gguf/gguf.h"

#define RANK_ALLOWED 4
#define NAME_ALLOWED 64 /* by the specification; ggml allows 63 */

/* Reserves memory for all tensors from the sizes of those infos that are in
 * the reader's window already. */
static enum mf_status reserve_tables(struct mf_reader *reader,
                                     struct mf_index *index, uint64_t count)
{
    uint32_t version = index->kind.version;
    struct mf_reader ahead = mf_reader_ahead(reader);
    uint64_t seen = 0, names = 0, dims = 0;

    while (seen < count) {
        uint64_t size = mf_gguf_take_count(&ahead, version);
        uint32_t rank;

        mf_skip(&ahead, size);
        rank = mf_take_u32(&ahead);
        mf_skip(&ahead, rank * mf_gguf_count_size(version) + 4 + 8);
        if (ahead.failed || rank > MF_RANK_MAX || size > MF_NAME_MAX)
            break; /* the end of the window, or refused by read_info later */
        seen++;
        names += size;
        dims += rank;
    }
    return mf_index_reserve(index, count, seen, names, dims);
}

/* ---- findings ---- */

static void check_name(struct mf_index *index, const struct mf_record *record)
{
    struct mf_str name = { record->name, record->name_size };

    if (name.size > NAME_ALLOWED)
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_GGUF_NAME_LENGTH,
                         record->entry,
                         "tensor '%s' has a name of %zu bytes, the limit is %d",
                         mf_quote(name).text, name.size, NAME_ALLOWED);
    else if (name.size == NAME_ALLOWED)
        mf_index_note_of(
            index, record, MF_ERROR_ELSEWHERE, MF_RULE_GGUF_NAME_64,
            record->entry,
            "tensor '%s' has a name of %zu bytes, llama.cpp's limit is %d",
            mf_quote(name).text, name.size, NAME_ALLOWED - 1);
    else if (name.size == 0)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_NAME,
                         record->entry, "a tensor has no name");
    if (mf_text_clean(name.at, name.size) == name.size)
        return;
    mf_index_note_of(index, record,
                     mf_text_is_utf8(name.at, name.size) &&
                             !memchr(name.at, 0, name.size)
                         ? MF_WARNING
                         : MF_ERROR,
                     MF_RULE_GGUF_NAME_CHARS, record->entry,
                     "the name of tensor '%s' contains a control or invisible "
                     "character or is not UTF-8",
                     mf_quote(name).text);
}

/* A tensor without elements.  With a dimension of 0 the product is 0 whatever
 * the others are, so an absurd one is reported here or never. */
static void check_empty(struct mf_index *index, const struct mf_record *record)
{
    uint32_t zero = 0, large = 0;

    while (zero < record->rank && record->dim[zero] != 0)
        zero++;
    while (large < record->rank && record->dim[large] <= INT64_MAX)
        large++;
    if (zero == record->rank)
        return;
    mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_DIM_ZERO,
                     record->entry, "dimension %u of tensor '%s' is 0", zero,
                     mf_record_name(record).text);
    if (large < record->rank)
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_TENSOR_OVERFLOW, record->entry,
            "dimension %u of tensor '%s' is %" PRIu64 ", above 2^63 - 1", large,
            mf_record_name(record).text, record->dim[large]);
}

static void check_shape(struct mf_index *index, const struct mf_record *record)
{
    if (record->rank > RANK_ALLOWED)
        mf_index_note_of(
            index, record, MF_ERROR, MF_RULE_GGUF_RANK, record->entry,
            "tensor '%s' has %u dimensions, the limit is %d",
            mf_record_name(record).text, record->rank, RANK_ALLOWED);
    if (record->rank == 0)
        mf_index_note_of(index, record, MF_WARNING, MF_RULE_GGUF_RANK,
                         record->entry, "tensor '%s' has no dimensions",
                         mf_record_name(record).text);
    check_empty(index, record);
}

static void check_type(struct mf_index *index, const struct mf_record *record)
{
    bool removed;
    const char *name;

    if (record->type != MF_TYPE_UNKNOWN)
        return;
    name = mf_gguf_fork_type(record->type_id, &removed);
    if (!name)
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_GGUF_TYPE,
                         record->entry, "tensor '%s' has unknown type %" PRIu32,
                         mf_record_name(record).text, record->type_id);
    else if (removed)
        mf_index_note_of(index, record, MF_ERROR, MF_RULE_GGUF_TYPE,
                         record->entry,
                         "tensor '%s' has type %" PRIu32
                         " (%s), which was removed from the format",
                         mf_record_name(record).text, record->type_id, name);
    else
        mf_index_note_of(index, record, MF_ERROR_ELSEWHERE,
                         MF_RULE_GGUF_TYPE_FORK, record->entry,
                         "tensor '%s' has type %" PRIu32
                         " (%s), which only ik_llama.cpp reads",
                         mf_record_name(record).text, record->type_id, name);
}

/* ---- one info ---- */

static enum mf_status read_name(struct mf_reader *reader,
                                struct mf_index *index,
                                struct mf_record *record)
{
    uint64_t size = mf_gguf_take_count(reader, index->kind.version);
    char *name;

    if (mf_reader_check(reader, "the tensor list") != MF_OK)
        return reader->env->error.status;
    if (size > mf_reader_left(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, record->entry,
                         "a tensor's name claims %" PRIu64
                         " bytes, but only %" PRIu64 " are left",
                         size, mf_reader_left(reader));
    if (size > MF_NAME_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_LIMIT, record->entry,
                         "a tensor's name has %" PRIu64
                         " bytes, the limit is %d",
                         size, MF_NAME_MAX);
    name = mf_arena_text(&index->tensor_arena, (size_t)size);
    if (!name)
        return reader->env->error.status;
    mf_take_bytes(reader, name, (size_t)size);
    record->name = name;
    record->name_size = (uint16_t)size;
    return MF_OK;
}

static enum mf_status read_shape(struct mf_reader *reader,
                                 struct mf_index *index,
                                 struct mf_record *record)
{
    uint32_t rank = mf_take_u32(reader);
    uint64_t *dim;

    if (rank > MF_RANK_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_RANK, record->entry,
                         "tensor '%s' has %" PRIu32
                         " dimensions, but GGUF allows %d",
                         mf_record_name(record).text, rank, RANK_ALLOWED);
    dim = mf_index_dims(index, rank);
    if (!dim)
        return reader->env->error.status;
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = mf_gguf_take_count(reader, index->kind.version);
    record->rank = (uint8_t)rank;
    record->dim = dim;
    return MF_OK;
}

static enum mf_status read_info(struct mf_reader *reader,
                                struct mf_index *index,
                                const struct mf_part *part)
{
    struct mf_record record = mf_record_begin(part, mf_reader_offset(reader));

    if (read_name(reader, index, &record) != MF_OK ||
        read_shape(reader, index, &record) != MF_OK)
        return reader->env->error.status;
    record.type_id = mf_take_u32(reader);
    record.type = (uint16_t)mf_gguf_type_of(record.type_id);
    record.offset = mf_take_u64(reader);
    if (mf_reader_check(reader, "the tensor list") != MF_OK)
        return reader->env->error.status;
    if (record.name_size == 0 && record.rank == 0 && record.type_id == 0 &&
        record.offset == 0)
        return mf_refuse(reader->env, MF_RULE_GGUF_ENTRY_EMPTY, record.entry,
                         "the tensor list is all zeros from here");
    check_name(index, &record);
    check_shape(index, &record);
    check_type(index, &record);
    return mf_index_add(index, &record);
}

enum mf_status mf_gguf_read_tensors(struct mf_reader *reader,
                                    struct mf_index *index,
                                    const struct mf_part *part, uint64_t count)
{
    if (reserve_tables(reader, index, count) != MF_OK)
        return reader->env->error.status;
    for (; count > 0; count--)
        if (read_info(reader, index, part) != MF_OK)
            return reader->env->error.status;
    return MF_OK;
}
