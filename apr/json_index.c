/* SPDX-License-Identifier: MIT
 *
 * json_index.c - a tensor index in JSON, as realizar writes it for models in
 * f32
 *
 *     [{"name":"weights","dtype":"json","shape":[17],"offset":0,"size":17}]
 */
#include "apr/apr.h"

enum field { NAME = 1, DTYPE = 2, SHAPE = 4, OFFSET = 8, SIZE = 16 };

static enum mf_status refuse(struct mf_json *json, const char *what)
{
    return mf_refuse(json->reader->env, MF_RULE_FILE_FIELD, json->token_offset,
                     "JSON tensor index: %s", what);
}

/* If the token is an error, the tokenizer has set the message already. */
static enum mf_status unexpected(struct mf_json *json, enum mf_json_token token,
                                 const char *what)
{
    return token == MF_JSON_ERROR ? json->reader->env->error.status
                                  : refuse(json, what);
}

static enum mf_status read_number(struct mf_json *json, uint64_t *out)
{
    enum mf_json_token token = mf_json_next(json);

    if (token == MF_JSON_NUMBER && mf_json_plain_u64(json, out))
        return MF_OK;
    return unexpected(json, token, "expected an integer from 0 on");
}

/* A dtype is aprender's name of a type ("F32"), or "json" for a tensor whose
 * data is JSON. */
static enum mf_status read_dtype(struct mf_json *json, struct mf_record *record)
{
    enum mf_json_token token = mf_json_next(json);
    char word[16];
    uint64_t size;
    bool more;

    if (token != MF_JSON_STRING)
        return unexpected(json, token, "dtype is not a string");
    if (mf_json_text(json, word, sizeof(word) - 1, &size, &more) != MF_OK)
        return json->reader->env->error.status;
    for (uint64_t i = 0; i < size; i++)
        if (word[i] >= 'A' && word[i] <= 'Z')
            word[i] = (char)(word[i] - 'A' + 'a');
    word[size] = 0;
    record->type = MF_TYPE_UNKNOWN;
    record->type_id = APR_TYPE_JSON;
    if (!more && strcmp(word, "json") == 0)
        return MF_OK;
    for (int type = 0; type < MF_TYPE_COUNT && !more; type++) {
        uint32_t type_id = mf_apr_type_id((enum mf_type)type);

        if (type_id == MF_NO_TYPE_ID || strcmp(word, mf_types[type].name) != 0)
            continue;
        record->type_id = type_id;
        return MF_OK;
    }
    return mf_refuse(json->reader->env, MF_RULE_APR_DTYPE, json->token_offset,
                     "JSON tensor index: unknown dtype '%s'",
                     mf_quote((struct mf_str){ word, (size_t)size }).text);
}

static enum mf_status read_shape(struct mf_json *json, struct mf_index *index,
                                 struct mf_record *record)
{
    enum mf_json_token token = mf_json_next(json);
    uint64_t dim[MF_RANK_MAX], *kept;

    if (token != MF_JSON_BEGIN_ARRAY)
        return unexpected(json, token, "shape is not an array");
    record->rank = 0;
    while ((token = mf_json_next(json)) == MF_JSON_NUMBER) {
        if (record->rank == MF_RANK_MAX ||
            !mf_json_plain_u64(json, &dim[record->rank]))
            return refuse(json, "shape has a value that is not an integer "
                                "from 0 on, or more than 64 values");
        record->rank++;
    }
    if (token != MF_JSON_END_ARRAY)
        return unexpected(json, token,
                          "shape has a value that is not a "
                          "number");
    kept = mf_index_dims(index, record->rank);
    if (!kept)
        return index->env->error.status;
    memcpy(kept, dim, record->rank * sizeof(*dim));
    record->dim = kept;
    return MF_OK;
}

static enum mf_status read_name(struct mf_json *json, struct mf_index *index,
                                struct mf_record *record)
{
    enum mf_json_token token = mf_json_next(json);
    struct mf_str name;

    if (token != MF_JSON_STRING)
        return unexpected(json, token, "name is not a string");
    if (mf_json_read_key(json, &index->tensor_arena, &name) != MF_OK)
        return index->env->error.status;
    record->name = name.at;
    record->name_size = (uint16_t)name.size;
    return MF_OK;
}

static enum mf_status read_field(struct mf_json *json, struct mf_index *index,
                                 struct mf_record *record, unsigned *fields)
{
    char key[16];
    uint64_t size;
    bool more;

    if (mf_json_text(json, key, sizeof(key) - 1, &size, &more) != MF_OK)
        return index->env->error.status;
    key[size] = 0;
    if (!more && strcmp(key, "name") == 0) {
        *fields |= NAME;
        return read_name(json, index, record);
    }
    if (!more && strcmp(key, "dtype") == 0) {
        *fields |= DTYPE;
        return read_dtype(json, record);
    }
    if (!more && strcmp(key, "shape") == 0) {
        *fields |= SHAPE;
        return read_shape(json, index, record);
    }
    if (!more && strcmp(key, "offset") == 0) {
        *fields |= OFFSET;
        return read_number(json, &record->offset);
    }
    if (!more && strcmp(key, "size") == 0) {
        *fields |= SIZE;
        return read_number(json, &record->size);
    }
    return mf_json_skip(json, mf_json_next(json));
}

static enum mf_status read_entry(struct mf_json *json, struct mf_index *index,
                                 const struct mf_part *part)
{
    struct mf_record record = mf_record_begin(part, json->token_offset);
    enum mf_json_token token;
    unsigned fields = 0;

    while ((token = mf_json_next(json)) == MF_JSON_KEY)
        if (read_field(json, index, &record, &fields) != MF_OK)
            return index->env->error.status;
    if (token != MF_JSON_END_OBJECT)
        return unexpected(json, token, "an entry is not an object");
    if (fields != (NAME | DTYPE | SHAPE | OFFSET | SIZE))
        return refuse(json, "an entry has no name, dtype, shape, offset "
                            "or size");
    if (record.type_id == APR_TYPE_JSON)
        record.flags |= MF_RECORD_SIZED | MF_RECORD_SIZE_CHECKED;
    else
        mf_apr_resolve_type(index, &record);
    return mf_index_add(index, &record);
}

enum mf_status mf_apr_read_json_index(struct mf_reader *reader,
                                      struct mf_index *index,
                                      const struct mf_part *part)
{
    enum mf_json_token token;
    struct mf_json json;

    mf_json_init(&json, reader);
    mf_json_next(&json); /* the '[' that brought us here */
    while ((token = mf_json_next(&json)) == MF_JSON_BEGIN_OBJECT)
        if (read_entry(&json, index, part) != MF_OK)
            return reader->env->error.status;
    if (token != MF_JSON_END_ARRAY)
        return unexpected(&json, token, "an entry is not an object");
    return MF_OK;
}
