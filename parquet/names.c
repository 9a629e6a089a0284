/* SPDX-License-Identifier: MIT
 *
 * names.c - physical and logical types, codecs, encodings
 */
#include <stdio.h>

#include "parquet/parquet.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

const char *const mf_parquet_encodings[] = {
    "PLAIN",
    "GROUP_VAR_INT", /* never used */
    "PLAIN_DICTIONARY",
    "RLE",
    "BIT_PACKED",
    "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY",
    "BYTE_STREAM_SPLIT",
    "ALP",
};
const size_t mf_parquet_encoding_count = COUNT(mf_parquet_encodings);

static const char *name_in(const char *const *table, size_t count,
                           int64_t number)
{
    return number >= 0 && (uint64_t)number < count ? table[number] : NULL;
}

const char *mf_parquet_physical(int64_t type)
{
    static const char *const types[] = { "BOOLEAN",    "INT32",
                                         "INT64",      "INT96",
                                         "FLOAT",      "DOUBLE",
                                         "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY" };

    return name_in(types, COUNT(types), type);
}

const char *mf_parquet_converted(int64_t type)
{
    static const char *const types[] = { "UTF8",
                                         "MAP",
                                         "MAP_KEY_VALUE",
                                         "LIST",
                                         "ENUM",
                                         "DECIMAL",
                                         "DATE",
                                         "TIME_MILLIS",
                                         "TIME_MICROS",
                                         "TIMESTAMP_MILLIS",
                                         "TIMESTAMP_MICROS",
                                         "UINT_8",
                                         "UINT_16",
                                         "UINT_32",
                                         "UINT_64",
                                         "INT_8",
                                         "INT_16",
                                         "INT_32",
                                         "INT_64",
                                         "JSON",
                                         "BSON",
                                         "INTERVAL" };

    return name_in(types, COUNT(types), type);
}

const char *mf_parquet_codec(int64_t codec)
{
    static const char *const codecs[] = { "UNCOMPRESSED", "SNAPPY", "GZIP",
                                          "LZO",          "BROTLI", "LZ4",
                                          "ZSTD",         "LZ4_RAW" };

    return name_in(codecs, COUNT(codecs), codec);
}

/* ---- logical types ---- */

/* Members of the union, and of the structs in it. */
enum logical {
    LOGICAL_STRING = 1,
    LOGICAL_DECIMAL = 5,
    LOGICAL_TIME = 7,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_INTEGER = 10
};

static const char *logical_name(int id)
{
    static const char *const names[] = {
        NULL,      "STRING",  "MAP",      "LIST",      "ENUM",
        "DECIMAL", "DATE",    "TIME",     NULL,        NULL,
        NULL,      "UNKNOWN", "JSON",     "BSON",      "UUID",
        "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY", "FILE",
    };

    if (id == LOGICAL_TIMESTAMP)
        return "TIMESTAMP";
    if (id == LOGICAL_INTEGER)
        return "INT";
    return name_in(names, COUNT(names), id);
}

/* Numbers and bools of the struct of one member, by their field. */
struct parameters {
    int64_t number[3];
    bool flag[3];
    int unit;
};

struct logical_type {
    struct thrift *thrift;
    struct parameters with;
    char *text;
    size_t room;
};

/* The unit of a time is a union of three empty structs. */
static enum mf_status take_unit(void *user, const struct thrift_struct *in)
{
    struct logical_type *logical = user;

    logical->with.unit = in->id;
    return mf_thrift_skip(logical->thrift, in);
}

static enum mf_status take_parameter(void *user, const struct thrift_struct *in)
{
    struct logical_type *logical = user;
    struct parameters *out = &logical->with;
    static const struct thrift_shape shape = { .name = "TimeUnit" };
    struct thrift_struct unit;

    if (in->id < 3 && in->type >= THRIFT_I8 && in->type <= THRIFT_I64)
        return mf_thrift_integer(logical->thrift, in, &out->number[in->id]);
    if (in->id < 3 && in->type <= THRIFT_FALSE)
        return mf_thrift_bool(logical->thrift, in, &out->flag[in->id]);
    if (in->id == 2 && in->type == THRIFT_STRUCT)
        return mf_thrift_read(logical->thrift, &shape, take_unit, logical,
                              &unit);
    return mf_thrift_skip(logical->thrift, in);
}

static void print(char *text, size_t room, int id,
                  const struct parameters *with)
{
    static const char *const units[] = { "?", "MILLIS", "MICROS", "NANOS" };
    const char *unit =
        with->unit > 0 && with->unit < 4 ? units[with->unit] : units[0];
    const char *name = logical_name(id);

    if (!name)
        snprintf(text, room, "logical type %d", id);
    else if (id == LOGICAL_DECIMAL)
        snprintf(text, room, "%s(%" PRId64 ",%" PRId64 ")", name,
                 with->number[2], with->number[1]);
    else if (id == LOGICAL_TIME || id == LOGICAL_TIMESTAMP)
        snprintf(text, room, "%s(%s%s)", name, unit,
                 with->flag[1] ? ",UTC" : "");
    else if (id == LOGICAL_INTEGER)
        snprintf(text, room, "%sINT(%" PRId64 ")", with->flag[2] ? "" : "U",
                 with->number[1]);
    else
        snprintf(text, room, "%s", name);
}

static enum mf_status take_member(void *user, const struct thrift_struct *in)
{
    static const struct thrift_shape shape = { .name = "a logical type" };
    struct logical_type *logical = user;
    struct thrift_struct type;

    if (in->type != THRIFT_STRUCT)
        return mf_thrift_skip(logical->thrift, in);
    logical->with = (struct parameters){ .unit = 0 };
    if (mf_thrift_read(logical->thrift, &shape, take_parameter, logical,
                       &type) != MF_OK)
        return logical->thrift->reader->env->error.status;
    print(logical->text, logical->room, in->id, &logical->with);
    return MF_OK;
}

enum mf_status mf_parquet_logical(struct thrift *thrift, char *text,
                                  size_t room)
{
    static const struct thrift_shape shape = { .name = "LogicalType" };
    struct logical_type logical = { .thrift = thrift,
                                    .text = text,
                                    .room = room };
    struct thrift_struct in;

    text[0] = 0;
    return mf_thrift_read(thrift, &shape, take_member, &logical, &in);
}
