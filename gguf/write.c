/* SPDX-License-Identifier: MIT
 *
 * write.c - a GGUF header: versions 2 and 3, and 1 where it is kept
 */
#include "gguf/gguf.h"
#include "lib/draft/draft.h"

/* Bytes of this name, an array of bytes, stand for room.  It is short: with one
 * byte of room it takes as many as the usual alignment, so an edit that leaves
 * too much for padding always has enough for it. */
#define KEY_RESERVE "reserve"

/* ---- what GGUF can carry ---- */

static enum mf_status check_tensor(const struct mf_draft *draft,
                                   const struct mf_draft_tensor *tensor)
{
    uint64_t row = tensor->rank > 0 ? tensor->dim[0] : 1;

    for (uint32_t i = 0; draft->version == 1 && i < tensor->rank; i++)
        if (tensor->dim[i] > UINT32_MAX)
            return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "tensor '%s' has a dimension of %" PRIu64
                           ", version 1 of GGUF counts with 32 bits",
                           mf_quote(tensor->name).text, tensor->dim[i]);
    if (tensor->type != MF_TYPE_UNKNOWN &&
        row % mf_types[tensor->type].block != 0)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the rows of tensor '%s' have %" PRIu64
                       " elements, in GGUF they must be whole blocks of %u",
                       mf_quote(tensor->name).text, row,
                       mf_types[tensor->type].block);
    return MF_OK;
}

/* Keys are printable ASCII. */
static bool admits(const struct mf_entry *entry)
{
    enum mf_value_type type =
        entry->type == MF_VALUE_ARRAY ? entry->of : entry->type;

    for (size_t i = 0; i < entry->key.size; i++)
        if (entry->key.at[i] < ' ' || entry->key.at[i] > '~')
            return false;
    return type <= MF_VALUE_F64 && entry->key.size > 0 &&
           entry->key.size <= MF_NAME_MAX;
}

static enum mf_status check_entry(const struct mf_draft *draft,
                                  const struct mf_entry *entry)
{
    enum mf_value_type type =
        entry->type == MF_VALUE_ARRAY ? entry->of : entry->type;

    if (admits(entry))
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "GGUF cannot carry '%s', which is %s%s",
                   mf_quote(entry->key).text,
                   entry->type == MF_VALUE_ARRAY ? "an array of type " : "",
                   mf_value_type_name(type));
}

/* The file says itself how its tensors are aligned. */
static enum mf_status take_alignment(struct mf_draft *draft)
{
    const struct mf_entry *entry = mf_draft_find(draft, "general.alignment");

    if (!entry)
        return MF_OK;
    if (entry->type != MF_VALUE_U32 || entry->number.u64 == 0 ||
        (entry->number.u64 & (entry->number.u64 - 1)) != 0)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "general.alignment must be a u32 and a power of two");
    draft->alignment = entry->number.u64;
    return MF_OK;
}

/* Version 1 counts with 32 bits; it and version 2 have no byte order but one.
 */
static enum mf_status check_version(const struct mf_draft *draft)
{
    if (draft->version < 1 || draft->version > 3)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "cannot write version %" PRIu32 " of GGUF",
                       draft->version);
    if (draft->big_endian && draft->version < 3)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model is big-endian, which version %" PRIu32
                       " of GGUF cannot be",
                       draft->version);
    return MF_OK;
}

static enum mf_status check(struct mf_draft *draft)
{
    if (check_version(draft) != MF_OK || take_alignment(draft) != MF_OK)
        return draft->env->error.status;
    for (size_t i = 0; i < draft->entry_count; i++)
        if (check_entry(draft, &draft->entry[i]) != MF_OK)
            return draft->env->error.status;
    for (size_t i = 0; i < draft->tensor_count; i++)
        if (check_tensor(draft, &draft->tensor[i]) != MF_OK)
            return draft->env->error.status;
    return MF_OK;
}

/* ---- values ---- */

struct telling {
    const struct mf_draft *draft;
    const struct mf_entry *entry;
    struct mf_sink *sink;
    unsigned depth;
    /* A string's length stands before it: one that is told in pieces waits
     * here until it is whole. */
    char *held;
    size_t held_size, held_room;
};

/* The longest element of an array of strings that comes in pieces. */
#define HELD_MAX ((size_t)1 << 20)

static void put_count(const struct mf_draft *draft, struct mf_sink *sink,
                      uint64_t count)
{
    if (draft->version == 1)
        mf_put_u32(sink, (uint32_t)count);
    else
        mf_put_u64(sink, count);
}

static void put_string(const struct mf_draft *draft, struct mf_sink *sink,
                       struct mf_str text)
{
    put_count(draft, sink, text.size);
    mf_put(sink, text.at, text.size);
}

static enum mf_status keep_piece(struct telling *telling, struct mf_str piece)
{
    size_t size = telling->held_size + piece.size;
    char *moved;

    if (size > HELD_MAX)
        return mf_fail(telling->draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'%s' contains a string of more than %zu bytes",
                       mf_quote(telling->entry->key).text, HELD_MAX);
    if (size > telling->held_room) {
        moved = mf_env_resize(telling->draft->env, telling->held,
                              telling->held_room, 2 * size);
        if (!moved)
            return telling->draft->env->error.status;
        telling->held = moved;
        telling->held_room = 2 * size;
    }
    memcpy(telling->held + telling->held_size, piece.at, piece.size);
    telling->held_size = size;
    return MF_OK;
}

static enum mf_status put_text(struct telling *telling,
                               const struct mf_value *value)
{
    struct mf_str whole;

    if (telling->held_size == 0 && !value->more) {
        put_string(telling->draft, telling->sink, value->text);
        return MF_OK;
    }
    if (keep_piece(telling, value->text) != MF_OK)
        return telling->draft->env->error.status;
    if (value->more)
        return MF_OK;
    whole = (struct mf_str){ telling->held, telling->held_size };
    put_string(telling->draft, telling->sink, whole);
    telling->held_size = 0;
    return MF_OK;
}

static void put_float(struct mf_sink *sink, double value, size_t size)
{
    float narrow = (float)value;
    uint32_t bits32;
    uint64_t bits64;

    memcpy(&bits32, &narrow, sizeof(bits32));
    memcpy(&bits64, &value, sizeof(bits64));
    if (size == sizeof(bits32))
        mf_put_u32(sink, bits32);
    else
        mf_put_u64(sink, bits64);
}

static void put_number(struct mf_sink *sink, enum mf_value_type type,
                       union mf_number number)
{
    size_t size = mf_gguf_number_size(type);

    if (type == MF_VALUE_F32 || type == MF_VALUE_F64)
        put_float(sink, number.f64, size);
    else if (type == MF_VALUE_BOOL)
        mf_put_u8(sink, number.boolean);
    else if (size == 1)
        mf_put_u8(sink, (uint8_t)number.u64);
    else if (size == 2)
        mf_put_u16(sink, (uint16_t)number.u64);
    else if (size == 4)
        mf_put_u32(sink, (uint32_t)number.u64);
    else
        mf_put_u64(sink, number.u64);
}

static enum mf_status other_type(const struct telling *telling,
                                 enum mf_value_type type)
{
    return mf_fail(telling->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'%s' contains a value that is not of type %s",
                   mf_quote(telling->entry->key).text,
                   mf_value_type_name(type));
}

static enum mf_status put_item(struct telling *telling,
                               const struct mf_value *value)
{
    enum mf_value_type type = telling->entry->type == MF_VALUE_ARRAY
                                  ? telling->entry->of
                                  : telling->entry->type;
    union mf_number number;

    if (type == MF_VALUE_ARRAY) /* arrays within it say what they are of */
        type = value->type;
    if (type == MF_VALUE_STRING)
        return value->type == MF_VALUE_STRING ? put_text(telling, value)
                                              : other_type(telling, type);
    if (!mf_value_as(value, type, &number))
        return other_type(telling, type);
    put_number(telling->sink, type, number);
    return MF_OK;
}

static enum mf_status put_event(void *user, const struct mf_value *value)
{
    struct telling *telling = user;
    bool outermost = telling->depth == 0;

    switch (value->event) {
    case MF_EVENT_ITEM:
        return put_item(telling, value);
    case MF_EVENT_BEGIN:
        if (value->type != MF_VALUE_ARRAY ||
            (!outermost && value->of > MF_VALUE_F64))
            return other_type(telling, telling->entry->of);
        telling->depth++;
        mf_put_u32(telling->sink, outermost ? telling->entry->of : value->of);
        put_count(telling->draft, telling->sink,
                  outermost ? telling->entry->count : value->count);
        return MF_OK;
    case MF_EVENT_END:
        telling->depth--;
        return MF_OK;
    default:
        return other_type(telling, telling->entry->type);
    }
}

/* A string that stands alone says its length beforehand and passes in
 * pieces. */
static enum mf_status put_piece(void *user, const struct mf_value *value)
{
    struct telling *telling = user;

    if (value->event != MF_EVENT_ITEM || value->type != MF_VALUE_STRING)
        return other_type(telling, MF_VALUE_STRING);
    mf_put(telling->sink, value->text.at, value->text.size);
    return MF_OK;
}

static enum mf_status put_entry(const struct mf_draft *draft,
                                const struct mf_entry *entry,
                                struct mf_sink *sink)
{
    struct telling telling = { .draft = draft, .entry = entry, .sink = sink };
    bool alone = entry->type == MF_VALUE_STRING && entry->from;
    const struct mf_source *source;
    struct mf_span span;
    enum mf_status status;

    put_string(draft, sink, entry->key);
    mf_put_u32(sink, entry->type);
    if (alone)
        put_count(draft, sink, entry->count);
    if (mf_entry_raw(draft, entry, &source, &span)) {
        mf_put_span(sink, source, span);
        return sink->status;
    }
    status = mf_entry_read(draft->env, entry, alone ? put_piece : put_event,
                           &telling);
    mf_release(draft->env, telling.held, telling.held_room);
    return status;
}

/* ---- the header ---- */

static void put_tensor(const struct mf_draft *draft,
                       const struct mf_draft_tensor *tensor,
                       struct mf_sink *sink)
{
    put_string(draft, sink, tensor->name);
    mf_put_u32(sink, tensor->rank);
    for (uint32_t i = 0; i < tensor->rank; i++)
        put_count(draft, sink, tensor->dim[i]);
    mf_put_u32(sink, tensor->type_id);
    mf_put_u64(sink, tensor->offset);
}

/* An array of bytes that means nothing and takes up room: an edit may use it.
 */
static void put_reserve(const struct mf_draft *draft, struct mf_sink *sink)
{
    const struct mf_str key = { KEY_RESERVE, strlen(KEY_RESERVE) };

    put_string(draft, sink, key);
    mf_put_u32(sink, MF_VALUE_ARRAY);
    mf_put_u32(sink, MF_VALUE_U8);
    put_count(draft, sink, draft->reserve);
    mf_put_zeros(sink, draft->reserve);
}

static uint64_t reserve_cost(const struct mf_draft *draft)
{
    uint64_t count = mf_gguf_count_size(draft->version);

    return count + strlen(KEY_RESERVE) + 4 + 4 + count;
}

static enum mf_status head(const struct mf_draft *draft, struct mf_sink *sink)
{
    uint64_t end;

    mf_put(sink, "GGUF", 4);
    mf_put_u32(sink, draft->version);
    put_count(draft, sink, draft->tensor_count);
    put_count(draft, sink, draft->entry_count + (draft->reserve > 0));
    for (size_t i = 0; i < draft->entry_count; i++)
        if (put_entry(draft, &draft->entry[i], sink) != MF_OK)
            return draft->env->error.status;
    if (draft->reserve > 0)
        put_reserve(draft, sink);
    for (size_t i = 0; i < draft->tensor_count; i++)
        put_tensor(draft, &draft->tensor[i], sink);
    sink->end = sink->offset;
    if (mf_align_up(sink->offset, draft->alignment, &end))
        mf_put_zeros(sink, end - sink->offset);
    return MF_OK;
}

const struct mf_format_out mf_gguf_out = {
    .version = 3,
    .oldest = 2,
    .alignment = 32,
    .pads_last = true,
    .f32_vectors = true,
    .implied_ones = true,
    .big_endian = true,
    .name_size_max = 63, /* ggml's names have 64 bytes, NUL included */
    .rank_max = 4,
    .reserve_key = KEY_RESERVE,
    .reserve_cost = reserve_cost,
    .admits = admits,
    .check = check,
    .head = head,
};
