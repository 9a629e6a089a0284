/* SPDX-License-Identifier: MIT
 *
 * fields_meta.c - fields in the file's own metadata
 *
 * An APR file has them under names of its own.  A file that was converted from
 * GGUF has GGUF's keys, with their types: "llama.block_count:u32".
 */
#include "lib/hub/fields.h"

#include <string.h>

#include "lib/model/facts.h"
#include "lib/model/model.h"

/* The name of a key, without the architecture in front and the type behind:
 * "llama.block_count:u32" is block_count. */
static struct mf_str plain_key(const struct mf_fields *fields,
                               struct mf_str key)
{
    struct mf_meta name;

    for (size_t i = 0; i < key.size; i++)
        if (key.at[i] == ':')
            key.size = i;
    if (mf_model_fact(fields->model, MF_FACT_ARCHITECTURE, &name, NULL) &&
        key.size > name.text.size + 1 && key.at[name.text.size] == '.' &&
        memcmp(key.at, name.text.at, name.text.size) == 0) {
        key.at += name.text.size + 1;
        key.size -= name.text.size + 1;
    }
    return key;
}

static bool is_digits(struct mf_str text, int64_t *out)
{
    int64_t value = 0;

    if (text.size == 0 || text.size > 18)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        value = value * 10 + (text.at[i] - '0');
    }
    *out = value;
    return true;
}

/* An array of the file; is_text: the JSON of one in a string. */
static enum mf_status read_array(struct mf_fields *fields, size_t at,
                                 bool is_text, struct mf_arch_field *field)
{
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status =
        is_text ? mf_values_open_text(fields->model, at, &values)
                : mf_values_open(fields->model, at, &values);

    if (status != MF_OK)
        return status;
    mf_fields_begin_list(fields);
    while ((status = mf_values_next(values, &value)) == MF_OK &&
           value.event != MF_EVENT_DONE)
        if (value.event == MF_EVENT_ITEM)
            mf_fields_add(fields,
                          value.type == MF_VALUE_STRING
                              ? mf_fields_kind(value.text)
                              : mf_fields_number(value.type, value.number));
    mf_values_close(values);
    return status == MF_OK ? mf_fields_end_list(fields, field) : status;
}

static enum mf_status read_meta(struct mf_fields *fields, size_t at,
                                const struct mf_meta *meta,
                                struct mf_arch_field *field)
{
    uint64_t number;

    mf_fields_reset(field);
    if (meta->type == MF_VALUE_ARRAY)
        return read_array(fields, at, false, field);
    if (meta->type == MF_VALUE_STRING && meta->text.at) {
        if (is_digits(meta->text, &field->number)) {
            field->kind = MF_ARCH_NUMBER;
            return MF_OK;
        }
        if (mf_str_ends(meta->key, "[]"))
            return read_array(fields, at, true, field);
        return mf_fields_keep_text(fields, field, meta->text);
    }
    if (meta->type == MF_VALUE_BOOL || mf_meta_is_integer(meta)) {
        field->kind = MF_ARCH_NUMBER;
        field->number = meta->type == MF_VALUE_BOOL ? meta->number.boolean
                        : mf_meta_unsigned(meta, &number) && number <= INT64_MAX
                            ? (int64_t)number
                            : INT64_MIN;
    }
    return MF_OK;
}

enum mf_status mf_fields_read_metadata(struct mf_fields *fields)
{
    const struct mf_index *index = &fields->model->index;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < index->meta_count && status == MF_OK; i++) {
        const struct mf_meta *meta = &index->meta[i];
        struct mf_str name = plain_key(fields, meta->key);
        struct mf_arch_field *field;

        if (meta->type == MF_VALUE_NULL)
            continue;
        field = mf_fields_take(fields, name, false, name.at != meta->key.at);
        status = fields->model->env->error.status;
        if (field && status == MF_OK)
            status = read_meta(fields, i, meta, field);
    }
    return status;
}
