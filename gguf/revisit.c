/* SPDX-License-Identifier: MIT
 *
 * revisit.c - what reading has passed over: whether strings are UTF-8, and
 * numbers finite
 *
 * Scalars and short strings are kept and were looked at; long strings and the
 * elements of arrays are still in the file.
 */
#include "gguf/gguf.h"

/* Tokens of some vocabularies are single bytes of a character. */
#define VOCABULARY "tokenizer."

/* False for a text that is not UTF-8 or contains a NUL. */
static bool take_text(struct mf_reader *reader, uint64_t size)
{
    bool has_nul;

    return mf_pass_text(reader, size, &has_nul) && !has_nul;
}

static void check_string(struct mf_reader *reader, struct mf_index *index,
                         const struct mf_meta *meta)
{
    if (!take_text(reader, meta->span.size))
        mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_GGUF_TEXT_UTF8,
                      meta->span.offset,
                      "the text of '%s' is not UTF-8, or contains a NUL",
                      mf_quote(meta->key).text);
}

/* What was found in an array, its own arrays among it. */
struct elements {
    uint64_t passed;       /* texts or numbers so far */
    uint64_t bad, first;   /* of these; the first one's place among them */
    uint64_t offset;       /* and in the file */
    enum mf_value_type of; /* of the bad ones */
};

static void found(struct elements *all, uint64_t offset, enum mf_value_type of)
{
    if (all->bad++ > 0)
        return;
    all->first = all->passed;
    all->offset = offset;
    all->of = of;
}

static void check_strings(struct mf_reader *reader, uint32_t version,
                          uint64_t count, struct elements *all)
{
    for (uint64_t i = 0; i < count && !reader->failed; i++, all->passed++) {
        uint64_t size = mf_gguf_take_count(reader, version);
        uint64_t start = mf_reader_offset(reader);

        if (!take_text(reader, size))
            found(all, start, MF_VALUE_STRING);
    }
}

/* An exponent of ones, in the two highest bytes, is an infinity or NaN. */
static bool is_finite(const uint8_t *at, size_t size, bool big_endian)
{
    uint8_t high = at[big_endian ? 0 : size - 1];
    uint8_t next = at[big_endian ? 1 : size - 2];
    uint8_t rest = size == sizeof(float) ? 0x80 : 0xf0;

    return (high & 0x7f) != 0x7f || (next & rest) != rest;
}

/* In pieces: a vocabulary has a hundred thousand scores. */
static void check_numbers(struct mf_reader *reader, enum mf_value_type of,
                          uint64_t count, struct elements *all)
{
    const size_t size = mf_gguf_number_size(of), most = 1024;

    while (count > 0) {
        size_t piece = count < most ? (size_t)count : most;
        uint64_t offset = mf_reader_offset(reader);
        const uint8_t *at = mf_take(reader, piece * size);

        if (!at)
            return;
        for (size_t i = 0; i < piece; i++, all->passed++)
            if (!is_finite(at + i * size, size, reader->big_endian))
                found(all, offset + i * size, of);
        count -= piece;
    }
}

/* The head of an array; false where it cannot be one that was passed over. */
static bool take_head(struct mf_reader *reader, uint32_t version,
                      struct mf_level *level)
{
    uint32_t of = mf_take_u32(reader);

    level->left = mf_gguf_take_count(reader, version);
    level->of = (uint8_t)of;
    return !reader->failed && of <= MF_VALUE_F64;
}

static void check_elements(struct mf_reader *reader, uint32_t version,
                           const struct mf_level *level, struct elements *all)
{
    enum mf_value_type of = (enum mf_value_type)level->of;

    if (of == MF_VALUE_STRING)
        check_strings(reader, version, level->left, all);
    else if (of == MF_VALUE_F32 || of == MF_VALUE_F64)
        check_numbers(reader, of, level->left, all);
    else /* no overflow: opening held it against the bytes left */
        mf_skip(reader, level->left * mf_gguf_number_size(of));
}

/* False where the array is not the one that was passed over. */
static bool walk_array(struct mf_reader *reader, uint32_t version,
                       struct elements *all)
{
    struct mf_level level[MF_NESTING_MAX];
    unsigned depth = 0;

    do {
        if (depth > 0 && level[depth - 1].left == 0) {
            depth--;
            continue;
        }
        if (depth == MF_NESTING_MAX ||
            !take_head(reader, version, &level[depth]))
            return false;
        if (depth > 0)
            level[depth - 1].left--;
        if (level[depth].of == MF_VALUE_ARRAY)
            depth++;
        else
            check_elements(reader, version, &level[depth], all);
    } while (depth > 0 && !reader->failed);
    return true;
}

static void check_array(struct mf_reader *reader, struct mf_index *index,
                        const struct mf_meta *meta)
{
    bool token = strncmp(meta->key.at, VOCABULARY, strlen(VOCABULARY)) == 0;
    struct elements all = { 0 };

    if (!walk_array(reader, index->kind.version, &all))
        mf_reader_seek(reader, UINT64_MAX); /* fails */
    if (all.bad == 0 || reader->failed)
        return;
    if (all.of == MF_VALUE_STRING)
        mf_index_note(
            index, meta->shard, token ? MF_NOTE : MF_WARNING,
            MF_RULE_GGUF_TEXT_UTF8, all.offset,
            "%" PRIu64 " of the %" PRIu64
            " texts of '%s' are not UTF-8, or contain a NUL; the first "
            "is element %" PRIu64,
            all.bad, all.passed, mf_quote(meta->key).text, all.first);
    else
        mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_META_NOT_FINITE,
                      all.offset,
                      "%" PRIu64 " of the %" PRIu64
                      " numbers of '%s' are NaN or infinite; the first is "
                      "element %" PRIu64,
                      all.bad, all.passed, mf_quote(meta->key).text, all.first);
}

/* Arrays of other numbers have no value that could be wrong here. */
static bool is_walked(const struct mf_meta *meta)
{
    return meta->type == MF_VALUE_ARRAY &&
           (meta->of == MF_VALUE_STRING || meta->of == MF_VALUE_ARRAY ||
            meta->of == MF_VALUE_F32 || meta->of == MF_VALUE_F64);
}

enum mf_status mf_gguf_revisit(struct mf_reader *reader, struct mf_index *index,
                               const struct mf_meta *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mf_meta *meta = &rows[i];
        bool one = meta->type == MF_VALUE_STRING && !meta->text.at;

        if (!one && !is_walked(meta))
            continue;
        mf_reader_limit(reader, UINT64_MAX);
        mf_reader_seek(reader, meta->span.offset);
        mf_reader_limit(reader, meta->span.offset + meta->span.size);
        if (one)
            check_string(reader, index, meta);
        else
            check_array(reader, index, meta);
        /* Opening has walked through it, so it was changed since. */
        if (reader->failed)
            return mf_fail(reader->env, MF_ERR_IO, mf_reader_offset(reader),
                           "the elements of '%s' are not what they were when "
                           "the file was opened",
                           mf_quote(meta->key).text);
    }
    return MF_OK;
}
