/* SPDX-License-Identifier: MIT
 *
 * table.c - the columns of a file that is a table, not a model
 */
#include "lib/model/index.h"

#include <string.h>

#include "lib/base/sort.h"
#include "lib/model/model.h"

static enum mf_status reserve(struct mf_env *env, void **rows, size_t *room,
                              size_t row_size, size_t wanted)
{
    void *moved;

    if (wanted <= *room)
        return MF_OK;
    if (wanted < *room + *room / 2)
        wanted = *room + *room / 2;
    moved = mf_env_resize(env, *rows, *room * row_size, wanted * row_size);
    if (!moved)
        return env->error.status;
    *rows = moved;
    *room = wanted;
    return MF_OK;
}

enum mf_status mf_table_reserve_columns(struct mf_env *env,
                                        struct mf_table *table, size_t count)
{
    void *rows = table->column;
    enum mf_status status =
        reserve(env, &rows, &table->column_room, sizeof(*table->column),
                table->column_count + count);

    table->column = rows;
    return status;
}

enum mf_status mf_table_reserve_chunks(struct mf_env *env,
                                       struct mf_table *table, size_t count)
{
    void *rows = table->chunk;
    enum mf_status status =
        reserve(env, &rows, &table->chunk_room, sizeof(*table->chunk),
                table->chunk_count + count);

    table->chunk = rows;
    return status;
}

void mf_table_release(struct mf_env *env, struct mf_table *table)
{
    mf_release(env, table->column, table->column_room * sizeof(*table->column));
    mf_release(env, table->chunk, table->chunk_room * sizeof(*table->chunk));
}

enum mf_status mf_table_refuse(struct mf_model *model)
{
    if (!model->index.table.exists)
        return MF_OK;
    return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "a %s file is a table: it has no tensors, and its columns "
                   "are not decoded",
                   model->format->name);
}

/* ---- what programs see ---- */

bool mf_model_table(const struct mf_model *model, struct mf_table_info *out)
{
    if (!model || !out || !model->index.table.exists)
        return false;

    const struct mf_table *table = &model->index.table;

    *out = (struct mf_table_info){ .rows = table->rows,
                                   .group_count = table->group_count,
                                   .column_count = table->column_count,
                                   .chunk_count = table->chunk_count,
                                   .bytes = table->bytes,
                                   .unpacked = table->unpacked,
                                   .created_by = table->created_by };
    return true;
}

bool mf_column_at(const struct mf_model *model, size_t index,
                  struct mf_column *out)
{
    if (!model || !out || index >= model->index.table.column_count)
        return false;

    const struct mf_table_column *column = &model->index.table.column[index];

    *out = (struct mf_column){ .path = column->path,
                               .physical = column->physical,
                               .logical = column->logical,
                               .optional = column->optional,
                               .repeated = column->repeated };
    return true;
}

bool mf_column_chunk_at(const struct mf_model *model, size_t index,
                        struct mf_column_chunk *out)
{
    if (!model || !out || index >= model->index.table.chunk_count)
        return false;

    const struct mf_table_chunk *chunk = &model->index.table.chunk[index];

    *out = (struct mf_column_chunk){ .column = chunk->column,
                                     .group = chunk->group,
                                     .codec = chunk->codec,
                                     .encodings = chunk->encodings,
                                     .values = chunk->values,
                                     .nulls = chunk->nulls,
                                     .data = { chunk->offset, chunk->bytes },
                                     .unpacked = chunk->unpacked };
    return true;
}

/* ---- their order ---- */

static bool larger(const void *rows, uint32_t a, uint32_t b)
{
    const struct mf_table_chunk *chunk = ((const struct mf_table *)rows)->chunk;

    return chunk[a].bytes != chunk[b].bytes ? chunk[a].bytes > chunk[b].bytes
                                            : a < b;
}

static bool earlier_path(const void *rows, uint32_t a, uint32_t b)
{
    const struct mf_table *table = rows;
    struct mf_str left = table->column[table->chunk[a].column].path;
    struct mf_str right = table->column[table->chunk[b].column].path;
    int order = strcmp(left.at, right.at);

    return order != 0 ? order < 0 : a < b;
}

static bool earlier_place(const void *rows, uint32_t a, uint32_t b)
{
    const struct mf_table_chunk *chunk = ((const struct mf_table *)rows)->chunk;

    return chunk[a].offset != chunk[b].offset
               ? chunk[a].offset < chunk[b].offset
               : a < b;
}

void mf_column_chunk_sort(const struct mf_model *model, enum mf_order order,
                          uint32_t *index, size_t count)
{
    static mf_before *const before[] = { [MF_ORDER_SIZE] = larger,
                                         [MF_ORDER_NAME] = earlier_path,
                                         [MF_ORDER_OFFSET] = earlier_place };

    if (!model || !index || (size_t)order >= sizeof(before) / sizeof(*before))
        return;

    mf_sort(index, count, before[order], &model->index.table);
}

const char *mf_encoding_name(const struct mf_model *model, unsigned bit)
{
    if (!model || bit >= model->index.table.encoding_count)
        return NULL;
    return model->index.table.encoding_names[bit];
}
