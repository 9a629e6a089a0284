/* SPDX-License-Identifier: MIT
 *
 * msgpack.c - MessagePack, the metadata of APR version 1
 *
 * https://github.com/msgpack/msgpack/blob/master/spec.md: the first byte of a
 * value has its type, and often its size or the value itself.  Nothing has its
 * size in bytes, so skipping a map means walking all of it: without recursion,
 * since the file decides how deep it nests.
 */
#include "apr/apr.h"

/* What comes before the bytes, elements or members of a value. */
struct head {
    enum mf_value_type type;
    union mf_number number;
    uint64_t size; /* bytes of a string, elements of an array, members of a
                      map */
    bool text;     /* a string that must be UTF-8 */
};

static uint64_t take_be(struct mf_reader *reader, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | mf_take_u8(reader);
    return value;
}

static int64_t sign_extend(uint64_t value, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;

    return (int64_t)(value << shift) >> shift;
}

static struct head number_of(enum mf_value_type type, uint64_t bits)
{
    struct head head = { .type = type };
    uint32_t low = (uint32_t)bits;
    float single;

    if (type == MF_VALUE_F32) {
        memcpy(&single, &low, sizeof(single));
        head.number.f64 = (double)single;
    } else if (type == MF_VALUE_F64) {
        memcpy(&head.number.f64, &bits, sizeof(bits));
    } else {
        head.number.u64 = bits;
    }
    return head;
}

static struct head sized(enum mf_value_type type, uint64_t size)
{
    return (struct head){ .type = type, .size = size };
}

static struct head text_of(uint64_t size)
{
    return (struct head){ .type = MF_VALUE_STRING, .size = size, .text = true };
}

/* 0xc0 to 0xdf: the byte has the type only; size or number follow. */
static struct head take_long(struct mf_reader *reader, uint8_t byte)
{
    struct head head = { 0 };

    switch (byte) {
    case 0xc2:
    case 0xc3:
        head.type = MF_VALUE_BOOL;
        head.number.boolean = byte == 0xc3;
        return head;
    case 0xc4: /* bytes, shown as a string */
    case 0xc5:
    case 0xc6:
        return sized(MF_VALUE_STRING, take_be(reader, 1u << (byte - 0xc4)));
    case 0xc7: /* an application's own type: its number is one more byte */
    case 0xc8:
    case 0xc9:
        return sized(MF_VALUE_STRING, take_be(reader, 1u << (byte - 0xc7)) + 1);
    case 0xca:
        return number_of(MF_VALUE_F32, take_be(reader, 4));
    case 0xcb:
        return number_of(MF_VALUE_F64, take_be(reader, 8));
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return number_of(MF_VALUE_U64, take_be(reader, 1u << (byte - 0xcc)));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        head.type = MF_VALUE_I64;
        head.number.i64 = sign_extend(take_be(reader, 1u << (byte - 0xd0)),
                                      1u << (byte - 0xd0));
        return head;
    case 0xd4: /* likewise, with a fixed size of 1, 2, 4, 8 or 16 */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return sized(MF_VALUE_STRING, (UINT64_C(1) << (byte - 0xd4)) + 1);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return text_of(take_be(reader, 1u << (byte - 0xd9)));
    case 0xdc:
    case 0xdd:
        return sized(MF_VALUE_ARRAY, take_be(reader, 2u << (byte - 0xdc)));
    case 0xde:
    case 0xdf:
        return sized(MF_VALUE_OBJECT, take_be(reader, 2u << (byte - 0xde)));
    default: /* nil, and 0xc1, which is never used */
        head.type = byte == 0xc0 ? MF_VALUE_NULL : MF_VALUE_MIXED;
        return head;
    }
}

/* MF_VALUE_MIXED for a byte that starts no value. */
static struct head take_head(struct mf_reader *reader)
{
    uint8_t byte = mf_take_u8(reader);

    if (byte < 0x80)
        return number_of(MF_VALUE_U64, byte);
    if (byte < 0x90)
        return sized(MF_VALUE_OBJECT, byte & 0x0f);
    if (byte < 0xa0)
        return sized(MF_VALUE_ARRAY, byte & 0x0f);
    if (byte < 0xc0)
        return text_of(byte & 0x1f);
    if (byte >= 0xe0) {
        struct head head = { .type = MF_VALUE_I64 };

        head.number.i64 = (int8_t)byte;
        return head;
    }
    return take_long(reader, byte);
}

/* ---- parsing ---- */

/* Reads a head and compares its size with the bytes left: each element takes at
 * least one. */
static enum mf_status take_checked(struct mf_reader *reader, struct head *head)
{
    uint64_t offset = mf_reader_offset(reader), left;

    *head = take_head(reader);
    if (mf_reader_check(reader, "the metadata") != MF_OK)
        return reader->env->error.status;
    left = mf_reader_left(reader);
    if (head->type == MF_VALUE_MIXED)
        return mf_refuse(reader->env, MF_RULE_FILE_VALUE_TYPE, offset,
                         "byte 0xc1 is invalid in MessagePack");
    if (head->size > (head->type == MF_VALUE_OBJECT ? left / 2 : left))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, offset,
                         "a %s claims size %" PRIu64 ", but only %" PRIu64
                         " bytes of metadata are left",
                         mf_value_type_name(head->type), head->size, left);
    return MF_OK;
}

static void note_text(struct mf_index *index, const struct mf_part *part,
                      uint64_t offset)
{
    mf_index_note(index, part->shard, MF_WARNING, MF_RULE_APR_V1_METADATA,
                  offset, "a string in the metadata is not UTF-8");
}

static void skip_text(struct mf_reader *reader, struct mf_index *index,
                      const struct mf_part *part, const struct head *head)
{
    uint64_t offset = mf_reader_offset(reader);
    bool has_nul;

    if (!head->text)
        mf_skip(reader, head->size);
    else if (!mf_pass_text(reader, head->size, &has_nul))
        note_text(index, part, offset);
}

/* Skips the elements of head, which was just read.  *of: the type that all
 * elements of an array have, or MF_VALUE_MIXED. */
static enum mf_status skip_elements(struct mf_reader *reader,
                                    struct mf_index *index,
                                    const struct mf_part *part,
                                    const struct head *head,
                                    enum mf_value_type *of)
{
    uint64_t left[MF_NESTING_MAX];
    unsigned depth = 1;

    *of = head->size == 0 ? MF_VALUE_NULL : MF_VALUE_MIXED;
    left[0] = head->type == MF_VALUE_OBJECT ? 2 * head->size : head->size;
    for (bool first = true; depth > 0;) {
        struct head element;

        if (left[depth - 1] == 0) {
            depth--;
            continue;
        }
        left[depth - 1]--;
        if (take_checked(reader, &element) != MF_OK)
            return reader->env->error.status;
        if (depth == 1)
            *of = first || *of == element.type ? element.type : MF_VALUE_MIXED;
        first = false;
        if (element.type == MF_VALUE_STRING) {
            skip_text(reader, index, part, &element);
        } else if (element.size > 0) {
            if (depth == MF_NESTING_MAX)
                return mf_refuse(
                    reader->env, MF_RULE_FILE_NESTING, mf_reader_offset(reader),
                    "values are nested more than %d deep", MF_NESTING_MAX);
            left[depth++] = element.type == MF_VALUE_OBJECT ? 2 * element.size
                                                            : element.size;
        }
    }
    return MF_OK;
}

static enum mf_status take_text(struct mf_reader *reader,
                                struct mf_index *index,
                                const struct mf_part *part,
                                const struct head *head, struct mf_str *out)
{
    uint64_t offset = mf_reader_offset(reader);
    size_t size = (size_t)head->size;
    char *text = mf_arena_text(&index->arena, size);

    if (!text)
        return reader->env->error.status;
    mf_take_bytes(reader, text, size);
    *out = (struct mf_str){ text, size };
    if (head->text && !mf_text_is_utf8(text, size))
        note_text(index, part, offset);
    return MF_OK;
}

static enum mf_status read_key(struct mf_reader *reader, struct mf_index *index,
                               const struct mf_part *part, struct mf_meta *meta)
{
    uint64_t offset = mf_reader_offset(reader);
    struct head head;

    if (take_checked(reader, &head) != MF_OK)
        return reader->env->error.status;
    if (head.type != MF_VALUE_STRING || head.size > MF_NAME_MAX)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, offset,
                         "a metadata key is not a string of at most %d bytes",
                         MF_NAME_MAX);
    return take_text(reader, index, part, &head, &meta->key);
}

static enum mf_status read_value(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part,
                                 struct mf_meta *meta)
{
    struct head head;
    enum mf_status status = MF_OK;

    meta->span.offset = mf_reader_offset(reader);
    if (take_checked(reader, &head) != MF_OK)
        return reader->env->error.status;
    meta->type = head.type;
    meta->number = head.number;
    meta->count = head.size;
    if (head.type == MF_VALUE_STRING && head.size <= MF_TEXT_KEPT)
        status = take_text(reader, index, part, &head, &meta->text);
    else if (head.type == MF_VALUE_STRING)
        skip_text(reader, index, part, &head);
    else if (head.type == MF_VALUE_ARRAY || head.type == MF_VALUE_OBJECT)
        status = skip_elements(reader, index, part, &head, &meta->of);
    meta->span.size = mf_reader_offset(reader) - meta->span.offset;
    return status;
}

enum mf_status mf_apr_msgpack_metadata(struct mf_reader *reader,
                                       struct mf_index *index,
                                       const struct mf_part *part, uint64_t end)
{
    uint64_t start = mf_reader_offset(reader);
    struct head head;

    if (start == end) {
        mf_index_note(index, part->shard, MF_ERROR, MF_RULE_APR_V1_METADATA,
                      start,
                      "the metadata is missing; an empty map is required");
        return MF_OK;
    }
    if (take_checked(reader, &head) != MF_OK)
        return reader->env->error.status;
    if (head.type != MF_VALUE_OBJECT)
        return mf_refuse(reader->env, MF_RULE_FILE_FIELD, start,
                         "the metadata is not a MessagePack map");
    for (; head.size > 0; head.size--) {
        struct mf_meta *meta = mf_index_add_meta(index, part);

        if (!meta || read_key(reader, index, part, meta) != MF_OK ||
            read_value(reader, index, part, meta) != MF_OK ||
            mf_reader_check(reader, "the metadata") != MF_OK)
            return reader->env->error.status;
    }
    if (mf_reader_offset(reader) != end)
        mf_index_note(
            index, part->shard, MF_ERROR, MF_RULE_APR_V1_METADATA, start,
            "the metadata ends at %#" PRIx64 ", but the header says %#" PRIx64,
            mf_reader_offset(reader), end);
    return MF_OK;
}

/* ---- events ---- */

static enum mf_status begin(struct mf_values *values, const struct head *head,
                            struct mf_value *out)
{
    bool object = head->type == MF_VALUE_OBJECT;

    if (values->depth == MF_NESTING_MAX)
        return mf_refuse(values->env, MF_RULE_FILE_NESTING,
                         mf_reader_offset(&values->reader),
                         "values are nested more than %d deep", MF_NESTING_MAX);
    values->level[values->depth++] =
        (struct mf_level){ .left = object ? 2 * head->size : head->size,
                           .object = object };
    out->event = MF_EVENT_BEGIN;
    out->type = head->type;
    out->of = values->depth == 1 ? values->meta.of : MF_VALUE_MIXED;
    out->count = head->size;
    return MF_OK;
}

/* In nested maps a key need not be a string: any scalar becomes a KEY event, so
 * keys and values still alternate. */
static enum mf_status next_value(struct mf_values *values, bool key,
                                 struct mf_value *out)
{
    struct head head;

    if (take_checked(&values->reader, &head) != MF_OK)
        return values->env->error.status;
    if (head.type == MF_VALUE_ARRAY || head.type == MF_VALUE_OBJECT)
        return begin(values, &head, out);
    out->event = key ? MF_EVENT_KEY : MF_EVENT_ITEM;
    out->type = head.type;
    out->number = head.number;
    if (head.type != MF_VALUE_STRING)
        return MF_OK;
    values->text_event = out->event;
    values->text_left = head.size;
    return mf_values_text(values, out);
}

enum mf_status mf_apr_msgpack_next(struct mf_values *values,
                                   struct mf_value *out)
{
    struct mf_level *level;

    if (values->text_left > 0)
        return mf_values_text(values, out);
    if (!values->started) {
        values->started = true;
        return next_value(values, false, out);
    }
    if (values->depth == 0) {
        values->done = true;
        return MF_OK; /* *out is initialized to DONE */
    }
    level = &values->level[values->depth - 1];
    if (level->left > 0) {
        bool key = level->object && level->left % 2 == 0;

        level->left--;
        return next_value(values, key, out);
    }
    values->depth--;
    out->event = MF_EVENT_END;
    out->type = level->object ? MF_VALUE_OBJECT : MF_VALUE_ARRAY;
    return MF_OK;
}
