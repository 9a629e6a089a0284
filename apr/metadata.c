/* SPDX-License-Identifier: MIT
 *
 * metadata.c - the metadata of APR version 2: one JSON object
 */
#include <math.h>

#include "apr/apr.h"
#include "apr/known.h"

#define ALIASES_MAX 4

struct known {
    const char *key;
    enum kind kind;
    enum range range;
    const char *alias[ALIASES_MAX];
};

static const struct known known[] = {
#define KNOWN(key, kind, range, ...) { key, kind, range, { __VA_ARGS__ } },
#define FIELD(key, name, kind, range)
#include "apr/known.def"
#undef FIELD
#undef KNOWN
};

#define KNOWN_COUNT (sizeof(known) / sizeof(*known))

/* Whether key is the row's key or one of its aliases. */
static bool matches(const struct known *row, struct mf_str key)
{
    if (mf_str_is(key, row->key))
        return true;
    for (size_t i = 0; row->alias[i]; i++)
        if (mf_str_is(key, row->alias[i]))
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

bool mf_apr_key_takes(struct mf_str key, enum mf_value_type type)
{
    for (size_t row = 0; row < KNOWN_COUNT; row++)
        if (mf_str_is(key, known[row].key))
            return kind_of(type) & known[row].kind;
    return true;
}

bool mf_apr_key_owned(struct mf_str key)
{
    for (size_t row = 0; row < KNOWN_COUNT; row++)
        if (matches(&known[row], key))
            return true;
    return false;
}

/* seen: for each row, 1 + the index of the first entry that matched it, or 0.
 */
static void check_entry(struct mf_index *index, const struct mf_meta *meta,
                        size_t row, size_t *seen)
{
    const struct mf_meta *first;

    if (mf_str_is(meta->key, known[row].key) &&
        !(kind_of(meta->type) & known[row].kind))
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_APR_METADATA_TYPE,
                      meta->span.offset,
                      "'%s' is of type %s, so aprender refuses the file",
                      known[row].key, mf_value_type_name(meta->type));
    if (seen[row] == 0) {
        seen[row] = (size_t)(meta - index->meta) + 1;
        return;
    }
    first = &index->meta[seen[row] - 1];
    if (!mf_str_is(meta->key, first->key.at))
        mf_index_note(index, meta->shard, MF_WARNING,
                      MF_RULE_APR_METADATA_ALIAS, meta->span.offset,
                      "'%s' and '%s' are the same key to realizar, which "
                      "drops all metadata then",
                      mf_quote(first->key).text, mf_quote(meta->key).text);
}

static void check_known(struct mf_index *index)
{
    size_t seen[KNOWN_COUNT] = { 0 };

    for (size_t i = 0; i < index->meta_count; i++)
        for (size_t row = 0; row < KNOWN_COUNT; row++)
            if (matches(&known[row], index->meta[i].key)) {
                check_entry(index, &index->meta[i], row, seen);
                break;
            }
}

/* One as large as 1e400 is META-NOT-FINITE: no JSON reader takes it. */
static void check_range(struct mf_index *index, const struct mf_meta *meta,
                        enum range range)
{
    if (meta->type == MF_VALUE_U64 && range != F32 &&
        meta->number.u64 > range_max(range))
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_APR_METADATA_RANGE,
                      meta->span.offset,
                      "'%s' is %" PRIu64 ", which does not fit %s: aprender "
                      "refuses the file",
                      mf_quote(meta->key).text, meta->number.u64,
                      range_name(range));
    if (meta->type == MF_VALUE_F64 && range == F32 &&
        isfinite(meta->number.f64) && isinf((float)meta->number.f64))
        mf_index_note(index, meta->shard, MF_ERROR, MF_RULE_APR_METADATA_RANGE,
                      meta->span.offset,
                      "'%s' is %s, which does not fit f32: aprender reads "
                      "infinity",
                      mf_quote(meta->key).text,
                      mf_number_text(meta->number.f64, 6).at);
}

void mf_apr_check_range(struct mf_index *index, const struct mf_meta *meta)
{
    for (size_t row = 0; row < KNOWN_COUNT; row++)
        if (mf_str_is(meta->key, known[row].key))
            check_range(index, meta, known[row].range);
}

static enum mf_status read_members(struct mf_json *json, struct mf_index *index,
                                   const struct mf_part *part)
{
    struct mf_env *env = index->env;

    for (;;) {
        enum mf_json_token token = mf_json_next(json);
        struct mf_meta *meta;

        if (token == MF_JSON_END_OBJECT)
            break;
        if (token == MF_JSON_ERROR)
            return env->error.status;
        meta = mf_index_add_meta(index, part);
        if (!meta ||
            mf_json_read_key(json, &index->arena, &meta->key) != MF_OK ||
            mf_json_read_meta(json, mf_json_next(json), &index->arena, meta) !=
                MF_OK)
            return env->error.status;
    }
    return mf_json_next(json) == MF_JSON_END ? MF_OK : env->error.status;
}

enum mf_status mf_apr_read_metadata(struct mf_reader *reader,
                                    struct mf_index *index,
                                    const struct mf_part *part,
                                    struct mf_span span)
{
    enum mf_json_token first;
    struct mf_json json;

    mf_json_init(&json, reader);
    first = mf_json_next(&json);
    if (first == MF_JSON_ERROR)
        return reader->env->error.status;
    if (first != MF_JSON_BEGIN_OBJECT)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, span.offset,
                         "the metadata is not a JSON object");
    if (read_members(&json, index, part) != MF_OK)
        return reader->env->error.status;
    check_known(index);
    return MF_OK;
}
