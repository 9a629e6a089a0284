/* SPDX-License-Identifier: MIT
 *
 * config.c - what the config.json of a Hugging Face model says
 */
#include "lib/config.h"

#include <math.h>

#include "lib/beside.h"

const struct mf_config_row mf_config_rows[MF_CONFIG_COUNT] = {
#define FIELD(NAME, path, KIND, needed, gguf, TYPE)                            \
    { path, MF_KIND_##KIND, needed, gguf, MF_VALUE_##TYPE },
#include "lib/config.def"
#undef FIELD
};

struct reading {
    struct mf_env *env;
    struct mf_json *json;
    struct mf_config *config;
};

/* ---- values ---- */

enum mf_status mf_config_wrong(struct mf_env *env, enum mf_config_field field,
                               uint64_t offset)
{
    static const char *const wanted[] = {
        [MF_KIND_COUNT] = "a whole number from 1 to 4294967295",
        [MF_KIND_NUMBER] = "a number above 0",
        [MF_KIND_TEXT] = "a string of at most 63 bytes",
        [MF_KIND_FIRST] = "an array of strings of at most 63 bytes",
    };

    return mf_fail(env, MF_ERR_CORRUPT, offset, "'%s' must be %s",
                   mf_config_rows[field].path,
                   wanted[mf_config_rows[field].kind]);
}

static enum mf_status wrong_value(const struct reading *reading,
                                  enum mf_config_field field)
{
    return mf_config_wrong(reading->env, field, reading->json->token_offset);
}

static enum mf_status failed(const struct reading *reading)
{
    return reading->env->error.status;
}

static enum mf_status take_number(struct reading *reading,
                                  enum mf_config_field field,
                                  enum mf_json_token token)
{
    struct mf_config_value *value = &reading->config->value[field];
    union mf_number number;

    if (token != MF_JSON_NUMBER)
        return wrong_value(reading, field);
    value->type = mf_json_number(reading->json, &value->number);
    if (mf_config_rows[field].kind == MF_KIND_COUNT
            ? value->type != MF_VALUE_U64 || value->number.u64 < 1 ||
                  value->number.u64 > UINT32_MAX
            : !mf_number_as(value->type, value->number, MF_VALUE_F32,
                            &number) ||
                  !(number.f64 > 0) || isinf(number.f64))
        return wrong_value(reading, field);
    value->given = true;
    return MF_OK;
}

static enum mf_status take_text(struct reading *reading,
                                enum mf_config_field field,
                                enum mf_json_token token)
{
    struct mf_config_value *value = &reading->config->value[field];
    uint64_t size;
    bool more;

    if (token != MF_JSON_STRING)
        return wrong_value(reading, field);
    if (mf_json_text(reading->json, value->text, MF_CONFIG_TEXT, &size,
                     &more) != MF_OK)
        return failed(reading);
    if (more || memchr(value->text, 0, (size_t)size))
        return wrong_value(reading, field);
    value->text[size] = 0;
    value->type = MF_VALUE_STRING;
    value->given = true;
    return MF_OK;
}

/* The array's first element, if it has one. */
static enum mf_status take_first(struct reading *reading,
                                 enum mf_config_field field,
                                 enum mf_json_token token)
{
    if (token != MF_JSON_BEGIN_ARRAY)
        return wrong_value(reading, field);
    token = mf_json_next(reading->json);
    if (token == MF_JSON_ERROR)
        return failed(reading);
    if (token == MF_JSON_END_ARRAY)
        return MF_OK;
    if (take_text(reading, field, token) != MF_OK)
        return failed(reading);
    return mf_json_skip(reading->json, MF_JSON_BEGIN_ARRAY);
}

static enum mf_status take_value(struct reading *reading,
                                 enum mf_config_field field,
                                 enum mf_json_token token)
{
    struct mf_config_value *value = &reading->config->value[field];

    if (value->met)
        return mf_fail(reading->env, MF_ERR_CORRUPT,
                       reading->json->token_offset, "'%s' stands there twice",
                       mf_config_rows[field].path);
    value->met = true;
    if (token == MF_JSON_NULL)
        return MF_OK;
    switch (mf_config_rows[field].kind) {
    case MF_KIND_COUNT:
    case MF_KIND_NUMBER:
        return take_number(reading, field, token);
    case MF_KIND_TEXT:
        return take_text(reading, field, token);
    case MF_KIND_FIRST:
        return take_first(reading, field, token);
    default:
        value->given = true;
        return mf_json_skip(reading->json, token);
    }
}

/* ---- the file ---- */

static enum mf_config_field find_field(const char *prefix, const char *key)
{
    size_t size = strlen(prefix);

    for (unsigned i = 0; i < MF_CONFIG_COUNT; i++)
        if (strncmp(mf_config_rows[i].path, prefix, size) == 0 &&
            strcmp(mf_config_rows[i].path + size, key) == 0)
            return (enum mf_config_field)i;
    return MF_CONFIG_COUNT;
}

/* The key just announced, terminated; "" where it is none of ours by its
 * length or a NUL. */
static enum mf_status take_key(struct reading *reading,
                               char key[MF_CONFIG_TEXT + 1])
{
    uint64_t size;
    bool more;

    if (mf_json_text(reading->json, key, MF_CONFIG_TEXT, &size, &more) != MF_OK)
        return failed(reading);
    key[size] = 0;
    if (more || strlen(key) != size)
        key[0] = 0;
    return MF_OK;
}

static enum mf_status read_object(struct reading *reading, const char *prefix);

static enum mf_status read_rope(struct reading *reading, const char *key,
                                enum mf_json_token token)
{
    if (token == MF_JSON_NULL)
        return MF_OK;
    if (token != MF_JSON_BEGIN_OBJECT)
        return mf_fail(reading->env, MF_ERR_CORRUPT,
                       reading->json->token_offset, "'%s' must be an object",
                       key);
    return read_object(reading, "rope.");
}

static enum mf_status read_member(struct reading *reading, const char *prefix)
{
    char key[MF_CONFIG_TEXT + 1];
    enum mf_json_token token;
    enum mf_config_field field;

    if (take_key(reading, key) != MF_OK)
        return failed(reading);
    token = mf_json_next(reading->json);
    if (token == MF_JSON_ERROR)
        return failed(reading);
    if (!*prefix && (strcmp(key, "rope_scaling") == 0 ||
                     strcmp(key, "rope_parameters") == 0))
        return read_rope(reading, key, token);
    field = find_field(prefix, key);
    if (field < MF_CONFIG_COUNT)
        return take_value(reading, field, token);
    if (*prefix && !*reading->config->rope_key)
        strcpy(reading->config->rope_key, *key ? key : "...");
    return mf_json_skip(reading->json, token);
}

/* To the end of the object that has just begun. */
static enum mf_status read_object(struct reading *reading, const char *prefix)
{
    enum mf_json_token token = mf_json_next(reading->json);

    for (; token == MF_JSON_KEY; token = mf_json_next(reading->json))
        if (read_member(reading, prefix) != MF_OK)
            return failed(reading);
    return token == MF_JSON_END_OBJECT ? MF_OK : failed(reading);
}

static enum mf_status read_file(struct reading *reading)
{
    enum mf_json_token token = mf_json_next(reading->json);

    if (token == MF_JSON_ERROR)
        return failed(reading);
    if (token != MF_JSON_BEGIN_OBJECT)
        return mf_fail(reading->env, MF_ERR_CORRUPT,
                       reading->json->token_offset,
                       "an object must stand here");
    if (read_object(reading, "") != MF_OK)
        return failed(reading);
    return mf_json_next(reading->json) == MF_JSON_END ? MF_OK : failed(reading);
}

enum mf_status mf_config_read(struct mf_config *config,
                              const struct mf_model *model,
                              struct mf_arena *arena)
{
    struct mf_beside file;
    struct reading reading = { model->env, &file.json, config };
    enum mf_status status = mf_beside_open(&file, model, arena, "config.json");

    *config = (struct mf_config){ 0 };
    if (status == MF_OK)
        status = read_file(&reading);
    return mf_beside_close(&file, status);
}
