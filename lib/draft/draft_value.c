/* SPDX-License-Identifier: MIT
 *
 * draft_value.c - the value of a metadata entry that will be written
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* ---- numbers as other types ---- */

static const struct range {
    int64_t min;
    uint64_t max;
} ranges[] = {
    [MF_VALUE_U8] = { 0, UINT8_MAX },
    [MF_VALUE_I8] = { INT8_MIN, INT8_MAX },
    [MF_VALUE_U16] = { 0, UINT16_MAX },
    [MF_VALUE_I16] = { INT16_MIN, INT16_MAX },
    [MF_VALUE_U32] = { 0, UINT32_MAX },
    [MF_VALUE_I32] = { INT32_MIN, INT32_MAX },
    [MF_VALUE_U64] = { 0, UINT64_MAX },
    [MF_VALUE_I64] = { INT64_MIN, INT64_MAX },
};

static bool is_unsigned(enum mf_value_type type)
{
    return type == MF_VALUE_U8 || type == MF_VALUE_U16 ||
           type == MF_VALUE_U32 || type == MF_VALUE_U64;
}

static bool is_float(enum mf_value_type type)
{
    return type == MF_VALUE_F32 || type == MF_VALUE_F64;
}

static bool is_integer(enum mf_value_type type)
{
    return is_unsigned(type) || type == MF_VALUE_I8 || type == MF_VALUE_I16 ||
           type == MF_VALUE_I32 || type == MF_VALUE_I64;
}

static bool integer_as(enum mf_value_type from, union mf_number number,
                       enum mf_value_type to, union mf_number *out)
{
    bool negative = !is_unsigned(from) && number.i64 < 0;

    if (negative ? number.i64 < ranges[to].min : number.u64 > ranges[to].max)
        return false;
    *out = number; /* the same 64 bits, with a sign or without */
    return true;
}

/* 2^63 and 2^64 are floats; the largest integers below them are not. */
static bool float_as_integer(double value, enum mf_value_type to,
                             union mf_number *out)
{
    union mf_number number;

    if (!(value >= -0x1p63 && value < 0x1p64) || value != floor(value))
        return false;
    if (value < 0)
        number.i64 = (int64_t)value;
    else
        number.u64 = (uint64_t)value;
    return integer_as(value < 0 ? MF_VALUE_I64 : MF_VALUE_U64, number, to, out);
}

bool mf_number_as(enum mf_value_type from, union mf_number number,
                  enum mf_value_type to, union mf_number *out)
{
    double value;

    if (from == to) {
        *out = number;
        return true;
    }
    if (is_integer(from) && is_integer(to))
        return integer_as(from, number, to, out);
    if (is_float(from) && is_integer(to))
        return float_as_integer(number.f64, to, out);
    if (!is_float(to) || (!is_integer(from) && !is_float(from)))
        return false;
    value = is_float(from)      ? number.f64
            : is_unsigned(from) ? (double)number.u64
                                : (double)number.i64;
    /* Rounded to the nearest float, as is usual for floats. */
    out->f64 = to == MF_VALUE_F32 ? (double)(float)value : value;
    return true;
}

bool mf_value_as(const struct mf_value *value, enum mf_value_type to,
                 union mf_number *out)
{
    static const struct word {
        const char *name;
        double value;
    } words[] = { { "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };

    if (value->type != MF_VALUE_STRING)
        return mf_number_as(value->type, value->number, to, out);
    for (size_t i = 0; is_float(to) && i < 3; i++)
        if (mf_str_is(value->text, words[i].name)) {
            out->f64 = words[i].value;
            return true;
        }
    return false;
}

/* ---- reading ---- */

static enum mf_status read_elements(const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    struct mf_value value = { .event = MF_EVENT_BEGIN,
                              .type = MF_VALUE_ARRAY,
                              .of = entry->of,
                              .count = entry->count };
    enum mf_status status = each(user, &value);

    for (uint64_t i = 0; i < entry->count && status == MF_OK; i++) {
        value = (struct mf_value){ .event = MF_EVENT_ITEM, .type = entry->of };
        if (entry->of == MF_VALUE_STRING)
            value.text = ((const struct mf_str *)entry->elements)[i];
        else
            value.number = ((const union mf_number *)entry->elements)[i];
        status = each(user, &value);
    }
    value = (struct mf_value){ .event = MF_EVENT_END, .type = MF_VALUE_ARRAY };
    return status == MF_OK ? each(user, &value) : status;
}

static enum mf_status read_scalar(const struct mf_entry *entry,
                                  mf_each_event *each, void *user)
{
    struct mf_value value = { .event = MF_EVENT_ITEM,
                              .type = entry->type,
                              .number = entry->number,
                              .text = entry->text };

    return each(user, &value);
}

static enum mf_status read_from_model(struct mf_env *env,
                                      const struct mf_entry *entry,
                                      mf_each_event *each, void *user)
{
    struct mf_values *values;
    struct mf_value value;
    enum mf_status status =
        entry->typed_text ? mf_values_open_text(entry->from, entry->at, &values)
                          : mf_values_open(entry->from, entry->at, &values);

    if (status != MF_OK)
        return env->error.status;
    do {
        status = mf_values_next(values, &value);
        if (status == MF_OK && value.event != MF_EVENT_DONE)
            status = each(user, &value);
    } while (status == MF_OK && value.event != MF_EVENT_DONE);
    mf_values_close(values);
    return status;
}

enum mf_status mf_entry_read(struct mf_env *env, const struct mf_entry *entry,
                             mf_each_event *each, void *user)
{
    if (entry->read)
        return entry->read(env, entry, each, user);
    if (entry->from)
        return read_from_model(env, entry, each, user);
    if (entry->type == MF_VALUE_ARRAY)
        return read_elements(entry, each, user);
    return read_scalar(entry, each, user);
}

bool mf_entry_raw(const struct mf_draft *draft, const struct mf_entry *entry,
                  const struct mf_source **source, struct mf_span *out)
{
    const struct mf_model *model = entry->from;
    struct mf_meta meta;

    if (!model || entry->typed_text || model->format != draft->format ||
        model->info.version != draft->version ||
        (model->info.byte_order == MF_BIG_ENDIAN) != draft->big_endian ||

        !mf_meta_at(model, entry->at, &meta) || meta.type != entry->type ||
        meta.of != entry->of)
        return false;
    *source = &model->file[meta.shard].source;
    *out = meta.span;
    return true;
}

/* ---- as JSON ---- */

struct json_value {
    struct mf_json_out *json;
    bool within; /* a string of which more pieces follow */
    bool broken; /* text that is not UTF-8 was met */
};

static void json_text(struct json_value *state, const struct mf_value *value)
{
    if (!state->within)
        mf_json_open_string(state->json);
    state->broken =
        state->broken || !mf_text_is_utf8(value->text.at, value->text.size);
    mf_json_piece(state->json, value->text.at, value->text.size);
    state->within = value->more;
    if (!value->more)
        mf_json_close_string(state->json, value->event == MF_EVENT_KEY);
}

struct digits {
    char at[40]; /* more than a double has */
    size_t size;
};

static void keep_digits(void *user, const char *at, size_t size)
{
    struct digits *digits = user;

    for (size_t i = 0; i < size && digits->size + 3 < sizeof(digits->at); i++)
        digits->at[digits->size++] = at[i];
}

/* A double is recognized by its point or exponent when it is read back. */
static void json_double(struct mf_json_out *json, double value)
{
    struct digits digits = { .size = 0 };
    struct mf_json_out plain = { .write = keep_digits, .user = &digits };

    if (!isfinite(value)) {
        mf_json_f64(json, value);
        return;
    }
    mf_json_f64(&plain, value);
    if (!memchr(digits.at, '.', digits.size) &&
        !memchr(digits.at, 'e', digits.size))
        keep_digits(&digits, ".0", 2);
    mf_json_digits(json, digits.at, digits.size);
}

static void json_item(struct json_value *state, const struct mf_value *value)
{
    struct mf_json_out *json = state->json;

    switch (value->type) {
    case MF_VALUE_STRING:
        json_text(state, value);
        break;
    case MF_VALUE_BOOL:
        mf_json_bool(json, value->number.boolean);
        break;
    case MF_VALUE_NULL:
        mf_json_null(json);
        break;
    case MF_VALUE_F32:
        mf_json_f32(json, (float)value->number.f64);
        break;
    case MF_VALUE_F64:
        if (value->text.size > 0) /* the digits of a JSON source, unchanged */
            mf_json_digits(json, value->text.at, value->text.size);
        else
            json_double(json, value->number.f64);
        break;
    default:
        if (is_unsigned(value->type))
            mf_json_u64(json, value->number.u64);
        else
            mf_json_i64(json, value->number.i64);
        break;
    }
}

static enum mf_status json_event(void *user, const struct mf_value *value)
{
    struct json_value *state = user;
    char bracket = value->type == MF_VALUE_OBJECT ? '{' : '[';

    switch (value->event) {
    case MF_EVENT_BEGIN:
        mf_json_begin(state->json, bracket);
        break;
    case MF_EVENT_END:
        mf_json_end(state->json, bracket == '{' ? '}' : ']');
        break;
    case MF_EVENT_KEY:
        json_text(state, value);
        break;
    default:
        json_item(state, value);
        break;
    }
    return MF_OK;
}

enum mf_status mf_entry_json(const struct mf_draft *draft,
                             const struct mf_entry *entry,
                             struct mf_json_out *json, struct mf_sink *sink)
{
    struct json_value state = {
        .json = json, .broken = !mf_text_is_utf8(entry->key.at, entry->key.size)
    };
    const struct mf_source *source;
    struct mf_span span;
    enum mf_status status;

    if (sink && mf_entry_raw(draft, entry, &source, &span)) {
        mf_json_digits(json, "", 0); /* the comma before it */
        mf_put_span(sink, source, span);
        return sink->status;
    }
    status = mf_entry_read(draft->env, entry, json_event, &state);
    if (status == MF_OK && state.broken && !draft->lossy)
        status = mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "the text of '%s' is not UTF-8, which %s cannot carry",
                         mf_quote(entry->key).text, draft->format->name);
    return status;
}

static void put_json(void *user, const char *at, size_t size)
{
    mf_put(user, at, size);
}

struct mf_json_out mf_draft_json(struct mf_sink *sink)
{
    return (struct mf_json_out){ .write = put_json, .user = sink };
}

enum mf_status mf_draft_measure(const struct mf_draft *draft, mf_put_part *put,
                                struct mf_sink *sink, uint64_t *size)
{
    struct mf_sink counter;

    if (sink->write && draft->part_size > 0) {
        *size = draft->part_size;
        return MF_OK;
    }
    mf_sink_init(&counter, draft->env);
    if (put(draft, &counter) != MF_OK)
        return draft->env->error.status;
    *size = sink->part_size = counter.offset;
    return MF_OK;
}

enum mf_status mf_draft_put(const struct mf_draft *draft, mf_put_part *put,
                            uint64_t size, struct mf_sink *sink)
{
    if (sink->write)
        return put(draft, sink);
    mf_put_zeros(sink, size);
    return MF_OK;
}
