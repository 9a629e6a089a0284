/* SPDX-License-Identifier: MIT
 *
 * metadata.c - section "metadata": keys with their values, or what fits of them
 *
 * A value is read event by event, and no further than it is shown: of a
 * vocabulary the first elements only.  Whatever is cut says how much there is.
 */
#include "lib/report/put.h"

#define STRING_ROOM    ((uint64_t)1 << 20)
#define ELEMENTS_SHOWN 64
#define ELEMENT_ROOM   1000

/* The pieces of a string that come after the first one; shown stops when room
 * is used up.  Adds the bytes of all of them to *bytes. */
static enum mf_status pieces_put(struct mf_values *values,
                                 struct mf_value *value, uint64_t room,
                                 struct mf_json_out *json, uint64_t *bytes)
{
    enum mf_status status = MF_OK;
    bool shown = true;

    for (;;) {
        struct mf_str front =
            mf_report_front(value->text, shown ? (size_t)(room - *bytes) : 0);

        mf_json_piece(json, front.at, front.size);
        *bytes += value->text.size;
        shown = shown && front.size == value->text.size && *bytes < room;
        if (!value->more)
            return MF_OK;
        if ((status = mf_values_next(values, value)) != MF_OK)
            return status;
    }
}

/* A string as it is, up to room bytes of it. */
static enum mf_status string_put(struct mf_values *values,
                                 struct mf_value *value, uint64_t room,
                                 struct mf_json_out *json, uint64_t *bytes)
{
    enum mf_status status;

    *bytes = 0;
    mf_json_open_string(json);
    status = pieces_put(values, value, room, json, bytes);
    mf_json_close_string(json, false);
    return status;
}

/* A string among others: one that is cut is an object with its length. */
static enum mf_status element_string_put(struct mf_values *values,
                                         struct mf_value *value,
                                         struct mf_json_out *json)
{
    bool cut = value->more || value->text.size > ELEMENT_ROOM;
    enum mf_status status;
    uint64_t bytes;

    if (cut) {
        mf_json_begin(json, '{');
        mf_json_key(json, "value");
    }
    status = string_put(values, value, ELEMENT_ROOM, json, &bytes);
    if (cut) {
        mf_put_number(json, "bytes", bytes);
        mf_json_end(json, '}');
    }
    return status;
}

/* An array or object in another one: how much is in it. */
static enum mf_status summary_put(struct mf_values *values,
                                  struct mf_value *value,
                                  struct mf_json_out *json)
{
    bool object = value->type == MF_VALUE_OBJECT;
    enum mf_status status = MF_OK;
    unsigned depth = 1;
    uint64_t count = 0;

    while (status == MF_OK && depth > 0) {
        status = mf_values_next(values, value);
        if (value->event == MF_EVENT_END)
            depth--;
        else if (depth == 1 && !value->more)
            count += value->event == MF_EVENT_KEY || !object;
        if (value->event == MF_EVENT_BEGIN)
            depth++;
    }
    mf_json_begin(json, '{');
    mf_put_string(json, "type", object ? "object" : "array");
    mf_put_number(json, "count", count);
    mf_json_end(json, '}');
    return status;
}

static enum mf_status element_put(struct mf_values *values,
                                  struct mf_value *value,
                                  struct mf_json_out *json)
{
    if (value->event == MF_EVENT_BEGIN)
        return summary_put(values, value, json);
    if (value->type == MF_VALUE_STRING)
        return element_string_put(values, value, json);
    mf_report_scalar(json, value);
    return MF_OK;
}

/* Elements of an array, or pairs of a key and a value. */
static enum mf_status elements_put(struct mf_values *values, bool object,
                                   uint64_t most, struct mf_json_out *json)
{
    enum mf_status status = MF_OK;

    mf_json_begin(json, '[');
    for (uint64_t i = 0; status == MF_OK && i < most; i++) {
        struct mf_value value;

        status = mf_values_next(values, &value);
        if (status != MF_OK || value.event == MF_EVENT_END)
            break;
        if (object) {
            mf_json_begin(json, '[');
            status = element_string_put(values, &value, json);
            if (status == MF_OK)
                status = mf_values_next(values, &value);
        }
        if (status == MF_OK)
            status = element_put(values, &value, json);
        if (object)
            mf_json_end(json, ']');
    }
    mf_json_end(json, ']');
    return status;
}

/* The value with `most` elements, and how many bytes a string has. */
static enum mf_status value_put(struct mf_model *model, size_t index,
                                uint64_t most, struct mf_json_out *json,
                                uint64_t *bytes)
{
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status = mf_values_open(model, index, &values);

    *bytes = 0;
    if (status != MF_OK)
        return status;
    status = mf_values_next(values, &value);
    if (status != MF_OK)
        ;
    else if (value.event == MF_EVENT_BEGIN)
        status =
            elements_put(values, value.type == MF_VALUE_OBJECT, most, json);
    else if (value.type == MF_VALUE_STRING)
        status = string_put(values, &value, STRING_ROOM, json, bytes);
    else
        mf_report_scalar(json, &value);
    mf_values_close(values);
    return status;
}

enum mf_status mf_report_whole(struct mf_model *model, size_t index,
                               struct mf_json_out *json)
{
    uint64_t bytes;

    return value_put(model, index, UINT64_MAX, json, &bytes);
}

enum mf_status mf_report_entry(struct mf_model *model, size_t index,
                               struct mf_json_out *json)
{
    enum mf_status status;
    struct mf_meta meta;
    uint64_t bytes;

    if (!mf_meta_at(model, index, &meta)) {
        mf_json_null(json);
        return MF_OK;
    }
    mf_json_begin(json, '{');
    mf_put_text(json, "key", meta.key);
    mf_put_string(json, "type", mf_value_type_name(meta.type));
    if (meta.type == MF_VALUE_ARRAY)
        mf_put_string(json, "of", mf_value_type_name(meta.of));
    if (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT)
        mf_put_number(json, "count", meta.count);
    mf_json_key(json, "value");
    status = value_put(model, index, ELEMENTS_SHOWN, json, &bytes);
    if (bytes > STRING_ROOM)
        mf_put_number(json, "bytes", bytes);
    mf_json_end(json, '}');
    return status;
}

enum mf_status mf_report_metadata(struct mf_model *model,
                                  const struct mf_report_options *options,
                                  struct mf_json_out *json)
{
    size_t count = mf_model_info(model)->metadata_count;
    enum mf_status status = MF_OK;

    (void)options;
    mf_json_key(json, "metadata");
    mf_json_begin(json, '[');
    for (size_t i = 0; status == MF_OK && i < count; i++)
        status = mf_report_entry(model, i, json);
    mf_json_end(json, ']');
    return status;
}
