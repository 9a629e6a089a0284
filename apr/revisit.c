/* SPDX-License-Identifier: MIT
 *
 * revisit.c - validation of objects in the metadata of APR version 2
 */
#include "apr/apr.h"
#include "apr/known.h"

static const struct field {
    const char *key, *name;
    enum kind kind;
    enum range range;
} fields[] = {
#define KNOWN(key, kind, range, ...)
#define FIELD(key, name, kind, range) { key, name, kind, range },
#include "apr/known.def"
#undef FIELD
#undef KNOWN
};

#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

static enum kind kind_of_token(const struct mf_json *json,
                               enum mf_json_token token, uint64_t *number)
{
    *number = 0;

    switch (token) {
    case MF_JSON_STRING:
        return TEXT;
    case MF_JSON_NUMBER:
        return mf_json_plain_u64(json, number) ? COUNT | REAL : REAL;
    case MF_JSON_TRUE:
    case MF_JSON_FALSE:
        return FLAG;
    case MF_JSON_NULL:
        return OR_NULL;
    default:
        return 0;
    }
}

/* A field of an object; of duplicates the last one counts. */
struct seen {
    uint64_t offset; /* 0: missing */
    enum kind kind;
    uint64_t number; /* of a COUNT */
};

static void take_field(const struct mf_json *json, enum mf_json_token token,
                       struct seen *out)
{
    out->offset = json->token_offset;
    out->kind = kind_of_token(json, token, &out->number);
}

static bool has_fields(const struct mf_meta *meta)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (mf_str_is(meta->key, fields[i].key))
            return meta->type == MF_VALUE_OBJECT;
    return false;
}

/* seen: a row for each of fields[]. */
static enum mf_status read_fields(struct mf_json *json,
                                  const struct mf_meta *meta, struct seen *seen)
{
    enum mf_json_token token;
    char name[32];
    uint64_t size;
    bool more;

    mf_json_next(json); /* the object's '{' */
    while (mf_json_next(json) == MF_JSON_KEY) {
        if (mf_json_text(json, name, sizeof(name) - 1, &size, &more) != MF_OK)
            return json->reader->env->error.status;
        name[size] = 0;
        token = mf_json_next(json);
        for (size_t i = 0; i < FIELD_COUNT && !more; i++)
            if (mf_str_is(meta->key, fields[i].key) &&
                strcmp(name, fields[i].name) == 0)
                take_field(json, token, &seen[i]);
        if (mf_json_skip(json, token) != MF_OK)
            return json->reader->env->error.status;
    }
    return json->reader->env->error.status;
}

static void check_fields(struct mf_index *index, const struct mf_meta *meta,
                         const struct seen *seen)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const struct field *field = &fields[i];

        if (!mf_str_is(meta->key, field->key))
            continue;
        if (seen[i].offset != 0 && !(seen[i].kind & field->kind))
            mf_index_note(index, meta->shard, MF_ERROR,
                          MF_RULE_APR_METADATA_TYPE, seen[i].offset,
                          "'%s' of '%s' has a type for which aprender refuses "
                          "the file",
                          field->name, field->key);
        else if (seen[i].kind & COUNT &&
                 seen[i].number > range_max(field->range))
            mf_index_note(index, meta->shard, MF_ERROR,
                          MF_RULE_APR_METADATA_RANGE, seen[i].offset,
                          "'%s' of '%s' is %" PRIu64 ", which does not fit %s: "
                          "aprender refuses the file",
                          field->name, field->key, seen[i].number,
                          range_name(field->range));
        else if (seen[i].offset == 0 && !(field->kind & OR_NULL))
            mf_index_note(index, meta->shard, MF_ERROR,
                          MF_RULE_APR_METADATA_FIELD, meta->span.offset,
                          "'%s' has no '%s', so aprender refuses the file",
                          field->key, field->name);
    }
}

/* The field `name` of the object under key; NULL if missing or not a count. */
static const struct seen *count_of(const struct seen *seen, const char *key,
                                   const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].key, key) == 0 &&
            strcmp(fields[i].name, name) == 0)
            return seen[i].offset != 0 && (seen[i].kind & COUNT) ? &seen[i]
                                                                 : NULL;
    return NULL;
}

/* Shards are counted from 0. */
static void check_shard(struct mf_index *index, const struct mf_meta *meta,
                        const struct seen *seen)
{
    const struct seen *number = count_of(seen, "sharding", "shard_index");
    const struct seen *count = count_of(seen, "sharding", "shard_count");

    if (number && count && number->number >= count->number)
        mf_index_note(
            index, meta->shard, MF_ERROR, MF_RULE_APR_SHARD, number->offset,
            "shard_index %" PRIu64 " is out of range: shard_count is %" PRIu64,
            number->number, count->number);
}

static void go_to(struct mf_reader *reader, const struct mf_meta *meta)
{
    mf_reader_limit(reader, UINT64_MAX);
    mf_reader_seek(reader, meta->span.offset);
    mf_reader_limit(reader, meta->span.offset + meta->span.size);
}

static enum mf_status revisit_object(struct mf_reader *reader,
                                     struct mf_index *index,
                                     const struct mf_meta *meta)
{
    struct seen seen[FIELD_COUNT] = { 0 };
    struct mf_json json;

    go_to(reader, meta);
    mf_json_init(&json, reader);
    if (read_fields(&json, meta, seen) != MF_OK)
        return reader->env->error.status;
    check_fields(index, meta, seen);
    check_shard(index, meta, seen);
    return MF_OK;
}

enum mf_status mf_apr_revisit(struct mf_reader *reader, struct mf_index *index,
                              const struct mf_meta *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mf_meta *meta = &rows[i];

        mf_apr_check_range(index, meta);
        if (has_fields(meta) && revisit_object(reader, index, meta) != MF_OK)
            return reader->env->error.status;
        if (meta->type != MF_VALUE_OBJECT && meta->type != MF_VALUE_ARRAY)
            continue;
        go_to(reader, meta);
        if (mf_json_check_members(reader, index, meta) != MF_OK)
            return reader->env->error.status;
    }
    return MF_OK;
}
