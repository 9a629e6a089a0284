/* SPDX-License-Identifier: MIT
 *
 * metadata.c - the metadata of APR version 2: one JSON object
 */
#include "apr/apr.h"

enum kind {
    TEXT = 1,
    COUNT = 2,
    REAL = 4,
    OBJECT = 8,
    OR_NULL = 16,
    FLAG = 32,
    TEXT_OR_NULL = TEXT | OR_NULL,
    COUNT_OR_NULL = COUNT | OR_NULL,
    REAL_OR_NULL = REAL | OR_NULL,
    OBJECT_OR_NULL = OBJECT | OR_NULL
};

#define ALIASES_MAX 4

struct known {
    const char *key;
    enum kind kind;
    const char *alias[ALIASES_MAX];
};

static const struct known known[] = {
#define KNOWN(key, kind, ...) { key, kind, { __VA_ARGS__ } },
#define FIELD(key, name, kind)
#include "apr/known.def"
#undef FIELD
#undef KNOWN
};

#define KNOWN_COUNT (sizeof(known) / sizeof(*known))

static bool same_key(struct mf_str key, const char *other)
{
    return key.size == strlen(other) && memcmp(key.at, other, key.size) == 0;
}

static bool is(const struct mf_meta *meta, const char *key)
{
    return same_key(meta->key, key);
}

/* True where key is the row's own or one of its aliases. */
static bool means(const struct known *row, struct mf_str key)
{
    if (same_key(key, row->key))
        return true;
    for (size_t i = 0; row->alias[i]; i++)
        if (same_key(key, row->alias[i]))
            return true;
    return false;
}

static enum kind kind_of(enum mf_value_type type)
{
    switch (type) {
    case MF_VALUE_STRING:
        return TEXT;
    case MF_VALUE_U64:
        return COUNT | REAL;
    case MF_VALUE_I64:
    case MF_VALUE_F64:
        return REAL;
    case MF_VALUE_OBJECT:
        return OBJECT;
    case MF_VALUE_NULL:
        return OR_NULL;
    default:
        return 0;
    }
}

bool apr_key_takes(struct mf_str key, enum mf_value_type type)
{
    for (size_t row = 0; row < KNOWN_COUNT; row++)
        if (same_key(key, known[row].key))
            return kind_of(type) & known[row].kind;
    return true;
}

bool apr_key_owned(struct mf_str key)
{
    for (size_t row = 0; row < KNOWN_COUNT; row++)
        if (means(&known[row], key))
            return true;
    return false;
}

/* seen: for each row the first metadatum that meant it, or NULL. */
static void check_entry(struct mf_index *index, const struct mf_meta *meta,
                        size_t row, size_t *seen)
{
    const struct mf_meta *first;

    if (is(meta, known[row].key) && !(kind_of(meta->type) & known[row].kind))
        mf_index_note(index, MF_ERROR, MF_RULE_APR_METADATA_TYPE,
                      meta->span.offset,
                      "'%s' is of type %s, with which aprender refuses the "
                      "file",
                      known[row].key, mf_value_type_name(meta->type));
    if (seen[row] == 0) {
        seen[row] = (size_t)(meta - index->meta) + 1;
        return;
    }
    first = &index->meta[seen[row] - 1];
    if (!is(meta, first->key.at))
        mf_index_note(index, MF_WARNING, MF_RULE_APR_METADATA_ALIAS,
                      meta->span.offset,
                      "'%s' and '%s' are the same to realizar, which then "
                      "drops all metadata",
                      mf_quote(first->key).text, mf_quote(meta->key).text);
}

static void check_known(struct mf_index *index)
{
    size_t seen[KNOWN_COUNT] = { 0 };

    for (size_t i = 0; i < index->meta_count; i++)
        for (size_t row = 0; row < KNOWN_COUNT; row++)
            if (means(&known[row], index->meta[i].key)) {
                check_entry(index, &index->meta[i], row, seen);
                break;
            }
}

static enum mf_status read_members(struct mf_json *json, struct mf_index *index)
{
    struct mf_env *env = index->env;

    for (;;) {
        enum mf_json_token token = mf_json_next(json);
        struct mf_meta *meta;

        if (token == MF_JSON_END_OBJECT)
            break;
        if (token == MF_JSON_ERROR)
            return env->error.status;
        meta = mf_index_add_meta(index);
        if (!meta ||
            mf_json_key_text(json, &index->arena, &meta->key) != MF_OK ||
            mf_json_meta(json, mf_json_next(json), &index->arena, meta) !=
                MF_OK)
            return env->error.status;
    }
    return mf_json_next(json) == MF_JSON_END ? MF_OK : env->error.status;
}

enum mf_status apr_read_metadata(struct mf_reader *reader,
                                 struct mf_index *index, struct mf_span span)
{
    enum mf_json_token first;
    struct mf_json json;

    mf_json_init(&json, reader);
    first = mf_json_next(&json);
    if (first == MF_JSON_ERROR)
        return reader->env->error.status;
    if (first != MF_JSON_BEGIN_OBJECT)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, span.offset,
                         "the metadata is JSON, but no object");
    if (read_members(&json, index) != MF_OK)
        return reader->env->error.status;
    check_known(index);
    return MF_OK;
}

/* ---- fields of known objects ---- */

static const struct field {
    const char *key, *name;
    enum kind kind;
} fields[] = {
#define KNOWN(key, kind, ...)
#define FIELD(key, name, kind) { key, name, kind },
#include "apr/known.def"
#undef FIELD
#undef KNOWN
};

#define FIELD_COUNT (sizeof(fields) / sizeof(*fields))

static enum kind kind_of_token(const struct mf_json *json,
                               enum mf_json_token token)
{
    uint64_t number;

    switch (token) {
    case MF_JSON_STRING:
        return TEXT;
    case MF_JSON_NUMBER:
        return mf_json_plain_u64(json, &number) ? COUNT | REAL : REAL;
    case MF_JSON_TRUE:
    case MF_JSON_FALSE:
        return FLAG;
    case MF_JSON_NULL:
        return OR_NULL;
    default:
        return 0;
    }
}

/* A field as it stands in an object: twice, the last one counts. */
struct seen {
    uint64_t offset; /* 0: it does not */
    enum kind kind;
};

static bool has_fields(const struct mf_meta *meta)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (is(meta, fields[i].key))
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
            if (is(meta, fields[i].key) && strcmp(name, fields[i].name) == 0)
                seen[i] = (struct seen){ json->token_offset,
                                         kind_of_token(json, token) };
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

        if (!is(meta, field->key))
            continue;
        if (seen[i].offset != 0 && !(seen[i].kind & field->kind))
            mf_index_note(index, MF_ERROR, MF_RULE_APR_METADATA_TYPE,
                          seen[i].offset,
                          "'%s' of '%s' has a value of a type with which "
                          "aprender refuses the file",
                          field->name, field->key);
        else if (seen[i].offset == 0 && !(field->kind & OR_NULL))
            mf_index_note(index, MF_ERROR, MF_RULE_APR_METADATA_FIELD,
                          meta->span.offset,
                          "'%s' lacks '%s', without which aprender refuses the "
                          "file",
                          field->key, field->name);
    }
}

enum mf_status apr_check_fields(struct mf_reader *reader,
                                struct mf_index *index)
{
    for (size_t i = 0; i < index->meta_count; i++) {
        const struct mf_meta *meta = &index->meta[i];
        struct seen seen[FIELD_COUNT] = { 0 };
        struct mf_json json;

        if (!has_fields(meta))
            continue;
        mf_reader_limit(reader, UINT64_MAX);
        mf_reader_seek(reader, meta->span.offset);
        mf_reader_limit(reader, meta->span.offset + meta->span.size);
        mf_json_init(&json, reader);
        if (read_fields(&json, meta, seen) != MF_OK)
            return reader->env->error.status;
        check_fields(index, meta, seen);
    }
    return MF_OK;
}
