/* SPDX-License-Identifier: MIT
 *
 * fields.c - what a model of another format than GGUF says about itself
 *
 * config.c reads config.json to convert a model, and refuses what it does not
 * understand.  Here nothing is refused but what is not JSON: a field of another
 * type than usual is kept as such, and whoever needs it says so.
 *
 * Memory does not depend on the file: fields have names that the rows use, and
 * of a list at most MF_ARCH_LIST_MAX elements are kept.
 */
#include "lib/hub/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/json/json_walk.h"
#include "lib/model/facts.h"
#include "lib/model/nearby.h"

#define NAMES_MAX 4096 /* that are looked up; no config.json has as many */
#define TEXT_MAX  63

/* ---- names ---- */

struct field_name {
    char text[MF_PATH_MAX + 1];
    bool inner;
};

/* The name of a path in config.json: without the part of the model in front,
 * and in small letters. */
static struct field_name name_of(const char *path)
{
    static const char *const parts[] = { "text_config.", "llm_config.",
                                         "language_config.",
                                         "thinker_config.text_config." };
    struct field_name name = { .inner = false };
    size_t size = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!name.inner && strncmp(path, parts[i], strlen(parts[i])) == 0) {
            path += strlen(parts[i]);
            name.inner = true;
        }
    for (; path[size]; size++)
        name.text[size] = mf_small(path[size]);
    return name;
}

/* Objects that have fields in them. */
static bool is_part(const char *path)
{
    static const char *const parts[] = {
        "",           "text_config", "llm_config",         "language_config",
        "ffn_config", "attn_config", "linear_attn_config", "thinker_config",
    };
    struct field_name name = name_of(path);

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strcmp(name.text, parts[i]) == 0)
            return true;
    return strcmp(path, "thinker_config.text_config") == 0;
}

struct mf_arch_field *mf_fields_take(struct mf_fields *fields,
                                     struct mf_str name, bool inner,
                                     bool is_key)
{
    size_t i = 0;
    char *text;

    if (fields->looked_up >= NAMES_MAX)
        return NULL;
    fields->looked_up++;
    while (i < fields->count && !mf_str_same(fields->at[i].name, name))
        i++;
    if (i < fields->count)
        return fields->inner[i] && !inner ? NULL : &fields->at[i];
    if (i == MF_FIELDS_MAX || (!is_key && !mf_arch_is_field(name)))
        return NULL;
    text = mf_arena_text(fields->arena, name.size);
    if (!text)
        return NULL;
    memcpy(text, name.at, name.size);
    text[name.size] = '\0';
    fields->at[i].name = (struct mf_str){ text, name.size };
    fields->inner[i] = inner;
    fields->count++;
    return &fields->at[i];
}

void mf_fields_reset(struct mf_arch_field *field)
{
    *field =
        (struct mf_arch_field){ .name = field->name, .kind = MF_ARCH_OTHER };
}

static enum mf_status failed(const struct mf_fields *fields)
{
    return fields->model->env->error.status;
}

/* ---- values ---- */

int64_t mf_fields_number(enum mf_value_type type, union mf_number number)
{
    bool whole = type == MF_VALUE_F64 && number.f64 > -0x1p63 &&
                 number.f64 < 0x1p63 && number.f64 == floor(number.f64);

    switch (type) {
    case MF_VALUE_U64:
        return number.u64 <= INT64_MAX ? (int64_t)number.u64 : INT64_MIN;
    case MF_VALUE_I64:
        return number.i64;
    case MF_VALUE_F64:
        return whole ? (int64_t)number.f64 : INT64_MIN;
    default:
        return number.boolean;
    }
}

enum mf_status mf_fields_keep_text(struct mf_fields *fields,
                                   struct mf_arch_field *field,
                                   struct mf_str text)
{
    char *copy = mf_arena_text(fields->arena, text.size);

    if (!copy)
        return failed(fields);
    memcpy(copy, text.at, text.size);
    copy[text.size] = '\0';
    field->kind = MF_ARCH_TEXT;
    field->text = (struct mf_str){ copy, text.size };
    return MF_OK;
}

/* ---- lists ---- */

void mf_fields_begin_list(struct mf_fields *fields)
{
    fields->element_count = 0;
    fields->all_numbers = true;
}

void mf_fields_add(struct mf_fields *fields, int64_t number)
{
    if (fields->element_count < MF_ARCH_LIST_MAX)
        fields->element[fields->element_count] = number;
    fields->element_count++;
    fields->all_numbers = fields->all_numbers && number >= 0;
}

enum mf_status mf_fields_end_list(struct mf_fields *fields,
                                  struct mf_arch_field *field)
{
    size_t size = (size_t)fields->element_count * sizeof(*field->each);
    int64_t *each;

    field->kind = MF_ARCH_LIST;
    field->count = fields->element_count;
    if (!fields->all_numbers || fields->element_count > MF_ARCH_LIST_MAX ||
        fields->element_count == 0)
        return MF_OK;
    each = mf_arena_take(fields->arena, size);
    if (!each)
        return failed(fields);
    memcpy(each, fields->element, size);
    field->each = each;
    return MF_OK;
}

int64_t mf_fields_kind(struct mf_str word)
{
    static const struct {
        const char *word;
        int kind;
    } kinds[] = {
        { "full_attention", 1 },
        { "attention", 1 },
        { "sparse_attention", 1 },
        { "sliding_attention", 2 },
        { "chunked_attention", 2 },
        { "linear_attention", 3 },
        { "mamba", 3 },
        { "mamba2", 3 },
        { "conv", 3 },
        { "recurrent", 3 },
        { "moe", 4 },
        { "mlp", 4 },
        { "hybrid", 5 },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (mf_str_is(word, kinds[i].word))
            return kinds[i].kind;
    return 0;
}

/* A list as letters, a block each: "M-M*", "LLLG". */
static int64_t letter_kind(char letter)
{
    switch (letter) {
    case '*':
        return 1;
    case 'M':
        return 3;
    case '-':
    case 'E':
        return 4;
    case 'L':
        return 1;
    default:
        return 0;
    }
}

static void add_letters(struct mf_fields *fields, struct mf_str letters)
{
    for (size_t i = 0; i < letters.size; i++)
        mf_fields_add(fields, letter_kind(letters.at[i]));
}

/* ---- config.json ---- */

/* Reads the string, calling add_letters if it is a list of them. */
static enum mf_status read_text(struct mf_fields *fields,
                                struct mf_arch_field *field)
{
    bool letters = mf_str_ends(field->name, "_pattern"), more = true;
    char text[TEXT_MAX + 1] = "";
    uint64_t size = 0;

    mf_fields_begin_list(fields);
    while (more) {
        if (mf_json_text(fields->json, text, TEXT_MAX, &size, &more) != MF_OK)
            return failed(fields);
        if (letters)
            add_letters(fields, (struct mf_str){ text, (size_t)size });
        else if (more) { /* no name is so long */
            field->kind = MF_ARCH_OTHER;
            return MF_OK;
        }
    }
    return letters ? mf_fields_end_list(fields, field)
                   : mf_fields_keep_text(fields, field,
                                         (struct mf_str){ text, (size_t)size });
}

static enum mf_status read_element(struct mf_fields *fields,
                                   enum mf_json_token token)
{
    union mf_number number;
    char text[TEXT_MAX + 1];
    uint64_t size;
    bool more;

    switch (token) {
    case MF_JSON_NUMBER: {
        enum mf_value_type type = mf_json_number(fields->json, &number);

        mf_fields_add(fields, mf_fields_number(type, number));
        return MF_OK;
    }
    case MF_JSON_STRING:
        if (mf_json_text(fields->json, text, TEXT_MAX, &size, &more) != MF_OK)
            return failed(fields);
        mf_fields_add(
            fields,
            more ? 0 : mf_fields_kind((struct mf_str){ text, (size_t)size }));
        return MF_OK;
    case MF_JSON_TRUE:
    case MF_JSON_FALSE:
    case MF_JSON_NULL:
        mf_fields_add(fields, token == MF_JSON_TRUE);
        return MF_OK;
    default:
        mf_fields_add(fields, -1);
        return mf_json_skip(fields->json, token);
    }
}

static enum mf_status read_list(struct mf_fields *fields,
                                struct mf_arch_field *field)
{
    enum mf_json_token token;
    enum mf_status status = MF_OK;

    mf_fields_begin_list(fields);
    while (status == MF_OK &&
           (token = mf_json_next(fields->json)) != MF_JSON_END_ARRAY) {
        if (token == MF_JSON_ERROR)
            return failed(fields);
        status = read_element(fields, token);
    }
    return status == MF_OK ? mf_fields_end_list(fields, field) : status;
}

static enum mf_status read_value(struct mf_fields *fields,
                                 struct mf_arch_field *field,
                                 enum mf_json_token token)
{
    union mf_number number;

    mf_fields_reset(field);
    switch (token) {
    case MF_JSON_NUMBER:
        field->kind = MF_ARCH_NUMBER;
        field->number =
            mf_fields_number(mf_json_number(fields->json, &number), number);
        return MF_OK;
    case MF_JSON_TRUE:
    case MF_JSON_FALSE:
        field->kind = MF_ARCH_NUMBER;
        field->number = token == MF_JSON_TRUE;
        return MF_OK;
    case MF_JSON_STRING:
        return read_text(fields, field);
    case MF_JSON_BEGIN_ARRAY:
        return read_list(fields, field);
    default:
        return mf_json_skip(fields->json, token);
    }
}

static enum mf_status visit(void *user, const char *path,
                            enum mf_json_token token)
{
    struct mf_fields *fields = user;
    struct field_name name = name_of(path);
    struct mf_arch_field *field = NULL;

    if (token == MF_JSON_BEGIN_OBJECT && is_part(path))
        return MF_OK;
    if (token != MF_JSON_NULL) /* null counts as missing */
        field = mf_fields_take(fields,
                               (struct mf_str){ name.text, strlen(name.text) },
                               name.inner, false);
    if (failed(fields) != MF_OK)
        return failed(fields);
    return field ? read_value(fields, field, token)
                 : mf_json_skip(fields->json, token);
}

static enum mf_status read_config(struct mf_fields *fields)
{
    struct mf_sidecar file;
    enum mf_status status =
        mf_sidecar_open(&file, fields->model, fields->arena, "config.json");

    fields->json = &file.json;
    if (status == MF_OK)
        status = mf_json_walk(&file.json, visit, fields);
    return mf_sidecar_close(&file, status);
}

/* ---- both ---- */

static enum mf_status collect(struct mf_fields *fields, bool *found)
{
    struct mf_model *model = fields->model;
    struct mf_meta name;
    enum mf_status status = mf_fields_read_metadata(fields);

    if (status != MF_OK || !mf_nearby_any(model) ||
        mf_model_fact(model, MF_FACT_ARCHITECTURE, &name, NULL) ||
        !mf_sidecar_exists(model, fields->arena, "config.json"))
        return failed(fields);
    status = read_config(fields);
    *found = status == MF_OK;
    return status;
}

enum mf_status mf_hub_fields(struct mf_model *model, struct mf_arena *arena,
                             struct mf_arch_fields *out, bool *found)
{
    struct mf_env *env = model->env;
    struct mf_fields *fields = mf_alloc(env, sizeof(*fields));
    bool none;
    enum mf_status status;

    *out = (struct mf_arch_fields){ 0 };
    found = found ? found : &none;
    *found = false;
    if (!fields)
        return env->error.status;
    memset(fields, 0, sizeof(*fields));
    fields->model = model;
    fields->arena = arena;
    fields->at = mf_arena_take(arena, MF_FIELDS_MAX * sizeof(*fields->at));
    status = fields->at ? collect(fields, found) : env->error.status;
    out->at = fields->at;
    out->count = fields->count;
    for (size_t i = 0; i < fields->count; i++)
        if (mf_str_is(fields->at[i].name, "model_type"))
            out->type = fields->at[i].text;
    mf_release(env, fields, sizeof(*fields));
    return status;
}
