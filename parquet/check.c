/* SPDX-License-Identifier: MIT
 *
 * check.c - chunks that overlap
 */
#include "parquet/parquet.h"

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
