/* SPDX-License-Identifier: MIT
 *
 * write.c - writing a GGUF header
 *
 * Versions 2 and 3, and 1 for a file that keeps its version.  A value that the
 * model has in the same encoding is copied as bytes; any other is encoded event
 * by event.  That is harder than it sounds because lengths come first in GGUF,
 * while the source may deliver a string in pieces: see put_text.
 */
#include "gguf/gguf.h"
#include "lib/draft/draft.h"

/* An array of u8 under this key is free space for later edits in place.  The
 * key is this short so that, with an array of one byte, the entry takes exactly
 * the usual alignment of 32: an edit that shrinks the header by more than
 * padding can fill always has room for it. */
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
                           ", above the 32-bit limit of GGUF version 1",
                           mf_quote(tensor->name).text, tensor->dim[i]);
    if (tensor->type != MF_TYPE_UNKNOWN &&
        row % mf_types[tensor->type].block != 0)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the rows of tensor '%s' have %" PRIu64
                       " elements, in GGUF this must be a multiple of %u",
                       mf_quote(tensor->name).text, row,
                       mf_types[tensor->type].block);
    return MF_OK;
}

/* Keys must be printable ASCII, or our own reader would report an error. */
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
                   "GGUF cannot store '%s', which is %s%s",
                   mf_quote(entry->key).text,
                   entry->type == MF_VALUE_ARRAY ? "an array of type " : "",
                   mf_value_type_name(type));
}

/* The alignment of the data is a metadata value of the file itself. */
static enum mf_status apply_alignment(struct mf_draft *draft)
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

/* Versions 1 and 2 are always little-endian. */
static enum mf_status check_version(const struct mf_draft *draft)
{
    if (draft->version < 1 || draft->version > 3)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "cannot write GGUF version %" PRIu32, draft->version);
    if (draft->big_endian && draft->version < 3)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "a big-endian file needs GGUF version 3, not %" PRIu32,
                       draft->version);
    return MF_OK;
}

static enum mf_status check(struct mf_draft *draft)
{
    if (check_version(draft) != MF_OK || apply_alignment(draft) != MF_OK)
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

struct encoder {
    const struct mf_draft *draft;
    const struct mf_entry *entry;
    struct mf_sink *sink;
    unsigned depth;
    /* A string's length comes before its bytes: pieces of a string are
     * collected here until it is complete. */
    char *held;
    size_t held_size, held_room;
};

/* Longest element of an array of strings that comes in pieces. */
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

static enum mf_status hold_piece(struct encoder *encoder, struct mf_str piece)
{
    size_t size = encoder->held_size + piece.size;
    char *moved;

    if (size > HELD_MAX)
        return mf_fail(encoder->draft->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'%s' contains a string of more than %zu bytes",
                       mf_quote(encoder->entry->key).text, HELD_MAX);
    if (size > encoder->held_room) {
        moved = mf_env_resize(encoder->draft->env, encoder->held,
                              encoder->held_room, 2 * size);
        if (!moved)
            return encoder->draft->env->error.status;
        encoder->held = moved;
        encoder->held_room = 2 * size;
    }
    memcpy(encoder->held + encoder->held_size, piece.at, piece.size);
    encoder->held_size = size;
    return MF_OK;
}

static enum mf_status put_text(struct encoder *encoder,
                               const struct mf_value *value)
{
    struct mf_str whole;

    if (encoder->held_size == 0 && !value->more) {
        put_string(encoder->draft, encoder->sink, value->text);
        return MF_OK;
    }
    if (hold_piece(encoder, value->text) != MF_OK)
        return encoder->draft->env->error.status;
    if (value->more)
        return MF_OK;
    whole = (struct mf_str){ encoder->held, encoder->held_size };
    put_string(encoder->draft, encoder->sink, whole);
    encoder->held_size = 0;
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

static enum mf_status refuse_type(const struct encoder *encoder,
                                  enum mf_value_type type)
{
    return mf_fail(encoder->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'%s' contains a value that is not of type %s",
                   mf_quote(encoder->entry->key).text,
                   mf_value_type_name(type));
}

static enum mf_status put_item(struct encoder *encoder,
                               const struct mf_value *value)
{
    enum mf_value_type type = encoder->entry->type == MF_VALUE_ARRAY
                                  ? encoder->entry->of
                                  : encoder->entry->type;
    union mf_number number;

    if (type == MF_VALUE_ARRAY) /* nested arrays have their own types */
        type = value->type;
    if (type == MF_VALUE_STRING)
        return value->type == MF_VALUE_STRING ? put_text(encoder, value)
                                              : refuse_type(encoder, type);
    if (!mf_value_as(value, type, &number))
        return refuse_type(encoder, type);
    put_number(encoder->sink, type, number);
    return MF_OK;
}

static enum mf_status put_event(void *user, const struct mf_value *value)
{
    struct encoder *encoder = user;
    bool outermost = encoder->depth == 0;

    switch (value->event) {
    case MF_EVENT_ITEM:
        return put_item(encoder, value);
    case MF_EVENT_BEGIN:
        if (value->type != MF_VALUE_ARRAY ||
            (!outermost && value->of > MF_VALUE_F64))
            return refuse_type(encoder, encoder->entry->of);
        encoder->depth++;
        mf_put_u32(encoder->sink, outermost ? encoder->entry->of : value->of);
        put_count(encoder->draft, encoder->sink,
                  outermost ? encoder->entry->count : value->count);
        return MF_OK;
    case MF_EVENT_END:
        encoder->depth--;
        return MF_OK;
    default:
        return refuse_type(encoder, encoder->entry->type);
    }
}

/* The length of a string outside of arrays is known before it is read, so its
 * pieces can be written as they come. */
static enum mf_status put_piece(void *user, const struct mf_value *value)
{
    struct encoder *encoder = user;

    if (value->event != MF_EVENT_ITEM || value->type != MF_VALUE_STRING)
        return refuse_type(encoder, MF_VALUE_STRING);
    mf_put(encoder->sink, value->text.at, value->text.size);
    return MF_OK;
}

static enum mf_status put_entry(const struct mf_draft *draft,
                                const struct mf_entry *entry,
                                struct mf_sink *sink)
{
    struct encoder encoder = { .draft = draft, .entry = entry, .sink = sink };
    bool outside_array = entry->type == MF_VALUE_STRING && entry->from;
    const struct mf_source *source;
    struct mf_span span;
    enum mf_status status;

    put_string(draft, sink, entry->key);
    mf_put_u32(sink, entry->type);
    if (outside_array)
        put_count(draft, sink, entry->count);
    if (mf_entry_raw(draft, entry, &source, &span)) {
        mf_put_span(sink, source, span);
        return sink->status;
    }
    status = mf_entry_read(draft->env, entry,
                           outside_array ? put_piece : put_event, &encoder);
    mf_release(draft->env, encoder.held, encoder.held_room);
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

/* Free space: see KEY_RESERVE. */
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
    if (!draft->ends_bare && mf_align_up(sink->offset, draft->alignment, &end))
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
