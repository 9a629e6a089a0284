/* SPDX-License-Identifier: MIT
 *
 * groups.c - groups of rows
 */
#include "parquet/parquet.h"

/* Fields of a RowGroup. */
enum {
    GROUP_COLUMNS = 1,
    GROUP_UNPACKED = 2,
    GROUP_ROWS = 3,
    GROUP_PACKED = 6
};

/* What a chunk takes in the footer at the least: the required fields of its two
 * structs, each of a byte for its number and one for its value, and their ends:
 * 2 + 1 of the outer one, 2 + 3 + 2 + 2 + 2 + 2 + 2 + 2 of the inner one, and
 * 2 ends. */
#define CHUNK_LEAST 22

struct group {
    struct parquet *parquet;
    struct thrift_struct in;
    int64_t unpacked, rows, packed;
    size_t first; /* of its chunks */
};

static enum mf_status take_columns(struct parquet *parquet,
                                   const struct thrift_struct *in)
{
    struct thrift_list list;
    enum mf_status status =
        mf_thrift_list(&parquet->thrift, in, THRIFT_STRUCT, &list);

    if (status == MF_OK && list.count != parquet->table->column_count)
        status =
            mf_refuse(parquet->index->env, MF_RULE_PARQUET_COLUMNS, in->at,
                      "group %" PRIu64 " has %" PRIu64
                      " chunk%s, but the schema has %zu column%s",
                      parquet->table->group_count, list.count,
                      list.count == 1 ? "" : "s", parquet->table->column_count,
                      parquet->table->column_count == 1 ? "" : "s");
    for (uint32_t i = 0; status == MF_OK && i < list.count; i++)
        status = mf_parquet_chunk(parquet, i);
    return status;
}

static enum mf_status take_field(void *user, const struct thrift_struct *in)
{
    struct group *group = user;
    struct parquet *parquet = group->parquet;

    switch (in->id) {
    case GROUP_COLUMNS:
        return take_columns(parquet, in);
    case GROUP_UNPACKED:
        return mf_thrift_integer(&parquet->thrift, in, &group->unpacked);
    case GROUP_ROWS:
        return mf_thrift_integer(&parquet->thrift, in, &group->rows);
    case GROUP_PACKED:
        return mf_thrift_integer(&parquet->thrift, in, &group->packed);
    default:
        return mf_thrift_skip(&parquet->thrift, in);
    }
}

/* A column has a value, or a null, of each row; one that is repeated has any
 * number. */
static void check_rows(struct parquet *parquet, const struct group *group)
{
    const struct mf_table *table = parquet->table;

    if (group->rows < 0 ||
        __builtin_add_overflow(parquet->group_rows, group->rows,
                               &parquet->group_rows))
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_ROWS, group->in.at,
                        "group %" PRIu64 " is said to have %" PRId64 " rows",
                        table->group_count, group->rows);
    for (size_t i = group->first; i < table->chunk_count; i++) {
        const struct mf_table_chunk *chunk = &table->chunk[i];
        const struct mf_table_column *column = &table->column[chunk->column];

        if (!column->repeated && group->rows >= 0 &&
            chunk->values != (uint64_t)group->rows)
            mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_ROWS,
                            group->in.at,
                            "group %" PRIu64 " has %" PRId64
                            " rows, but '%s' has %" PRIu64 " values in it",
                            table->group_count, group->rows,
                            mf_quote(column->path).text, chunk->values);
    }
}

/* Some writers state the sum of the packed sizes for both. */
static void check_sizes(struct parquet *parquet, const struct group *group)
{
    struct mf_table *table = parquet->table;
    uint64_t packed = 0, unpacked = 0;

    for (size_t i = group->first; i < table->chunk_count; i++) {
        packed += table->chunk[i].bytes;
        unpacked += table->chunk[i].unpacked;
    }
    table->bytes += packed;
    table->unpacked += unpacked;
    if ((uint64_t)group->unpacked != unpacked &&
        (uint64_t)group->unpacked != packed)
        mf_parquet_note(parquet, MF_WARNING, MF_RULE_PARQUET_SIZE, group->in.at,
                        "group %" PRIu64 " is said to have %" PRId64
                        " bytes, but its chunks have %" PRIu64,
                        table->group_count, group->unpacked, unpacked);
    if (group->in.seen >> GROUP_PACKED & 1 && (uint64_t)group->packed != packed)
        mf_parquet_note(parquet, MF_WARNING, MF_RULE_PARQUET_SIZE, group->in.at,
                        "group %" PRIu64 " is said to have %" PRId64
                        " compressed bytes, but its chunks have %" PRIu64,
                        table->group_count, group->packed, packed);
}

static const struct thrift_shape shape = { "RowGroup",
                                           UINT64_C(1) << GROUP_COLUMNS |
                                               1 << GROUP_UNPACKED |
                                               1 << GROUP_ROWS,
                                           { [GROUP_COLUMNS] = THRIFT_LIST,
                                             [GROUP_UNPACKED] = THRIFT_I64,
                                             [GROUP_ROWS] = THRIFT_I64,
                                             [GROUP_PACKED] = THRIFT_I64 } };

static enum mf_status take_group(struct parquet *parquet)
{
    struct group group = { .parquet = parquet,
                           .first = parquet->table->chunk_count };

    if (mf_thrift_read(&parquet->thrift, &shape, take_field, &group,
                       &group.in) != MF_OK)
        return parquet->index->env->error.status;
    check_rows(parquet, &group);
    check_sizes(parquet, &group);
    parquet->table->group_count++;
    return MF_OK;
}

enum mf_status mf_parquet_groups(struct parquet *parquet, uint64_t count)
{
    uint64_t most = mf_reader_left(parquet->thrift.reader) / CHUNK_LEAST;
    uint64_t columns = parquet->table->column_count;
    uint64_t chunks = 0;
    enum mf_status status;

    if (!mf_mul(count, columns, &chunks) || chunks > most)
        chunks = most;
    status = mf_table_reserve_chunks(parquet->index->env, parquet->table,
                                     (size_t)chunks);
    for (uint64_t i = 0; status == MF_OK && i < count; i++)
        status = take_group(parquet);
    return status;
}
