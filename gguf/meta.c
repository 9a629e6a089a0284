/* SPDX-License-Identifier: MIT
 *
 * meta.c - the metadata of a GGUF header
 *
 * Strings up to MF_TEXT_KEPT bytes are kept; longer ones and all arrays are
 * walked through and left in the file.
 */
#include "gguf/gguf.h"

struct walk {
    struct mf_reader *reader;
    struct mf_index *index;
    struct mf_part *part; /* the file */
    struct mf_meta *meta; /* the entry that is being read */
    uint32_t version;
    struct gguf_special special;
};

static enum mf_status ends(struct walk *walk)
{
    return mf_reader_check(walk->reader, "the metadata");
}

/* ---- keys ---- */

/* A key's parts are separated by dots and not empty. */
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
                      "key '%s' is not written in a-z, 0-9, '_', '-' and '.'",
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

    if (ends(walk) != MF_OK)
        return reader->env->error.status;
    if (size == 0)
        return mf_refuse(reader->env, MF_RULE_GGUF_ENTRY_EMPTY, offset,
                         "a metadata key is empty");
    if (size > mf_reader_left(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, offset,
                         "a metadata key claims %" PRIu64 " bytes, %" PRIu64
                         " are left",
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
                      "a key has %" PRIu64 " bytes, at most %d are allowed",
                      size, MF_NAME_MAX);
    check_key(walk, offset);
    return MF_OK;
}

/* ---- values ---- */

static void note_bool(struct walk *walk, uint64_t offset, uint8_t byte)
{
    mf_index_note(walk->index, walk->part->shard, MF_ERROR, MF_RULE_GGUF_BOOL,
                  offset,
                  "a bool of '%s' is the byte %u, only 0 and 1 are allowed",
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
        "%s of '%s' claims %" PRIu64 " %s, %" PRIu64 " bytes are left", what,
        mf_quote(walk->meta->key).text, count, unit,
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
    if (ends(walk) != MF_OK)
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
                      "the text of '%s' is not UTF-8, or contains a NUL",
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

/* The strings of a vocabulary: nearly all of a header's entries. */
static enum mf_status pass_strings(struct walk *walk, uint64_t count)
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

/* The head of an array; its elements lie ahead. */
static enum mf_status begin_array(struct walk *walk, struct mf_level *level)
{
    struct mf_reader *reader = walk->reader;
    uint32_t of = mf_take_u32(reader);
    uint64_t least;

    level->left = mf_gguf_take_count(reader, walk->version);
    level->of = (uint8_t)of;
    if (ends(walk) != MF_OK)
        return reader->env->error.status;
    if (of > MF_VALUE_F64)
        return mf_refuse(reader->env, MF_RULE_FILE_VALUE_TYPE,
                         mf_reader_offset(reader),
                         "'%s' is an array of type %" PRIu32 ", the last is %d",
                         mf_quote(walk->meta->key).text, of, MF_VALUE_F64);
    least = mf_gguf_number_size(of);
    if (least == 0) /* a length; of an array, a type before it */
        least =
            mf_gguf_count_size(walk->version) + (of == MF_VALUE_ARRAY ? 4 : 0);
    if (level->left > mf_reader_left(reader) / least)
        return past_end(walk, "an array", level->left, "elements");
    return MF_OK;
}

/* Passes over all elements of an array without arrays in it. */
static enum mf_status pass_elements(struct walk *walk,
                                    const struct mf_level *level)
{
    if (level->of == MF_VALUE_STRING)
        return pass_strings(walk, level->left);
    if (level->of == MF_VALUE_BOOL)
        check_bools(walk, level->left);
    else /* no overflow: begin_array held it against the bytes left */
        mf_skip(walk->reader, level->left * mf_gguf_number_size(level->of));
    return MF_OK;
}

/* Walks an array of arrays without recursion; outer is its head. */
static enum mf_status pass_nested(struct walk *walk, struct mf_level outer)
{
    struct mf_level level[MF_NESTING_MAX] = { outer };
    struct mf_reader *reader = walk->reader;
    unsigned depth = 1;

    mf_index_note(walk->index, walk->part->shard, MF_WARNING,
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
        else if (pass_elements(walk, &level[depth]) != MF_OK ||
                 ends(walk) != MF_OK)
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
    status = level.of == MF_VALUE_ARRAY ? pass_nested(walk, level)
                                        : pass_elements(walk, &level);
    meta->span.size = mf_reader_offset(walk->reader) - meta->span.offset;
    return status;
}

/* ---- the list ---- */

static enum mf_status read_value(struct walk *walk)
{
    struct mf_reader *reader = walk->reader;
    uint32_t type = mf_take_u32(reader);

    if (ends(walk) != MF_OK)
        return reader->env->error.status;
    if (type > MF_VALUE_F64)
        return mf_refuse(reader->env, MF_RULE_FILE_VALUE_TYPE,
                         mf_reader_offset(reader) - 4,
                         "'%s' is of type %" PRIu32 ", the last is %d",
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
            read_value(&walk) != MF_OK || ends(&walk) != MF_OK ||
            mf_gguf_take_special(index, part, walk.meta, &walk.special) !=
                MF_OK)
            return reader->env->error.status;
    }
    mf_split_finish(index, part, &walk.special.split);
    return MF_OK;
}
