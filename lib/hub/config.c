/* SPDX-License-Identifier: MIT
 *
 * config.c - the config.json of a Hugging Face model
 */
#include "lib/hub/config.h"

#include <math.h>
#include <stdio.h>

#include "lib/folder/sidecar.h"
#include "lib/json/json_walk.h"

const struct mf_config_row mf_config_rows[MF_CONFIG_COUNT] = {
#define FIELD(NAME, path, KIND, needed, gguf, TYPE)                            \
    { path, MF_KIND_##KIND, needed, gguf, MF_VALUE_##TYPE },
#include "lib/hub/config.def"
#undef FIELD
};

struct config_reader {
    struct mf_env *env;
    struct mf_json *json;
    struct mf_config *config;
};

/* ---- values ---- */

enum mf_status mf_config_invalid(struct mf_env *env, enum mf_config_field field,
                                 uint64_t offset)
{
    static const char *const wanted[] = {
        [MF_KIND_COUNT] = "a whole number from 1 to 4294967295",
        [MF_KIND_NUMBER] = "a number above 0",
        [MF_KIND_TEXT] = "a string of at most 63 bytes",
        [MF_KIND_ID] = "a whole number from 0 to 4294967295",
    };

    return mf_fail(env, MF_ERR_CORRUPT, offset, "'%s' must be %s",
                   mf_config_rows[field].path,
                   wanted[mf_config_rows[field].kind]);
}

enum mf_status mf_config_missing(struct mf_env *env, enum mf_config_field field)
{
    return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET, "missing key '%s'",
                   mf_config_rows[field].path);
}

enum mf_status mf_config_unsupported(struct mf_env *env, const char *key,
                                     const char *value)
{
    struct mf_str name = { key, strlen(key) }, text = { value, strlen(value) };

    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'%s'%s%s has no known equivalent in GGUF",
                   mf_quote(name).text, *value ? " " : "", mf_quote(text).text);
}

static enum mf_status invalid_value(const struct config_reader *reader,
                                    enum mf_config_field field)
{
    return mf_config_invalid(reader->env, field, reader->json->token_offset);
}

static enum mf_status failed(const struct config_reader *reader)
{
    return reader->env->error.status;
}

static enum mf_status read_number(struct config_reader *reader,
                                  enum mf_config_field field,
                                  enum mf_json_token token)
{
    struct mf_config_value *value = &reader->config->value[field];
    uint64_t min = mf_config_rows[field].kind == MF_KIND_COUNT;
    union mf_number number;

    if (token != MF_JSON_NUMBER)
        return invalid_value(reader, field);
    value->type = mf_json_number(reader->json, &value->number);
    if (mf_config_rows[field].kind == MF_KIND_NUMBER
            ? !mf_number_as(value->type, value->number, MF_VALUE_F32,
                            &number) ||
                  !(number.f64 > 0) || isinf(number.f64)
            : value->type != MF_VALUE_U64 || value->number.u64 < min ||
                  value->number.u64 > UINT32_MAX)
        return invalid_value(reader, field);
    value->given = true;
    return MF_OK;
}

static enum mf_status read_text(struct config_reader *reader,
                                enum mf_config_field field,
                                enum mf_json_token token)
{
    struct mf_config_value *value = &reader->config->value[field];
    uint64_t size;
    bool more;

    if (token != MF_JSON_STRING)
        return invalid_value(reader, field);
    if (mf_json_text(reader->json, value->text, MF_CONFIG_TEXT, &size, &more) !=
        MF_OK)
        return failed(reader);
    if (more || memchr(value->text, 0, (size_t)size))
        return invalid_value(reader, field);
    value->text[size] = 0;
    value->type = MF_VALUE_STRING;
    value->given = true;
    return MF_OK;
}

static enum mf_status read_value(struct config_reader *reader,
                                 enum mf_config_field field,
                                 enum mf_json_token token)
{
    struct mf_config_value *value = &reader->config->value[field];

    if (value->seen)
        return mf_fail(reader->env, MF_ERR_CORRUPT, reader->json->token_offset,
                       "duplicate key '%s'", mf_config_rows[field].path);
    value->seen = true;
    if (token == MF_JSON_NULL)
        return MF_OK;
    switch (mf_config_rows[field].kind) {
    case MF_KIND_COUNT:
    case MF_KIND_NUMBER:
        return read_number(reader, field, token);
    case MF_KIND_TEXT:
        return read_text(reader, field, token);
    case MF_KIND_ID: /* a list of ids does not say which one is meant */
        return token == MF_JSON_NUMBER ? read_number(reader, field, token)
                                       : mf_json_skip(reader->json, token);
    default:
        value->given = true;
        return mf_json_skip(reader->json, token);
    }
}

/* ---- the file ---- */

static enum mf_config_field find_field(const char *path)
{
    for (unsigned i = 0; i < MF_CONFIG_COUNT; i++)
        if (strcmp(mf_config_rows[i].path, path) == 0)
            return (enum mf_config_field)i;
    return MF_CONFIG_COUNT;
}

/* The path after rope_scaling or rope_parameters; NULL for other paths. */
static const char *within_rope(const char *path)
{
    static const char *const names[] = { "rope_scaling", "rope_parameters" };

    for (size_t i = 0; i < 2; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0 &&
            (path[strlen(names[i])] == '.' || path[strlen(names[i])] == 0))
            return path + strlen(names[i]);
    return NULL;
}

static enum mf_status visit_rope(struct config_reader *reader, const char *path,
                                 const char *within, enum mf_json_token token)
{
    char *unknown = reader->config->rope_key;
    char full[MF_PATH_MAX + 8];
    enum mf_config_field field;

    if (!*within && token != MF_JSON_BEGIN_OBJECT && token != MF_JSON_NULL)
        return mf_fail(reader->env, MF_ERR_CORRUPT, reader->json->token_offset,
                       "'%s' must be an object", path);
    if (!*within)
        return MF_OK;
    snprintf(full, sizeof(full), "rope%s", within);
    field = find_field(full);
    if (field < MF_CONFIG_COUNT)
        return read_value(reader, field, token);
    if (!*unknown)
        snprintf(unknown, MF_CONFIG_TEXT + 1, "%.*s", MF_CONFIG_TEXT,
                 within + 1);
    return mf_json_skip(reader->json, token);
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct config_reader *reader = user;
    const char *within = within_rope(path);
    enum mf_config_field field = find_field(path);

    if (within)
        return visit_rope(reader, path, within, token);
    if (field < MF_CONFIG_COUNT && strncmp(path, "rope.", 5) != 0)
        return read_value(reader, field, token);
    return !*path || strcmp(path, "architectures") == 0
               ? MF_OK
               : mf_json_skip(reader->json, token);
}

enum mf_status mf_config_read(struct mf_config *config,
                              const struct mf_model *model,
                              struct mf_arena *arena)
{
    struct mf_sidecar file;
    struct config_reader reader = { model->env, &file.json, config };
    enum mf_status status = mf_sidecar_open(&file, model, arena, "config.json");

    *config = (struct mf_config){ 0 };
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, &reader);
    return mf_sidecar_close(&file, status);
}
