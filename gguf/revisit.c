/* SPDX-License-Identifier: MIT
 *
 * revisit.c - checks of the metadata values that parsing has skipped
 *
 * Scalars and short strings were checked when they were read.  Long strings
 * and arrays are still in the file; validation reads them again to find texts
 * that are not UTF-8 and numbers that are not finite.  An array gets one
 * finding with a count and its first bad element, not one for each: a broken
 * vocabulary would drown every other finding.
 */
#include <assert.h>

#include "gguf/gguf.h"

/* Some vocabularies have tokens that are single bytes of a character, so there
 * invalid UTF-8 is only a note. */
#define VOCABULARY "tokenizer."

/* Reads past a text; false if it is not UTF-8 or contains a NUL. */
static bool text_is_valid(struct mf_reader *reader, uint64_t size)
{
    bool has_nul;

    return mf_pass_text(reader, size, &has_nul) && !has_nul;
}

static void check_string(struct mf_reader *reader, struct mf_index *index,
                         const struct mf_meta *meta)
{
    if (!text_is_valid(reader, meta->span.size))
        mf_index_note(index, meta->shard, MF_WARNING, MF_RULE_GGUF_TEXT_UTF8,
                      meta->span.offset,
                      "the text of '%s' is not UTF-8 or contains a NUL",
                      mf_quote(meta->key).text);
}

/* Result for an array, including the arrays in it. */
struct elements {
    uint64_t passed;       /* texts or numbers read so far */
    uint64_t bad;          /* how many of them are invalid */
    uint64_t first;        /* position of the first invalid one */
    uint64_t offset;       /* its offset in the file */
    enum mf_value_type of; /* its type */
};

static void count_bad(struct elements *all, uint64_t offset,
                      enum mf_value_type of)
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

        if (!text_is_valid(reader, size))
            count_bad(all, start, MF_VALUE_STRING);
    }
}

/* NaN and infinities have an exponent of all ones, which is in the two most
 * significant bytes: the rest of the number need not be decoded. */
static bool is_finite(const uint8_t *at, size_t size, bool big_endian)
{
    uint8_t high = at[big_endian ? 0 : size - 1];
    uint8_t next = at[big_endian ? 1 : size - 2];
    uint8_t rest = size == sizeof(float) ? 0x80 : 0xf0;

    assert(size == sizeof(float) || size == sizeof(double));
    return (high & 0x7f) != 0x7f || (next & rest) != rest;
}

/* In pieces: a vocabulary has a hundred thousand scores, and a bounds check for
 * each of them would take longer than the test. */
static void check_numbers(struct mf_reader *reader, enum mf_value_type of,
                          uint64_t count, struct elements *all)
{
    const size_t size = mf_gguf_number_size(of);
    const size_t max = MF_WINDOW_LEAST / sizeof(double);

    while (count > 0) {
        size_t piece = count < max ? (size_t)count : max;
        uint64_t offset = mf_reader_offset(reader);
        const uint8_t *at = mf_take(reader, piece * size);

        if (!at)
            return;
        for (size_t i = 0; i < piece; i++, all->passed++)
            if (!is_finite(at + i * size, size, reader->big_endian))
                count_bad(all, offset + i * size, of);
        count -= piece;
    }
}

/* Reads the type and count of an array; false if parsing would have refused
 * them, so the file has changed. */
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
    else /* no overflow: parsing compared it with the bytes left */
        mf_skip(reader, level->left * mf_gguf_number_size(of));
}

/* Like skip_nested of meta.c; false if the file has changed since. */
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
            " texts of '%s' are not UTF-8 or contain a NUL; the first "
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

/* Arrays of integers have no invalid values, and bools were checked already. */
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
        /* Parsing has read all of it, so the file has changed since. */
        if (reader->failed)
            return mf_fail(reader->env, MF_ERR_IO, mf_reader_offset(reader),
                           "'%s' has changed since the file was opened",
                           mf_quote(meta->key).text);
    }
    return MF_OK;
}
