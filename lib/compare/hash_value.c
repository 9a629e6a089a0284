/* SPDX-License-Identifier: MIT
 *
 * hash_value.c - the digest of a metadata value
 *
 * docs/cli.md describes the bytes that it covers, for others to compute it: a
 * value as GGUF 3 has it in a little-endian file, or what only JSON has as
 * text.  An array of a little-endian GGUF file is therefore digested as it lies
 * there, without being taken apart, and a vocabulary costs no more than reading
 * it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/compare/hash.h"
#include "lib/io/digest.h"

#define WINDOW ((size_t)64 * 1024)

/* ---- numbers ---- */

static void add_little(struct mf_digest *digest, uint64_t number, size_t size)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    mf_digest_add(digest, bytes, size);
}

static uint64_t f64_bits(double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static uint32_t f32_bits(double number)
{
    float narrow = (float)number;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof(bits));
    return bits;
}

/* A number or bool; of any other type nothing. */
static void add_number(struct mf_digest *digest, enum mf_value_type type,
                       union mf_number number)
{
    static const uint8_t sizes[] = {
        [MF_VALUE_U8] = 1,  [MF_VALUE_I8] = 1,  [MF_VALUE_U16] = 2,
        [MF_VALUE_I16] = 2, [MF_VALUE_U32] = 4, [MF_VALUE_I32] = 4,
        [MF_VALUE_U64] = 8, [MF_VALUE_I64] = 8,
    };

    if (type == MF_VALUE_F32)
        add_little(digest, f32_bits(number.f64), 4);
    else if (type == MF_VALUE_F64)
        add_little(digest, f64_bits(number.f64), 8);
    else if (type == MF_VALUE_BOOL)
        add_little(digest, number.boolean, 1);
    else if ((size_t)type < sizeof(sizes))
        add_little(digest, number.u64, sizes[type]);
}

/* ---- as GGUF has it ---- */

/* The first piece of a string is all of it, or the reader knows how much is to
 * come. */
static void add_typed(struct mf_digest *digest, const struct mf_values *values,
                      const struct mf_value *value, bool *inside)
{
    if (value->event == MF_EVENT_BEGIN) {
        add_little(digest, value->of, 4);
        add_little(digest, value->count, 8);
    } else if (value->event == MF_EVENT_ITEM &&
               value->type == MF_VALUE_STRING) {
        if (!*inside)
            add_little(digest, value->text.size + values->text_left, 8);
        mf_digest_add(digest, value->text.at, value->text.size);
        *inside = value->more;
    } else if (value->event == MF_EVENT_ITEM) {
        add_number(digest, value->type, value->number);
    }
}

/* ---- as JSON ---- */

struct json {
    struct mf_digest *digest;
    bool comma;  /* the next value or key needs one before it */
    bool inside; /* a string that has more pieces */
};

static void add_text(struct json *json, const char *text)
{
    mf_digest_add(json->digest, text, strlen(text));
}

/* The escapes of RFC 8785, which are the ones that JSON demands. */
static void add_escape(struct json *json, char letter)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *name = letter ? strchr(named, letter) : NULL;
    char text[8];

    if (name)
        snprintf(text, sizeof(text), "\\%c", names[name - named]);
    else
        snprintf(text, sizeof(text), "\\u%04x", (unsigned)letter);
    add_text(json, text);
}

static void add_string(struct json *json, const struct mf_value *value)
{
    const char *at = value->text.at;
    size_t size = value->text.size, start = 0;

    if (!json->inside)
        add_text(json, "\"");
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)at[i] >= ' ' && at[i] != '"' && at[i] != '\\')
            continue;
        mf_digest_add(json->digest, at + start, i - start);
        add_escape(json, at[i]);
        start = i + 1;
    }
    mf_digest_add(json->digest, at + start, size - start);
    json->inside = value->more;
    if (!json->inside)
        add_text(json, value->event == MF_EVENT_KEY ? "\":" : "\"");
}

/* What reads back as the same number in every program: the digits of a whole
 * one, the bits of any other. */
static void add_scalar(struct json *json, const struct mf_value *value)
{
    char text[24];

    switch (value->type) {
    case MF_VALUE_NULL:
        add_text(json, "null");
        return;
    case MF_VALUE_BOOL:
        add_text(json, value->number.boolean ? "true" : "false");
        return;
    case MF_VALUE_F32:
    case MF_VALUE_F64:
        snprintf(text, sizeof(text), "0x%016" PRIx64,
                 f64_bits(value->number.f64));
        break;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        snprintf(text, sizeof(text), "%" PRId64, value->number.i64);
        break;
    default:
        snprintf(text, sizeof(text), "%" PRIu64, value->number.u64);
        break;
    }
    add_text(json, text);
}

static void add_json(struct json *json, const struct mf_value *value)
{
    bool object = value->type == MF_VALUE_OBJECT;

    if (value->event == MF_EVENT_END) {
        add_text(json, object ? "}" : "]");
        json->comma = true;
        return;
    }
    if (json->comma && !json->inside)
        add_text(json, ",");
    if (value->event == MF_EVENT_BEGIN)
        add_text(json, object ? "{" : "[");
    else if (value->event == MF_EVENT_KEY || value->type == MF_VALUE_STRING)
        add_string(json, value);
    else
        add_scalar(json, value);
    json->comma = value->event == MF_EVENT_ITEM;
}

/* ---- a value ---- */

static bool is_kept(const struct mf_meta *meta)
{
    return meta->type != MF_VALUE_ARRAY && meta->type != MF_VALUE_OBJECT &&
           (meta->type != MF_VALUE_STRING || meta->text.at);
}

static void add_kept(struct mf_digest *digest, const struct mf_meta *meta)
{
    if (meta->type == MF_VALUE_STRING) {
        add_little(digest, meta->text.size, 8);
        mf_digest_add(digest, meta->text.at, meta->text.size);
    } else {
        add_number(digest, meta->type, meta->number);
    }
}

/* The bytes of the span as they are. */
static enum mf_status add_span(const struct mf_model *model,
                               struct mf_digest *digest,
                               const struct mf_meta *meta)
{
    struct mf_reader reader;

    if (mf_reader_init_span(&reader, model->env,
                            &model->file[meta->shard].source, meta->span,
                            WINDOW) != MF_OK)
        return model->env->error.status;
    mf_hash_rest(&reader, digest);
    mf_reader_release(&reader);
    return model->env->error.status;
}

enum mf_status mf_hash_rest(struct mf_reader *reader, struct mf_digest *digest)
{
    while (mf_reader_left(reader) > 0) {
        uint64_t left = mf_reader_left(reader);
        size_t size = left < reader->capacity ? (size_t)left : reader->capacity;
        const uint8_t *bytes = mf_take(reader, size);

        if (!bytes)
            return mf_reader_check(reader, "the metadata");
        mf_digest_add(digest, bytes, size);
    }
    return MF_OK;
}

static enum mf_status add_events(struct mf_model *model,
                                 struct mf_digest *digest, size_t at)
{
    bool as_json = model->format->values == MF_VALUES_JSON;
    const struct mf_meta *meta = &model->index.meta[at];
    struct json json = { .digest = digest };
    struct mf_values *values;
    struct mf_value value;
    bool inside = false;

    if (mf_values_open(model, at, &values) != MF_OK)
        return model->env->error.status;
    /* A long string outside of arrays: its length is known, however it is
     * stored. */
    if (meta->type == MF_VALUE_STRING) {
        add_little(digest, meta->count, 8);
        inside = true;
        as_json = false;
    }
    while (mf_values_next(values, &value) == MF_OK &&
           value.event != MF_EVENT_DONE)
        if (as_json)
            add_json(&json, &value);
        else
            add_typed(digest, values, &value, &inside);
    mf_values_close(values);
    return model->env->error.status;
}

enum mf_status mf_hash_value(struct mf_model *model, struct mf_digest *digest,
                             size_t at)
{
    const struct mf_meta *meta = &model->index.meta[at];

    add_little(digest, meta->type, 4);
    if (is_kept(meta)) {
        add_kept(digest, meta);
        return MF_OK;
    }
    if (model->format->value_is_plain &&
        model->format->value_is_plain(&model->index.kind, meta))
        return add_span(model, digest, meta);
    return add_events(model, digest, at);
}

void mf_hash_type(struct mf_digest *digest, uint32_t type)
{
    add_little(digest, type, 4);
}
