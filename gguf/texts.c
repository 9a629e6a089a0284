/* SPDX-License-Identifier: MIT
 *
 * texts.c - whether the strings that reading has passed over are UTF-8
 *
 * Short strings are kept and were looked at; long ones and those of arrays are
 * still in the file.
 */
#include "gguf/gguf.h"

/* Tokens of some vocabularies are single bytes of a character. */
#define VOCABULARY "tokenizer."

/* The next size bytes, which may be more than a window. */
static bool take_text(struct mf_reader *reader, uint64_t size)
{
    while (size > 0 && !reader->failed) {
        size_t piece =
            size < reader->capacity ? (size_t)size : reader->capacity;
        const char *text = (const char *)mf_take(reader, piece);
        size_t whole;

        if (!text)
            break;
        /* The last bytes of a piece wait for the rest of their character. */
        whole = piece < size ? mf_utf8_whole(text, piece) : piece;
        reader->at -= piece - whole;
        size -= whole;
        if (!mf_text_is_utf8(text, whole) || memchr(text, 0, whole)) {
            mf_skip(reader, size);
            return false;
        }
    }
    return true;
}

static void check_string(struct mf_reader *reader, struct mf_index *index,
                         const struct mf_meta *meta)
{
    if (!take_text(reader, meta->span.size))
        mf_index_note(index, MF_WARNING, MF_RULE_GGUF_TEXT_UTF8,
                      meta->span.offset,
                      "the text of '%s' is not UTF-8, or holds a NUL",
                      mf_quote(meta->key).text);
}

static void check_strings(struct mf_reader *reader, struct mf_index *index,
                          const struct mf_meta *meta)
{
    bool token = strncmp(meta->key.at, VOCABULARY, strlen(VOCABULARY)) == 0;
    uint64_t bad = 0, first = 0, offset = 0;

    mf_skip(reader, 4 + gguf_count_size(index->kind.version));
    for (uint64_t i = 0; i < meta->count && !reader->failed; i++) {
        uint64_t size = gguf_take_count(reader, index->kind.version);
        uint64_t start = mf_reader_offset(reader);

        if (!take_text(reader, size) && bad++ == 0) {
            first = i;
            offset = start;
        }
    }
    if (bad > 0)
        mf_index_note(index, token ? MF_NOTE : MF_WARNING,
                      MF_RULE_GGUF_TEXT_UTF8, offset,
                      "%" PRIu64 " of the %" PRIu64
                      " texts of '%s' are not UTF-8, or hold a NUL; the first "
                      "is element %" PRIu64,
                      bad, meta->count, mf_quote(meta->key).text, first);
}

enum mf_status gguf_check_texts(struct mf_reader *reader,
                                struct mf_index *index)
{
    for (size_t i = 0; i < index->meta_count; i++) {
        const struct mf_meta *meta = &index->meta[i];
        bool one = meta->type == MF_VALUE_STRING && !meta->text.at;

        if (!one &&
            (meta->type != MF_VALUE_ARRAY || meta->of != MF_VALUE_STRING))
            continue;
        mf_reader_limit(reader, UINT64_MAX);
        mf_reader_seek(reader, meta->span.offset);
        mf_reader_limit(reader, meta->span.offset + meta->span.size);
        if (one)
            check_string(reader, index, meta);
        else
            check_strings(reader, index, meta);
        /* Opening has walked through it, so it was changed since. */
        if (reader->failed)
            return mf_fail(reader->env, MF_ERR_IO, mf_reader_offset(reader),
                           "the texts of '%s' are not what they were when the "
                           "file was opened",
                           mf_quote(meta->key).text);
    }
    return MF_OK;
}
