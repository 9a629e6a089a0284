/* SPDX-License-Identifier: MIT
 *
 * json_meta.c - JSON values as metadata: walked once at opening, read on demand
 *
 * A vocabulary of 150,000 tokens is one row of the index and stays in the
 * file; what is kept of an array is how many elements it has and of what type.
 */
#include <string.h>

#include "lib/model/values.h"

/* ---- at opening ---- */

static enum mf_value_type
type_of(struct mf_json *json, enum mf_json_token token, union mf_number *number)
{
    switch (token) {
    case MF_JSON_BEGIN_OBJECT:
        return MF_VALUE_OBJECT;
    case MF_JSON_BEGIN_ARRAY:
        return MF_VALUE_ARRAY;
    case MF_JSON_STRING:
        return MF_VALUE_STRING;
    case MF_JSON_NUMBER:
        return mf_json_number(json, number);
    case MF_JSON_TRUE:
    case MF_JSON_FALSE:
        number->boolean = token == MF_JSON_TRUE;
        return MF_VALUE_BOOL;
    default:
        return MF_VALUE_NULL;
    }
}

/* One bit for each type that was seen.  Integers above INT64_MAX have a bit of
 * their own: an array that also has a negative one is f64, not i64. */
#define BIT(type) (UINT32_C(1) << MF_VALUE_##type)
#define BIT_LARGE (UINT32_C(1) << 31)

_Static_assert(MF_VALUE_MIXED < 31, "one bit for each type");

uint32_t mf_type_bit(enum mf_value_type type, union mf_number number)
{
    return type == MF_VALUE_U64 && number.u64 > INT64_MAX ? BIT_LARGE
                                                          : UINT32_C(1) << type;
}

static uint32_t type_bit(struct mf_json *json, enum mf_json_token token)
{
    union mf_number number = { 0 };
    enum mf_value_type type;

    /* A tokenizer may have 150,000 scores: their type is seen without
     * converting them. */
    if (token == MF_JSON_NUMBER && strpbrk(json->digits, ".eE"))
        return BIT(F64);
    type = type_of(json, token, &number);
    return mf_type_bit(type, number);
}

enum mf_value_type mf_common_type(uint32_t seen)
{
    const uint32_t numbers = BIT(U64) | BIT_LARGE | BIT(I64) | BIT(F64);

    if (seen == 0)
        return MF_VALUE_NULL;
    if ((seen & ~(BIT(U64) | BIT_LARGE)) == 0)
        return MF_VALUE_U64;
    if ((seen & ~(BIT(U64) | BIT(I64))) == 0)
        return MF_VALUE_I64;
    if ((seen & ~numbers) == 0)
        return MF_VALUE_F64;
    if ((seen & (seen - 1)) == 0)
        return (enum mf_value_type)__builtin_ctz(seen);
    return MF_VALUE_MIXED;
}

/* Walks to the end of the array or object that was just begun. */
static enum mf_status walk_elements(struct mf_json *json, struct mf_meta *meta)
{
    unsigned depth = json->depth;
    uint32_t seen = 0;

    for (;;) {
        enum mf_json_token token = mf_json_next(json);

        if (token == MF_JSON_ERROR)
            return json->reader->env->error.status;
        if (json->depth < depth)
            break;
        if (token == MF_JSON_KEY)
            continue;
        meta->count++;
        seen |= type_bit(json, token);
        if (mf_json_skip(json, token) != MF_OK)
            return json->reader->env->error.status;
    }
    if (meta->type == MF_VALUE_ARRAY)
        meta->of = mf_common_type(seen);
    return MF_OK;
}

static enum mf_status keep_text(struct mf_json *json, struct mf_arena *arena,
                                struct mf_meta *meta)
{
    char text[MF_TEXT_KEPT];
    char *kept;
    uint64_t rest = 0;
    bool more;

    if (mf_json_text(json, text, sizeof(text), &meta->count, &more) != MF_OK)
        return arena->env->error.status;
    if (more) {
        if (mf_json_text(json, NULL, 0, &rest, &more) != MF_OK)
            return arena->env->error.status;
        meta->count += rest;
        return MF_OK;
    }
    kept = mf_arena_text(arena, (size_t)meta->count);
    if (!kept)
        return arena->env->error.status;
    memcpy(kept, text, (size_t)meta->count);
    meta->text = (struct mf_str){ kept, (size_t)meta->count };
    return MF_OK;
}

enum mf_status mf_json_read_meta(struct mf_json *json, enum mf_json_token first,
                                 struct mf_arena *arena, struct mf_meta *meta)
{
    enum mf_status status = MF_OK;

    if (first == MF_JSON_ERROR)
        return arena->env->error.status;
    meta->span.offset = json->token_offset;
    meta->type = type_of(json, first, &meta->number);
    if (meta->type == MF_VALUE_STRING)
        status = keep_text(json, arena, meta);
    else if (meta->type == MF_VALUE_ARRAY || meta->type == MF_VALUE_OBJECT)
        status = walk_elements(json, meta);
    meta->span.size = mf_reader_offset(json->reader) - meta->span.offset;
    return status;
}

/* ---- keys ---- */

static enum mf_status too_long(struct mf_json *json)
{
    return mf_refuse(json->reader->env, MF_RULE_FILE_LIMIT, json->token_offset,
                     "a key has more than %d bytes, which is the limit",
                     MF_NAME_MAX);
}

enum mf_status mf_json_read_key(struct mf_json *json, struct mf_arena *arena,
                                struct mf_str *out)
{
    char first[512], *text = first, *moved;
    size_t size = 0, room = sizeof(first);
    uint64_t piece;
    bool more;

    for (;;) {
        if (mf_json_text(json, text + size, room - size, &piece, &more) !=
            MF_OK)
            return arena->env->error.status;
        size += (size_t)piece;
        if (!more && text != first)
            break;
        /* The length of a key is known only at its end.  One that does not fit
         * gets four times the room, up to one byte more than allowed: never
         * more than a small multiple of what was read. */
        if (more && room > MF_NAME_MAX)
            return too_long(json);
        if (more)
            room = room * 4 <= MF_NAME_MAX ? room * 4 : MF_NAME_MAX + 1;
        moved = mf_arena_text(arena, more ? room : size);
        if (!moved)
            return arena->env->error.status;
        memcpy(moved, text, size);
        text = moved;
        if (!more)
            break;
    }
    if (size > MF_NAME_MAX)
        return too_long(json);
    text[size] = 0;
    *out = (struct mf_str){ text, size };
    return MF_OK;
}

/* ---- as events ---- */

static enum mf_status text_event(struct mf_values *values, struct mf_value *out)
{
    uint64_t size;

    if (mf_json_text(&values->json, values->piece, values->piece_room, &size,
                     &out->more) != MF_OK)
        return values->env->error.status;
    out->event = values->text_event;
    out->type = MF_VALUE_STRING;
    out->text = (struct mf_str){ values->piece, (size_t)size };
    return MF_OK;
}

/* Type and count of a JSON array are known only at its end; for the outermost
 * one they were found when the model was opened. */
static void begin_event(const struct mf_values *values, enum mf_value_type type,
                        struct mf_value *out)
{
    bool outermost = values->json.depth == 1;

    out->event = MF_EVENT_BEGIN;
    out->type = type;
    out->of = outermost ? values->meta.of : MF_VALUE_MIXED;
    out->count = outermost ? values->meta.count : 0;
}

static enum mf_status item_event(struct mf_values *values,
                                 enum mf_json_token token, struct mf_value *out)
{
    const struct mf_json *json = &values->json;

    out->event = MF_EVENT_ITEM;
    out->type = type_of(&values->json, token, &out->number);
    if (token == MF_JSON_NUMBER)
        out->text = (struct mf_str){ json->digits, json->digits_size };
    return MF_OK;
}

enum mf_status mf_json_value_next(struct mf_values *values,
                                  struct mf_value *out)
{
    enum mf_json_token token;

    if (!values->started)
        mf_json_init(&values->json, &values->reader);
    values->started = true;
    if (values->json.text_pending) /* more of the same string */
        return text_event(values, out);
    token = mf_json_next(&values->json);
    switch (token) {
    case MF_JSON_ERROR:
        return values->env->error.status;
    case MF_JSON_END:
        values->done = true;
        return MF_OK;
    case MF_JSON_KEY:
    case MF_JSON_STRING:
        values->text_event =
            token == MF_JSON_KEY ? MF_EVENT_KEY : MF_EVENT_ITEM;
        return text_event(values, out);
    case MF_JSON_BEGIN_OBJECT:
    case MF_JSON_BEGIN_ARRAY:
        begin_event(values, type_of(&values->json, token, &out->number), out);
        return MF_OK;
    case MF_JSON_END_OBJECT:
    case MF_JSON_END_ARRAY:
        out->event = MF_EVENT_END;
        out->type =
            token == MF_JSON_END_OBJECT ? MF_VALUE_OBJECT : MF_VALUE_ARRAY;
        return MF_OK;
    default:
        return item_event(values, token, out);
    }
}
