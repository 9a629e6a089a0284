/* SPDX-License-Identifier: MIT
 *
 * meta.c - the metadata of a GGUF header
 *
 * Strings of up to MF_TEXT_KEPT bytes are kept.  Longer ones and all arrays
 * are skipped: a vocabulary of several megabytes would dominate the time and
 * memory of an open, and most commands never look at it.  Skipping an array
 * of strings still means reading each length, and every length is compared
 * with the bytes that are left.
 */
#include "gguf/gguf.h"

struct walk {
    struct mf_reader *reader;
    struct mf_index *index;
    struct mf_part *part; /* the file */
    struct mf_meta *meta; /* the current entry */
    uint32_t version;
    struct gguf_special special;
};

static enum mf_status check_reader(struct walk *walk)
{
    return mf_reader_check(walk->reader, "the metadata");
}

/* ---- keys ---- */

/* The parts of a key, between dots, must not be empty. */
static bool has_empty_part(struct mf_str key)
{
    for (size_t i = 0; i < key.size; i++)
        if (key.at[i] == '.' &&
            (i == 0 || i + 1 == key.size || key.at[i + 1] == '.'))
            return true;
    return false;
}

static void check_key(struct walk *walk, uint64_t offset)
{
    struct mf_str key = walk->meta->key;
    bool plain = true, styled = true;

    for (size_t i = 0; i < key.size; i++) {
        char c = key.at[i];

        plain = plain && c >= ' ' && c <= '~';
        styled = styled && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                            c == '_' || c == '-' || c == '.');
    }
    if (!plain)
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_GGUF_KEY_CHARS, offset,
                      "key '%s' contains a byte that is not printable ASCII",
                      mf_quote(key).text);
    else if (!styled)
        mf_index_note(walk->index, walk->part->shard, MF_WARNING,
                      MF_RULE_GGUF_KEY_STYLE, offset,
                      "key '%s' contains characters other than a-z, 0-9, "
                      "'_', '-' and '.'",
                      mf_quote(key).text);
    else if (has_empty_part(key))
        mf_index_note(
            walk->index, walk->part->shard, MF_WARNING, MF_RULE_GGUF_KEY_STYLE,
            offset, "key '%s' has an empty part before, after or between dots",
            mf_quote(key).text);
}

static enum mf_status read_key(struct walk *walk)
{
    struct mf_reader *reader = walk->reader;
    uint64_t offset = mf_reader_offset(reader);
    uint64_t size = mf_gguf_take_count(reader, walk->version);
    size_t kept = size < MF_NAME_MAX ? (size_t)size : MF_NAME_MAX;
    char *text;

    if (check_reader(walk) != MF_OK)
        return reader->env->error.status;
    if (size == 0)
        return mf_refuse(reader->env, MF_RULE_GGUF_ENTRY_EMPTY, offset,
                         "a metadata key is empty");
    if (size > mf_reader_left(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, offset,
                         "a metadata key claims %" PRIu64
                         " bytes, but only %" PRIu64 " are left",
                         size, mf_reader_left(reader));
    text = mf_arena_text(&walk->index->arena, kept);
    if (!text)
        return reader->env->error.status;
    mf_take_bytes(reader, text, kept);
    mf_skip(reader, size - kept);
    walk->meta->key = (struct mf_str){ text, kept };
    if (size > MF_NAME_MAX)
        mf_index_note(walk->index, walk->part->shard, MF_ERROR,
                      MF_RULE_GGUF_KEY_LENGTH, offset,
                      "a metadata key has %" PRIu64 " bytes, the limit is %d",
                      size, MF_NAME_MAX);
    check_key(walk, offset);
    return MF_OK;
}

/* ---- values ---- */

static void note_bool(struct walk *walk, uint64_t offset, uint8_t byte)
{
    mf_index_note(walk->index, walk->part->shard, MF_ERROR, MF_RULE_GGUF_BOOL,
                  offset, "a bool of '%s' has the value %u, must be 0 or 1",
                  mf_quote(walk->meta->key).text, byte);
}

static void read_number(struct walk *walk)
{
    struct mf_meta *meta = walk->meta;
    uint8_t odd;

    meta->span.size = mf_gguf_number_size(meta->type);
    meta->number = mf_gguf_take_number(walk->reader, meta->type, &odd);
    if (odd)
        note_bool(walk, meta->span.offset, odd);
}

static enum mf_status past_end(struct walk *walk, const char *what,
                               uint64_t count, const char *unit)
{
    return mf_refuse(
        walk->reader->env, MF_RULE_FILE_COUNT, mf_reader_offset(walk->reader),
        "%s of '%s' claims %" PRIu64 " %s, but only %" PRIu64 " bytes are left",
        what, mf_quote(walk->meta->key).text, count, unit,
        mf_reader_left(walk->reader));
}

static enum mf_status read_string(struct walk *walk)
{
    struct mf_meta *meta = walk->meta;
    struct mf_reader *reader = walk->reader;
    char *text;

    meta->count = mf_gguf_take_count(reader, walk->version);
    meta->span.offset = mf_reader_offset(reader);
    meta->span.size = meta->count;
    if (check_reader(walk) != MF_OK)
        return reader->env->error.status;
    if (meta->count > mf_reader_left(reader))
        return past_end(walk, "the string", meta->count, "bytes");
    if (meta->count > MF_TEXT_KEPT) {
        mf_skip(reader, meta->count);
        return MF_OK;
    }
    text = mf_arena_text(&walk->index->arena, (size_t)meta->count);
    if (!text)
        return reader->env->error.status;
    mf_take_bytes(reader, text, (size_t)meta->count);
    meta->text = (struct mf_str){ text, (size_t)meta->count };
    if (!mf_text_is_utf8(text, meta->text.size) ||
        memchr(text, 0, meta->text.size))
        mf_index_note(walk->index, walk->part->shard, MF_WARNING,
                      MF_RULE_GGUF_TEXT_UTF8, meta->span.offset,
                      "the text of '%s' is not UTF-8 or contains a NUL",
                      mf_quote(meta->key).text);
    return MF_OK;
}

/* ---- arrays ---- */

static void check_bools(struct walk *walk, uint64_t count)
{
    struct mf_reader *reader = walk->reader;

    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        uint8_t byte = mf_take_u8(reader);

        if (byte > 1) {
            note_bool(walk, mf_reader_offset(reader) - 1, byte);
            mf_skip(reader, count - 1 - i);
            return;
        }
    }
}

/* The hot loop of an open: nearly all of a header is a vocabulary's strings. */
static enum mf_status skip_strings(struct walk *walk, uint64_t count)
{
    struct mf_reader *reader = walk->reader;

    for (; count > 0 && !reader->failed; count--) {
        uint64_t size = mf_gguf_take_count(reader, walk->version);

        if (size > mf_reader_left(reader))
            return past_end(walk, "an element", size, "bytes");
        mf_skip(reader, size);
    }
    return MF_OK;
}

/* Reads the type and count of an array; its elements follow. */
static enum mf_status begin_array(struct walk *walk, struct mf_level *level)
{
    struct mf_reader *reader = walk->reader;
    uint32_t of = mf_take_u32(reader);
    uint64_t smallest; /* element */

    level->left = mf_gguf_take_count(reader, walk->version);
    level->of = (uint8_t)of;
    if (check_reader(walk) != MF_OK)
        return reader->env->error.status;
    if (of > MF_VALUE_F64)
        return mf_refuse(
            reader->env, MF_RULE_FILE_VALUE_TYPE, mf_reader_offset(reader),
            "'%s' is an array of unknown type %" PRIu32 " (0 to %d are valid)",
            mf_quote(walk->meta->key).text, of, MF_VALUE_F64);
    smallest = mf_gguf_number_size(of);
    if (smallest == 0) /* a length; an array has its type before it */
        smallest =
            mf_gguf_count_size(walk->version) + (of == MF_VALUE_ARRAY ? 4 : 0);
    if (level->left > mf_reader_left(reader) / smallest)
        return past_end(walk, "an array", level->left, "elements");
    return MF_OK;
}

/* Skips the elements of an array that does not contain arrays. */
static enum mf_status skip_elements(struct walk *walk,
                                    const struct mf_level *level)
{
    if (level->of == MF_VALUE_STRING)
        return skip_strings(walk, level->left);
    if (level->of == MF_VALUE_BOOL)
        check_bools(walk, level->left);
    else /* no overflow: begin_array compared it with the bytes left */
        mf_skip(walk->reader, level->left * mf_gguf_number_size(level->of));
    return MF_OK;
}

/* Skips an array of arrays.  Without recursion: how deep a file nests must not
 * decide how much stack is used.  outer is what begin_array has read. */
static enum mf_status skip_nested(struct walk *walk, struct mf_level outer)
{
    struct mf_level level[MF_NESTING_MAX] = { outer };
    struct mf_reader *reader = walk->reader;
    unsigned depth = 1;

    mf_index_note(walk->index, walk->part->shard, MF_ERROR_ELSEWHERE,
                  MF_RULE_GGUF_ARRAY_NESTED, walk->meta->span.offset,
                  "'%s' contains arrays of arrays, which ggml cannot read",
                  mf_quote(walk->meta->key).text);
    while (depth > 0) {
        struct mf_level *top = &level[depth - 1];

        if (top->left == 0) {
            depth--;
            continue;
        }
        top->left--;
        if (depth == MF_NESTING_MAX)
            return mf_refuse(reader->env, MF_RULE_FILE_NESTING,
                             mf_reader_offset(reader),
                             "arrays of '%s' are nested more than %d deep",
                             mf_quote(walk->meta->key).text, MF_NESTING_MAX);
        if (begin_array(walk, &level[depth]) != MF_OK)
            return reader->env->error.status;
        if (level[depth].of == MF_VALUE_ARRAY)
            depth++;
        else if (skip_elements(walk, &level[depth]) != MF_OK ||
                 check_reader(walk) != MF_OK)
            return reader->env->error.status;
    }
    return MF_OK;
}

static enum mf_status read_array(struct walk *walk)
{
    struct mf_meta *meta = walk->meta;
    struct mf_level level;
    enum mf_status status;

    if (begin_array(walk, &level) != MF_OK)
        return walk->reader->env->error.status;
    meta->of = (enum mf_value_type)level.of;
    meta->count = level.left;
    status = level.of == MF_VALUE_ARRAY ? skip_nested(walk, level)
                                        : skip_elements(walk, &level);
    meta->span.size = mf_reader_offset(walk->reader) - meta->span.offset;
    return status;
}

/* ---- entries ---- */

static enum mf_status read_value(struct walk *walk)
{
    struct mf_reader *reader = walk->reader;
    uint32_t type = mf_take_u32(reader);

    if (check_reader(walk) != MF_OK)
        return reader->env->error.status;
    if (type > MF_VALUE_F64)
        return mf_refuse(
            reader->env, MF_RULE_FILE_VALUE_TYPE, mf_reader_offset(reader) - 4,
            "'%s' has unknown type %" PRIu32 " (0 to %d are valid)",
            mf_quote(walk->meta->key).text, type, MF_VALUE_F64);
    walk->meta->type = (enum mf_value_type)type;
    walk->meta->span.offset = mf_reader_offset(reader);
    if (type == MF_VALUE_STRING)
        return read_string(walk);
    if (type == MF_VALUE_ARRAY)
        return read_array(walk);
    read_number(walk);
    return MF_OK;
}

enum mf_status mf_gguf_read_meta(struct mf_reader *reader,
                                 struct mf_index *index, struct mf_part *part,
                                 uint64_t count)
{
    struct walk walk = { .reader = reader,
                         .index = index,
                         .part = part,
                         .version = index->kind.version };

    part->alignment = GGUF_ALIGNMENT;
    for (; count > 0; count--) {
        walk.meta = mf_index_add_meta(index, part);
        if (!walk.meta || read_key(&walk) != MF_OK ||
            read_value(&walk) != MF_OK || check_reader(&walk) != MF_OK ||
            mf_gguf_apply_special(index, part, walk.meta, &walk.special) !=
                MF_OK)
            return reader->env->error.status;
    }
    mf_split_finish(index, part, &walk.special.split);
    return MF_OK;
}
