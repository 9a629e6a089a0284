/* SPDX-License-Identifier: MIT
 *
 * parquet.c - the row of the format
 *
 * A table, not a model: its columns are listed, and never decoded.  All that
 * is known of them is in the footer, at the end of the file.
 */
#include "parquet/parquet.h"

/* ---- chunks that overlap ---- */

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_table_chunk *chunk = table;

    return chunk[a].offset != chunk[b].offset
               ? chunk[a].offset < chunk[b].offset
               : chunk[a].bytes < chunk[b].bytes;
}

static void note_overlap(struct mf_index *index, const struct mf_part *part,
                         const struct mf_table_chunk *first,
                         const struct mf_table_chunk *second)
{
    const struct mf_table_column *column = index->table.column;

    mf_index_note(index, part->shard, MF_ERROR, MF_RULE_PARQUET_OVERLAP,
                  second->offset,
                  "the chunk of '%s' in group %u begins within the chunk of "
                  "'%s' in group %u",
                  mf_quote(column[second->column].path).text, second->group,
                  mf_quote(column[first->column].path).text, first->group);
}

/* Chunks in other files have places of their own. */
static void check_overlaps(struct mf_index *index, const struct mf_part *part,
                           const uint32_t *order)
{
    const struct mf_table *table = &index->table;
    const struct mf_table_chunk *last = NULL;

    for (size_t i = 0; i < table->chunk_count; i++) {
        const struct mf_table_chunk *chunk =
            &table->chunk[order ? order[i] : i];

        if (chunk->elsewhere || chunk->bytes == 0)
            continue;
        if (last && chunk->offset - last->offset < last->bytes)
            note_overlap(index, part, last, chunk);
        if (!last || chunk->offset - last->offset >= last->bytes ||
            chunk->bytes > last->bytes - (chunk->offset - last->offset))
            last = chunk;
    }
}

static bool in_order(const struct mf_table *table)
{
    for (size_t i = 1; i < table->chunk_count; i++)
        if (is_before(table->chunk, (uint32_t)i, (uint32_t)(i - 1)))
            return false;
    return true;
}

void mf_parquet_validate(struct mf_index *index, const struct mf_part *parts,
                         size_t part_count)
{
    const struct mf_table *table = &index->table;
    size_t size = table->chunk_count * sizeof(uint32_t);
    uint32_t *order = NULL;

    (void)part_count; /* a table is one file */
    if (!in_order(table)) {
        order = mf_alloc(index->env, size);
        if (!order) {
            index->status = index->env->error.status;
            return;
        }
        for (size_t i = 0; i < table->chunk_count; i++)
            order[i] = (uint32_t)i;
        mf_sort(order, table->chunk_count, is_before, table->chunk);
    }
    check_overlaps(index, parts, order);
    mf_release(index->env, order, order ? size : 0);
}

/* ---- the row of the format ---- */

static const char *const magics[] = { PARQUET_MAGIC, NULL };

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    (void)out;
    return head->size >= PARQUET_MAGIC_SIZE &&
           memcmp(head->at, PARQUET_MAGIC, PARQUET_MAGIC_SIZE) == 0;
}

/* The footer's size is before the last magic. */
static enum mf_status find_footer(struct parquet *parquet)
{
    struct mf_reader *reader = parquet->thrift.reader;
    uint64_t end = reader->source->size - PARQUET_END_SIZE;
    uint8_t bytes[PARQUET_END_SIZE];
    uint32_t size;

    if (reader->source->size < PARQUET_MAGIC_SIZE + PARQUET_END_SIZE)
        return mf_refuse(reader->env, MF_RULE_FILE_TRUNCATED, 0,
                         "a Parquet file has 12 bytes at least, this one has "
                         "%" PRIu64,
                         reader->source->size);
    if (!mf_reader_copy(reader, end, bytes, sizeof(bytes)))
        return reader->env->error.status;
    if (memcmp(bytes + 4, PARQUET_MAGIC, PARQUET_MAGIC_SIZE) != 0)
        return mf_refuse(reader->env, MF_RULE_FILE_TRUNCATED, end + 4,
                         "the file does not end in 'PAR1': it is cut off, or "
                         "was not finished");
    size = mf_little_32(bytes);
    if (size > end - PARQUET_MAGIC_SIZE)
        return mf_refuse(reader->env, MF_RULE_PARQUET_FOOTER, end,
                         "a footer of %" PRIu32 " bytes, but %" PRIu64
                         " precede its end",
                         size, end - PARQUET_MAGIC_SIZE);
    parquet->footer = (struct mf_span){ end - size, size };
    return MF_OK;
}

static enum mf_status read_footer(struct parquet *parquet)
{
    struct mf_reader *reader = parquet->thrift.reader;

    if (find_footer(parquet) != MF_OK)
        return reader->env->error.status;
    mf_reader_seek(reader, parquet->footer.offset);
    mf_reader_limit(reader, parquet->footer.offset + parquet->footer.size);
    mf_reader_widen(reader, PARQUET_HELD_MAX);
    return mf_parquet_footer(parquet);
}

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    struct parquet *parquet = mf_alloc(index->env, sizeof(*parquet));
    enum mf_status status;

    if (!parquet)
        return index->env->error.status;
    *parquet = (struct parquet){ .index = index,
                                 .part = part,
                                 .table = &index->table,
                                 .thrift = { .reader = reader } };
    index->table.exists = true;
    index->table.created_by = (struct mf_str){ "", 0 };
    index->table.encoding_names = mf_parquet_encodings;
    index->table.encoding_count = mf_parquet_encoding_count;
    part->alignment = 1;
    part->data_offset = part->data_end = PARQUET_MAGIC_SIZE;
    status = read_footer(parquet);
    if (status == MF_OK)
        part->data_end = parquet->footer.offset;
    mf_release(index->env, parquet, sizeof(*parquet));
    return status;
}

/* ---- metadata ---- */

static enum mf_status value_next(struct mf_values *values, struct mf_value *out)
{
    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (values->started) {
        values->done = true;
        return MF_OK;
    }
    values->started = true;
    out->event = MF_EVENT_ITEM;
    out->type = MF_VALUE_STRING;
    out->text = values->meta.text;
    if (out->text.at)
        return MF_OK;
    values->text_event = MF_EVENT_ITEM;
    values->text_left = values->meta.count;
    return mf_values_text(values, out);
}

static uint32_t type_id(enum mf_type type)
{
    (void)type; /* columns have types of their own */
    return MF_NO_TYPE_ID;
}

const struct mf_format mf_format_parquet = {
    .name = "parquet",
    .variant = "",
    .suffix = ".parquet",
    .description = "tables: rows, columns and their chunks, not their values",
    .layout = MF_LAYOUT_SHARED,
    .values = MF_VALUES_STRINGS,
    .unlisted = true,
    .rules = "PARQUET-",
    .tail_after = magics,
    .probe = probe,
    .parse = parse,
    .validate = mf_parquet_validate,
    .value_next = value_next,
    .type_id = type_id,
};
