/* SPDX-License-Identifier: MIT
 *
 * table.h - the columns of a file that is a table, not a model
 *
 * A row of each column, and one of each chunk: the values of one column in one
 * group of rows.  A file has millions of chunks, so their row is small: it has
 * numbers only, and names by pointers to the format's own.
 */
#ifndef MF_LIB_TABLE_H
#define MF_LIB_TABLE_H

#include "lib/base/heap.h"

struct mf_table_column {
    struct mf_str path; /* names joined by dots; terminated */
    const char *physical;
    struct mf_str logical; /* "" where it is the physical one */
    bool optional, repeated;
};

struct mf_table_chunk {
    uint64_t offset, bytes, unpacked, values;
    uint64_t nulls; /* UINT64_MAX: not stated */
    const char *codec;
    uint32_t encodings; /* a bit for each */
    uint32_t column, group;
    bool elsewhere; /* in another file */
};

struct mf_table {
    bool exists;
    uint64_t rows, bytes, unpacked;
    uint64_t group_count;
    struct mf_str created_by; /* terminated; "" where it is not stated */
    const char *const *encoding_names;
    size_t encoding_count;
    struct mf_table_column *column;
    size_t column_count, column_room;
    struct mf_table_chunk *chunk;
    size_t chunk_count, chunk_room;
};

/* Makes room for `count` rows more; tables grow by half where that is more. */
enum mf_status mf_table_reserve_columns(struct mf_env *env,
                                        struct mf_table *table, size_t count);
enum mf_status mf_table_reserve_chunks(struct mf_env *env,
                                       struct mf_table *table, size_t count);

void mf_table_release(struct mf_env *env, struct mf_table *table);

struct mf_model;

/* MF_ERR_UNSUPPORTED for a table, which has no tensors to work with. */
enum mf_status mf_table_refuse(struct mf_model *model);

#endif
