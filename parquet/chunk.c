/* SPDX-License-Identifier: MIT
 *
 * chunk.c - the values of a column in one group of rows
 */
#include "parquet/parquet.h"

/* Fields of a ColumnChunk. */
enum {
    CHUNK_FILE = 1,
    CHUNK_META = 3,
    CHUNK_OFFSET_INDEX = 4,
    CHUNK_OFFSET_INDEX_SIZE = 5,
    CHUNK_COLUMN_INDEX = 6,
    CHUNK_COLUMN_INDEX_SIZE = 7,
    CHUNK_CRYPTO = 8
};

/* Fields of a ColumnMetaData. */
enum {
    META_TYPE = 1,
    META_ENCODINGS = 2,
    META_PATH = 3,
    META_CODEC = 4,
    META_VALUES = 5,
    META_UNPACKED = 6,
    META_PACKED = 7,
    META_DATA = 9,
    META_INDEX = 10,
    META_DICTIONARY = 11,
    META_STATISTICS = 12,
    META_BLOOM = 14,
    META_BLOOM_SIZE = 15
};

#define STATISTICS_NULLS 3

/* The numbers of both structs, by their fields. */
#define FIELDS 16

struct chunk {
    struct parquet *parquet;
    struct thrift_struct in, meta_in;
    int64_t number[FIELDS], meta[FIELDS];
    uint32_t column;
    bool elsewhere, encrypted;
    uint32_t encodings;
    int64_t nulls; /* -1: not stated */
};

static struct mf_quoted name_of(const struct parquet *parquet,
                                const struct chunk *chunk)
{
    return mf_quote(parquet->table->column[chunk->column].path);
}

/* ---- fields ---- */

/* Compares names, joined by dots, with the column's path as they come. */
static enum mf_status take_path(struct parquet *parquet,
                                const struct thrift_struct *in,
                                const struct chunk *chunk)
{
    struct thrift *thrift = &parquet->thrift;
    struct mf_str path = parquet->table->column[chunk->column].path;
    struct thrift_list list;
    size_t at = 0;
    bool same = true;

    if (mf_thrift_list(thrift, in, THRIFT_BINARY, &list) != MF_OK)
        return thrift->reader->env->error.status;
    for (uint64_t i = 0; i < list.count; i++) {
        uint64_t size;
        const uint8_t *bytes;

        if (mf_thrift_bytes(thrift, &size) != MF_OK)
            return thrift->reader->env->error.status;
        same = same && (i == 0 || (at < path.size && path.at[at++] == '.')) &&
               size <= path.size - at;
        bytes = same ? mf_take(thrift->reader, (size_t)size) : NULL;
        if (bytes)
            same = memcmp(bytes, path.at + at, (size_t)size) == 0;
        else
            mf_skip(thrift->reader, size);
        at += same ? (size_t)size : 0;
    }
    if (!same || at < path.size)
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_COLUMNS, in->at,
                        "a chunk whose path differs from its column, '%s'",
                        name_of(parquet, chunk).text);
    return mf_reader_check(thrift->reader, "the footer");
}

static enum mf_status take_encodings(struct parquet *parquet,
                                     const struct thrift_struct *in,
                                     struct chunk *chunk)
{
    struct thrift_list list;
    enum mf_status status =
        mf_thrift_list(&parquet->thrift, in, THRIFT_I32, &list);

    for (uint64_t i = 0; status == MF_OK && i < list.count; i++) {
        int64_t encoding = 0;

        status = mf_thrift_zigzag(&parquet->thrift, &encoding);
        if (status == MF_OK && encoding >= 0 &&
            (uint64_t)encoding < mf_parquet_encoding_count)
            chunk->encodings |= UINT32_C(1) << encoding;
        else if (status == MF_OK)
            mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_ENUM, in->at,
                            "a chunk of '%s' has an unknown encoding, %" PRId64,
                            name_of(parquet, chunk).text, encoding);
    }
    return status;
}

static enum mf_status take_statistic(void *user, const struct thrift_struct *in)
{
    struct chunk *chunk = user;
    struct thrift *thrift = &chunk->parquet->thrift;

    return in->id == STATISTICS_NULLS
               ? mf_thrift_integer(thrift, in, &chunk->nulls)
               : mf_thrift_skip(thrift, in);
}

static const struct thrift_shape statistics_shape = {
    "Statistics", 0, { [STATISTICS_NULLS] = THRIFT_I64 }
};

static enum mf_status take_statistics(struct chunk *chunk,
                                      const struct thrift_struct *in)
{
    struct thrift *thrift = &chunk->parquet->thrift;
    struct thrift_struct statistics;

    if (mf_thrift_open_struct(thrift, in) != MF_OK)
        return thrift->reader->env->error.status;
    return mf_thrift_read(thrift, &statistics_shape, take_statistic, chunk,
                          &statistics);
}

static enum mf_status take_meta_field(void *user,
                                      const struct thrift_struct *in)
{
    struct chunk *chunk = user;
    struct parquet *parquet = chunk->parquet;

    switch (in->id) {
    case META_ENCODINGS:
        return take_encodings(parquet, in, chunk);
    case META_PATH:
        return take_path(parquet, in, chunk);
    case META_STATISTICS:
        return take_statistics(chunk, in);
    case META_TYPE:
    case META_CODEC:
    case META_VALUES:
    case META_UNPACKED:
    case META_PACKED:
    case META_DATA:
    case META_INDEX:
    case META_DICTIONARY:
    case META_BLOOM:
    case META_BLOOM_SIZE:
        return mf_thrift_integer(&parquet->thrift, in, &chunk->meta[in->id]);
    default:
        return mf_thrift_skip(&parquet->thrift, in);
    }
}

static const struct thrift_shape meta_shape = {
    "ColumnMetaData",
    UINT64_C(1) << META_TYPE | 1 << META_ENCODINGS | 1 << META_PATH |
        1 << META_CODEC | 1 << META_VALUES | 1 << META_UNPACKED |
        1 << META_PACKED | 1 << META_DATA,
    { [META_TYPE] = THRIFT_I64,
      [META_ENCODINGS] = THRIFT_LIST,
      [META_PATH] = THRIFT_LIST,
      [META_CODEC] = THRIFT_I64,
      [META_VALUES] = THRIFT_I64,
      [META_UNPACKED] = THRIFT_I64,
      [META_PACKED] = THRIFT_I64,
      [META_DATA] = THRIFT_I64,
      [META_INDEX] = THRIFT_I64,
      [META_DICTIONARY] = THRIFT_I64,
      [META_STATISTICS] = THRIFT_STRUCT,
      [META_BLOOM] = THRIFT_I64,
      [META_BLOOM_SIZE] = THRIFT_I64 }
};

static enum mf_status take_meta(struct chunk *chunk,
                                const struct thrift_struct *in)
{
    struct thrift *thrift = &chunk->parquet->thrift;

    if (mf_thrift_open_struct(thrift, in) != MF_OK)
        return thrift->reader->env->error.status;
    return mf_thrift_read(thrift, &meta_shape, take_meta_field, chunk,
                          &chunk->meta_in);
}

static enum mf_status take_field(void *user, const struct thrift_struct *in)
{
    struct chunk *chunk = user;
    struct thrift *thrift = &chunk->parquet->thrift;

    switch (in->id) {
    case CHUNK_META:
        return take_meta(chunk, in);
    case CHUNK_OFFSET_INDEX:
    case CHUNK_OFFSET_INDEX_SIZE:
    case CHUNK_COLUMN_INDEX:
    case CHUNK_COLUMN_INDEX_SIZE:
        return mf_thrift_integer(thrift, in, &chunk->number[in->id]);
    case CHUNK_FILE:
        chunk->elsewhere = true;
        return mf_thrift_skip(thrift, in);
    case CHUNK_CRYPTO:
        chunk->encrypted = true;
        return mf_thrift_skip(thrift, in);
    default:
        return mf_thrift_skip(thrift, in);
    }
}

/* ---- checks ---- */

static void check_names(struct parquet *parquet, const struct chunk *chunk)
{
    const char *type = mf_parquet_physical(chunk->meta[META_TYPE]);

    if (type != parquet->table->column[chunk->column].physical)
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_COLUMNS,
                        chunk->in.at,
                        "a chunk of '%s' is of type %s, its column of %s",
                        name_of(parquet, chunk).text, type ? type : "?",
                        parquet->table->column[chunk->column].physical);
    if (!mf_parquet_codec(chunk->meta[META_CODEC]))
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_ENUM, chunk->in.at,
                        "a chunk of '%s' has an unknown codec, %" PRId64,
                        name_of(parquet, chunk).text, chunk->meta[META_CODEC]);
}

/* Bytes between the first magic and the footer. */
static void check_place(struct parquet *parquet, const struct chunk *chunk,
                        const char *what, int64_t offset, int64_t size)
{
    if (!chunk->elsewhere &&
        (offset < PARQUET_MAGIC_SIZE || size < 0 ||
         (uint64_t)offset > parquet->footer.offset ||
         (uint64_t)size > parquet->footer.offset - (uint64_t)offset))
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_OFFSET, chunk->in.at,
                        "%s of '%s' is said to be %" PRId64 " bytes at %" PRId64
                        ", but the footer begins at %" PRIu64,
                        what, name_of(parquet, chunk).text, size, offset,
                        parquet->footer.offset);
}

static int64_t start_of(const struct chunk *chunk)
{
    int64_t data = chunk->meta[META_DATA];
    int64_t dictionary = chunk->meta[META_DICTIONARY];

    /* One without rows may have a dictionary only. */
    return dictionary > 0 && (dictionary < data || data == 0) ? dictionary
                                                              : data;
}

static void check_places(struct parquet *parquet, const struct chunk *chunk)
{
    const int64_t *of = chunk->number;

    /* A column without values may have nothing in the file. */
    if (start_of(chunk) != 0 || chunk->meta[META_PACKED] != 0)
        check_place(parquet, chunk, "a chunk", start_of(chunk),
                    chunk->meta[META_PACKED]);
    if (chunk->in.seen >> CHUNK_OFFSET_INDEX & 1)
        check_place(parquet, chunk, "an index of pages", of[CHUNK_OFFSET_INDEX],
                    of[CHUNK_OFFSET_INDEX_SIZE]);
    if (chunk->in.seen >> CHUNK_COLUMN_INDEX & 1)
        check_place(parquet, chunk, "an index of values",
                    of[CHUNK_COLUMN_INDEX], of[CHUNK_COLUMN_INDEX_SIZE]);
    /* Older writers do not state its size. */
    if (chunk->meta_in.seen >> META_BLOOM & 1)
        check_place(parquet, chunk, "a Bloom filter", chunk->meta[META_BLOOM],
                    chunk->meta[META_BLOOM_SIZE]);
}

static void check_counts(struct parquet *parquet, const struct chunk *chunk)
{
    const int64_t *of = chunk->meta;

    if (of[META_VALUES] < 0 || of[META_UNPACKED] < 0 || chunk->nulls < -1 ||
        chunk->nulls > of[META_VALUES])
        mf_parquet_note(parquet, MF_ERROR, MF_RULE_PARQUET_SIZE, chunk->in.at,
                        "a chunk of '%s' is said to have %" PRId64
                        " values, %" PRId64 " of them null, in %" PRId64
                        " bytes",
                        name_of(parquet, chunk).text, of[META_VALUES],
                        chunk->nulls < 0 ? 0 : chunk->nulls, of[META_UNPACKED]);
}

static uint64_t not_negative(int64_t number)
{
    return number < 0 ? 0 : (uint64_t)number;
}

static enum mf_status keep(struct parquet *parquet, const struct chunk *chunk)
{
    struct mf_table *table = parquet->table;
    const char *codec = mf_parquet_codec(chunk->meta[META_CODEC]);

    if (mf_table_reserve_chunks(parquet->index->env, table, 1) != MF_OK)
        return parquet->index->env->error.status;
    table->chunk[table->chunk_count++] = (struct mf_table_chunk){
        .offset = not_negative(start_of(chunk)),
        .bytes = not_negative(chunk->meta[META_PACKED]),
        .unpacked = not_negative(chunk->meta[META_UNPACKED]),
        .values = not_negative(chunk->meta[META_VALUES]),
        .nulls = chunk->nulls < 0 ? UINT64_MAX : (uint64_t)chunk->nulls,
        .codec = codec ? codec : "?",
        .encodings = chunk->encodings,
        .column = chunk->column,
        .group = (uint32_t)table->group_count,
        .elsewhere = chunk->elsewhere,
    };
    return MF_OK;
}

static const struct thrift_shape shape = {
    "ColumnChunk",
    UINT64_C(1) << CHUNK_META,
    { [CHUNK_FILE] = THRIFT_BINARY,
      [CHUNK_META] = THRIFT_STRUCT,
      [CHUNK_OFFSET_INDEX] = THRIFT_I64,
      [CHUNK_OFFSET_INDEX_SIZE] = THRIFT_I64,
      [CHUNK_COLUMN_INDEX] = THRIFT_I64,
      [CHUNK_COLUMN_INDEX_SIZE] = THRIFT_I64,
      [CHUNK_CRYPTO] = THRIFT_STRUCT }
};

enum mf_status mf_parquet_chunk(struct parquet *parquet, uint32_t column)
{
    struct chunk chunk = { .parquet = parquet, .column = column, .nulls = -1 };

    if (mf_thrift_read(&parquet->thrift, &shape, take_field, &chunk,
                       &chunk.in) != MF_OK)
        return parquet->index->env->error.status;
    parquet->encrypted += chunk.encrypted;
    check_names(parquet, &chunk);
    check_places(parquet, &chunk);
    check_counts(parquet, &chunk);
    return keep(parquet, &chunk);
}
