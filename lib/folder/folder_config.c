/* SPDX-License-Identifier: MIT
 *
 * folder_config.c - config.json and generation_config.json, as they are
 *
 * lib/hf/hub reads the same file to convert a model, and refuses what it does
 * not understand.  Here nothing is refused: a value of the wrong type is kept
 * as such, since whether it matters depends on the model's type.
 */
#include <stdio.h>
#include <string.h>

#include "lib/folder/folder.h"
#include "lib/folder/sidecar.h"
#include "lib/json/json_walk.h"

#define SIZE_LARGEST INT32_MAX

static const struct row {
    const char *path;
    enum mf_folder_kind kind;
} rows[MF_FIELD_COUNT] = {
#define FIELD(NAME, path, KIND, usual) { path, MF_FOLDER_##KIND },
#include "lib/folder/config.def"
#undef FIELD
};

const char *mf_folder_key(enum mf_folder_field field)
{
    return rows[field].path;
}

struct reading {
    struct mf_folder *folder;
    struct mf_json *json;
    bool ids_only;
};

static enum mf_status read_text(struct reading *reading,
                                struct mf_folder_value *value)
{
    uint64_t size;
    bool more;

    if (mf_json_text(reading->json, value->text, sizeof(value->text) - 1, &size,
                     &more) != MF_OK)
        return reading->folder->model->env->error.status;
    value->text[size] = 0;
    value->given = !more && strlen(value->text) == size;
    value->wrong = !value->given;
    return MF_OK;
}

static void read_size(struct reading *reading, struct mf_folder_value *value)
{
    snprintf(value->text, sizeof(value->text), "%s", reading->json->digits);
    value->given = mf_json_plain_u64(reading->json, &value->number) &&
                   value->number >= 1 && value->number <= SIZE_LARGEST;
    value->wrong = !value->given;
}

/* Negative ids mean "none". */
static void read_id(struct reading *reading, struct mf_folder_value *value)
{
    uint64_t id;

    if (!mf_json_plain_u64(reading->json, &id) ||
        (value->given && id <= value->number))
        return;
    value->given = true;
    value->number = id;
}

/* Counts the elements. */
static enum mf_status read_list(struct reading *reading,
                                struct mf_folder_value *value)
{
    enum mf_json_token token;

    while ((token = mf_json_next(reading->json)) != MF_JSON_END_ARRAY) {
        if (token == MF_JSON_ERROR ||
            mf_json_skip(reading->json, token) != MF_OK)
            return reading->folder->model->env->error.status;
        value->number++;
    }
    value->given = true;
    return MF_OK;
}

static enum mf_status read_value(struct reading *reading,
                                 enum mf_folder_field field,
                                 enum mf_json_token token)
{
    struct mf_folder_value *value = &reading->folder->value[field];

    *value = (struct mf_folder_value){ 0 }; /* the last one of a key counts */
    if (token == MF_JSON_NULL)
        return MF_OK;
    switch (rows[field].kind) {
    case MF_FOLDER_SIZE:
        if (token == MF_JSON_NUMBER) {
            read_size(reading, value);
            return MF_OK;
        }
        break;
    case MF_FOLDER_FLAG:
        value->is_true = token == MF_JSON_TRUE;
        value->given = value->is_true || token == MF_JSON_FALSE;
        value->wrong = !value->given;
        break;
    case MF_FOLDER_TEXT:
        if (token == MF_JSON_STRING)
            return read_text(reading, value);
        break;
    case MF_FOLDER_ID:
        if (token == MF_JSON_NUMBER)
            read_id(reading, value);
        return token == MF_JSON_BEGIN_ARRAY
                   ? MF_OK
                   : mf_json_skip(reading->json, token);
    case MF_FOLDER_LIST:
        if (token == MF_JSON_BEGIN_ARRAY)
            return read_list(reading, value);
        break;
    case MF_FOLDER_ANY:
        value->given = true;
        return mf_json_skip(reading->json, token);
    }
    value->wrong = !value->given;
    snprintf(value->text, sizeof(value->text), "%s",
             token == MF_JSON_STRING ? "a string" : "of another type");
    return mf_json_skip(reading->json, token);
}

/* The field of an element, "eos_token_id.2"; MF_FIELD_COUNT if the array is of
 * no interest. */
static enum mf_folder_field list_field(const char *path)
{
    size_t size = strcspn(path, ".");

    for (unsigned i = 0; i < MF_FIELD_COUNT && path[size]; i++)
        if (rows[i].kind == MF_FOLDER_ID && strlen(rows[i].path) == size &&
            memcmp(rows[i].path, path, size) == 0)
            return (enum mf_folder_field)i;
    return MF_FIELD_COUNT;
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct reading *reading = user;
    enum mf_folder_field list = list_field(path);

    if (!*path ||
        (!reading->ids_only && (strcmp(path, "architectures") == 0 ||
                                strcmp(path, "mlp_only_layers") == 0)))
        return MF_OK;
    if (list < MF_FIELD_COUNT) {
        if (token == MF_JSON_NUMBER)
            read_id(reading, &reading->folder->value[list]);
        return mf_json_skip(reading->json, token);
    }
    for (unsigned i = 0; i < MF_FIELD_COUNT; i++)
        if (strcmp(rows[i].path, path) == 0 &&
            (!reading->ids_only || rows[i].kind == MF_FOLDER_ID))
            return read_value(reading, (enum mf_folder_field)i, token);
    return mf_json_skip(reading->json, token);
}

/* ---- files ---- */

/* Words that Python's json reads and writes. */
static bool is_python_number(const struct mf_sidecar *file)
{
    struct mf_error error = file->env->error;
    uint64_t size = file->source.size;
    uint8_t at[2] = { 0 };
    bool found;

    if (error.offset >= size || size - error.offset < sizeof(at))
        return false;
    mf_clear_error(file->env);
    found = mf_source_read(file->env, &file->source, error.offset, at,
                           sizeof(at)) == MF_OK &&
            (memcmp(at, "Na", 2) == 0 || memcmp(at, "In", 2) == 0 ||
             memcmp(at, "-I", 2) == 0);
    file->env->error = error;
    return found;
}

enum mf_status mf_folder_close(struct mf_folder *folder,
                               struct mf_sidecar *file, enum mf_status status,
                               enum mf_severity severity, bool *good)
{
    struct mf_env *env = folder->model->env;
    struct mf_error error;
    bool by_bytes = status == MF_ERR_CORRUPT ||
                    (status == MF_ERR_LIMIT && *env->error.rule &&
                     env->error.offset != MF_NO_OFFSET);

    *good = status == MF_OK;
    if (status == MF_ERR_LIMIT || (by_bytes && is_python_number(file)))
        severity = MF_NOTE;
    status = mf_sidecar_close(file, status);
    if (!by_bytes)
        return status;
    error = env->error;
    mf_clear_error(env);
    if (error.offset == MF_NO_OFFSET)
        mf_index_note(&folder->model->index, 0, severity, MF_RULE_CONFIG_JSON,
                      MF_NO_OFFSET, "%s", error.message);
    else
        mf_index_note(&folder->model->index, 0, severity, MF_RULE_CONFIG_JSON,
                      MF_NO_OFFSET, "%s (byte %" PRIu64 " of that file)",
                      error.message, error.offset);
    return MF_OK;
}

static enum mf_status read_file(struct reading *reading, const char *name,
                                enum mf_severity severity, bool *found)
{
    struct mf_folder *folder = reading->folder;
    struct mf_sidecar file;
    enum mf_status status;

    *found = mf_sidecar_exists(folder->model, folder->arena, name);
    if (!*found)
        return folder->model->env->error.status;
    status = mf_sidecar_open(&file, folder->model, folder->arena, name);
    reading->json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, reading);
    return mf_folder_close(folder, &file, status, severity, found);
}

enum mf_status mf_folder_read_config(struct mf_folder *folder)
{
    struct reading reading = { .folder = folder };

    return read_file(&reading, "config.json", MF_ERROR, &folder->has_config);
}

/* transformers goes without a generation_config.json that it cannot read. */
enum mf_status mf_folder_read_generation(struct mf_folder *folder, bool *found)
{
    struct reading reading = { .folder = folder, .ids_only = true };

    return read_file(&reading, "generation_config.json", MF_WARNING, found);
}
