/* SPDX-License-Identifier: MIT
 *
 * footer.c - the whole footer, and key/value metadata
 */
#include <stdarg.h>
#include <stdio.h>

#include "parquet/parquet.h"

/* Fields of FileMetaData. */
enum {
    FIELD_VERSION = 1,
    FIELD_SCHEMA = 2,
    FIELD_ROWS = 3,
    FIELD_GROUPS = 4,
    FIELD_KEY_VALUES = 5,
    FIELD_CREATED_BY = 6,
    FIELD_ENCRYPTION = 8
};

/* Fields of a KeyValue. */
enum { KEY = 1, VALUE = 2 };

/* After a footer that is signed: a nonce and a tag, of AES-GCM. */
#define SIGNATURE_SIZE (12 + 16)

void mf_parquet_note(struct parquet *parquet, enum mf_severity severity,
                     enum mf_rule rule, uint64_t at, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    mf_index_note(parquet->index, parquet->part->shard, severity, rule, at,
                  "%s", text);
}

enum mf_status mf_parquet_keep(struct parquet *parquet, struct mf_str text,
                               struct mf_str *out)
{
    char *copy = mf_arena_text(&parquet->index->arena, text.size);

    if (!copy)
        return parquet->index->env->error.status;
    if (text.size > 0)
        memcpy(copy, text.at, text.size);
    *out = (struct mf_str){ copy, text.size };
    return MF_OK;
}

/* ---- texts ---- */

/* The field's bytes, which come next; one of more than `most` bytes stays in
 * the file, and *out is without text. */
static enum mf_status take_text(struct parquet *parquet,
                                const struct thrift_struct *in, uint64_t most,
                                struct mf_span *span, struct mf_str *out)
{
    struct mf_reader *reader = parquet->thrift.reader;
    char *copy;

    *out = (struct mf_str){ NULL, 0 };
    if (mf_thrift_binary(&parquet->thrift, in, &span->size) != MF_OK)
        return reader->env->error.status;
    span->offset = mf_reader_offset(reader);
    if (span->size > most) {
        mf_skip(reader, span->size);
        return mf_reader_check(reader, "the footer");
    }
    copy = mf_arena_text(&parquet->index->arena, (size_t)span->size);
    if (!copy)
        return reader->env->error.status;
    mf_take_bytes(reader, copy, (size_t)span->size);
    *out = (struct mf_str){ copy, (size_t)span->size };
    return mf_reader_check(reader, "the footer");
}

/* ---- key/value metadata ---- */

struct pair {
    struct parquet *parquet;
    struct mf_meta meta;
    struct mf_span key;
};

static enum mf_status take_pair_field(void *user,
                                      const struct thrift_struct *in)
{
    struct pair *pair = user;

    if (in->id == KEY)
        return take_text(pair->parquet, in, MF_NAME_MAX, &pair->key,
                         &pair->meta.key);
    if (in->id == VALUE)
        return take_text(pair->parquet, in, MF_TEXT_KEPT, &pair->meta.span,
                         &pair->meta.text);
    return mf_thrift_skip(&pair->parquet->thrift, in);
}

static const struct thrift_shape pair_shape = {
    "KeyValue",
    UINT64_C(1) << KEY,
    { [KEY] = THRIFT_BINARY, [VALUE] = THRIFT_BINARY }
};

static enum mf_status take_pair(struct parquet *parquet)
{
    struct pair pair = { .parquet = parquet,
                         .meta = { .type = MF_VALUE_STRING,
                                   .text = { "", 0 } } };
    struct mf_env *env = parquet->index->env;
    struct thrift_struct in;
    struct mf_meta *row;

    pair.meta.span.offset = mf_reader_offset(parquet->thrift.reader);
    if (mf_thrift_read(&parquet->thrift, &pair_shape, take_pair_field, &pair,
                       &in) != MF_OK)
        return env->error.status;
    if (!pair.meta.key.at)
        return mf_refuse(env, MF_RULE_FILE_LIMIT, in.at,
                         "a key of %" PRIu64 " bytes, the limit is %d",
                         pair.key.size, MF_NAME_MAX);
    row = mf_index_add_meta(parquet->index, parquet->part);
    if (!row)
        return env->error.status;
    pair.meta.count = pair.meta.span.size;
    pair.meta.shard = row->shard;
    *row = pair.meta;
    return MF_OK;
}

static enum mf_status take_pairs(struct parquet *parquet, uint64_t count)
{
    enum mf_status status = MF_OK;

    if (count > MF_META_MAX)
        return mf_refuse(parquet->index->env, MF_RULE_FILE_LIMIT,
                         mf_reader_offset(parquet->thrift.reader),
                         "%" PRIu64 " keys, the limit is %" PRIu64, count,
                         MF_META_MAX);
    for (uint64_t i = 0; status == MF_OK && i < count; i++)
        status = take_pair(parquet);
    return status;
}

/* ---- the footer ---- */

static enum mf_status take_list(struct parquet *parquet,
                                const struct thrift_struct *in)
{
    struct thrift_list list;

    if (in->id == FIELD_GROUPS && !(in->seen >> FIELD_SCHEMA & 1))
        return mf_refuse(parquet->index->env, MF_RULE_PARQUET_FIELD,
                         mf_reader_offset(parquet->thrift.reader),
                         "groups of rows precede the schema");
    if (mf_thrift_list(&parquet->thrift, in, THRIFT_STRUCT, &list) != MF_OK)
        return parquet->index->env->error.status;
    switch (in->id) {
    case FIELD_SCHEMA:
        return mf_parquet_schema(parquet, list.count);
    case FIELD_GROUPS:
        return mf_parquet_groups(parquet, list.count);
    default:
        return take_pairs(parquet, list.count);
    }
}

/* Anything but a small number is as if there were none: nothing is read another
 * way because of it. */
static enum mf_status take_version(struct parquet *parquet,
                                   const struct thrift_struct *in)
{
    int64_t version = 0;

    if (mf_thrift_integer(&parquet->thrift, in, &version) != MF_OK)
        return parquet->index->env->error.status;
    if (version > 0 && version <= UINT16_MAX)
        parquet->index->kind.version = (uint32_t)version;
    return MF_OK;
}

static enum mf_status take_field(void *user, const struct thrift_struct *in)
{
    struct parquet *parquet = user;
    struct mf_span unused;

    switch (in->id) {
    case FIELD_VERSION:
        return take_version(parquet, in);
    case FIELD_SCHEMA:
    case FIELD_GROUPS:
    case FIELD_KEY_VALUES:
        return take_list(parquet, in);
    case FIELD_ROWS:
        return mf_thrift_integer(&parquet->thrift, in, &parquet->rows);
    case FIELD_CREATED_BY:
        return take_text(parquet, in, MF_TEXT_KEPT, &unused,
                         &parquet->table->created_by);
    default:
        return mf_thrift_skip(&parquet->thrift, in);
    }
}

/* The struct has to end where the footer does, or its signature begins. */
static void check_end(struct parquet *parquet, const struct thrift_struct *in)
{
    uint64_t left = mf_reader_left(parquet->thrift.reader);
    bool is_signed = in->seen >> FIELD_ENCRYPTION & 1;

    if (left != (is_signed ? SIGNATURE_SIZE : 0))
        mf_parquet_note(parquet, MF_WARNING, MF_RULE_PARQUET_UNUSED,
                        mf_reader_offset(parquet->thrift.reader),
                        "%" PRIu64 " bytes follow the end of the metadata%s",
                        left, is_signed ? ", a signature has 28" : "");
    if (parquet->encrypted > 0)
        mf_parquet_note(parquet, MF_NOTE, MF_RULE_PARQUET_ENCRYPTED,
                        MF_NO_OFFSET, "%" PRIu64 " of %zu chunks are encrypted",
                        parquet->encrypted, parquet->table->chunk_count);
}

static void check_types(struct parquet *parquet)
{
    const struct thrift *thrift = &parquet->thrift;
    const struct thrift_stray *stray = &thrift->stray;

    if (thrift->stray_count > 0)
        mf_parquet_note(parquet, MF_NOTE, MF_RULE_PARQUET_FIELD, stray->at,
                        "%" PRIu64 " field%s of another type than the "
                        "format's, passed over: field %d of %s is of Thrift's "
                        "type %u",
                        thrift->stray_count,
                        thrift->stray_count == 1 ? "" : "s", stray->id,
                        stray->name, stray->type);
}

static void check_rows(struct parquet *parquet)
{
    /* The one file of a folder of them that has their schema only may say how
     * many rows all of them have.  Old writers of parquet-rs left 0; readers
     * go by the groups. */
    bool is_harmless = parquet->table->group_count == 0 || parquet->rows == 0;

    if (parquet->rows < 0 || parquet->rows != parquet->group_rows)
        mf_parquet_note(parquet, is_harmless ? MF_WARNING : MF_ERROR,
                        MF_RULE_PARQUET_ROWS, parquet->footer.offset,
                        "the file is said to have %" PRId64
                        " rows, but its groups have %" PRId64,
                        parquet->rows, parquet->group_rows);
    parquet->table->rows = parquet->rows < 0 ? 0 : (uint64_t)parquet->rows;
}

static const struct thrift_shape shape = {
    "FileMetaData",
    UINT64_C(1) << FIELD_VERSION | 1 << FIELD_SCHEMA | 1 << FIELD_ROWS |
        1 << FIELD_GROUPS,
    { [FIELD_VERSION] = THRIFT_I64,
      [FIELD_SCHEMA] = THRIFT_LIST,
      [FIELD_ROWS] = THRIFT_I64,
      [FIELD_GROUPS] = THRIFT_LIST,
      [FIELD_KEY_VALUES] = THRIFT_LIST,
      [FIELD_CREATED_BY] = THRIFT_BINARY,
      [FIELD_ENCRYPTION] = THRIFT_STRUCT }
};

enum mf_status mf_parquet_footer(struct parquet *parquet)
{
    struct thrift_struct in;

    if (mf_thrift_read(&parquet->thrift, &shape, take_field, parquet, &in) !=
        MF_OK)
        return parquet->index->env->error.status;
    check_end(parquet, &in);
    check_types(parquet);
    check_rows(parquet);
    return MF_OK;
}
