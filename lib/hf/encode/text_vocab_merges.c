/* SPDX-License-Identifier: MIT
 *
 * text_vocab_merges.c - the merges of a BPE that are parts of a text
 */
#include "lib/base/str.h"
#include "lib/hf/encode/text_vocab.h"

static enum mf_status failed(const struct mf_text_vocab *vocab)
{
    return vocab->env->error.status;
}

/* ---- tokenizer.json ---- */

static enum mf_status bad_merge(struct mf_text_vocab *vocab,
                                struct mf_json *json, const char *what)
{
    return mf_fail(vocab->env, MF_ERR_CORRUPT, json->token_offset, "a merge %s",
                   what);
}

static enum mf_status take_half(struct mf_text_vocab *vocab,
                                struct mf_json *json, char *at,
                                struct mf_str *out, bool *more)
{
    uint64_t size;

    if (mf_json_text(json, at, MF_TEXT_MAX, &size, more) != MF_OK)
        return failed(vocab);
    *out = (struct mf_str){ at, (size_t)size };
    return MF_OK;
}

/* "a b" or ["a", "b"]; *more: too long to be part of a text. */
static enum mf_status take_merge(struct mf_text_vocab *vocab,
                                 struct mf_json *json, enum mf_json_token token,
                                 struct mf_str half[2], bool *more)
{
    const char *space;
    bool second;

    if (token == MF_JSON_STRING) {
        if (take_half(vocab, json, vocab->text, &half[0], more) != MF_OK ||
            *more)
            return failed(vocab);
        space = memchr(vocab->text, ' ', half[0].size);
        half[1].at = space ? space + 1 : vocab->text;
        half[1].size = half[0].size - (size_t)(half[1].at - vocab->text);
        if (!space || memchr(half[1].at, ' ', half[1].size))
            return mf_str_begins(half[0], "#version")
                       ? MF_OK
                       : bad_merge(vocab, json, "is not two tokens");
        half[0].size = (size_t)(space - vocab->text);
        return MF_OK;
    }
    if (token != MF_JSON_BEGIN_ARRAY || mf_json_next(json) != MF_JSON_STRING)
        return failed(vocab) ? failed(vocab)
                             : bad_merge(vocab, json, "is not two tokens");
    if (take_half(vocab, json, vocab->text, &half[0], more) != MF_OK)
        return failed(vocab);
    if (mf_json_next(json) != MF_JSON_STRING)
        return failed(vocab) ? failed(vocab)
                             : bad_merge(vocab, json, "is not two tokens");
    if (take_half(vocab, json, vocab->text + MF_TEXT_MAX, &half[1], &second) !=
        MF_OK)
        return failed(vocab);
    *more = *more || second;
    if (mf_json_next(json) != MF_JSON_END_ARRAY)
        return failed(vocab) ? failed(vocab)
                             : bad_merge(vocab, json, "is not two tokens");
    return MF_OK;
}

static enum mf_status read_merges(struct mf_text_vocab *vocab,
                                  struct mf_json *json)
{
    enum mf_json_token token = mf_json_next(json);
    uint64_t rank = 0;

    while ((token = mf_json_next(json)) != MF_JSON_END_ARRAY) {
        struct mf_str half[2] = { { NULL, 0 }, { NULL, 0 } };
        bool more = false;

        if (token == MF_JSON_ERROR ||
            take_merge(vocab, json, token, half, &more) != MF_OK)
            return failed(vocab);
        /* A line of a merges.txt that is not a merge has no rank. */
        if (token == MF_JSON_STRING && mf_str_begins(half[0], "#version"))
            continue;
        if (!more && mf_text_vocab_note_merge(vocab, half, rank,
                                              json->token_offset) != MF_OK)
            return failed(vocab);
        rank++;
    }
    return MF_OK;
}

/* ---- merges.txt ---- */

/* As the class reads it: a first line that is a comment, or any; a last one
 * without an end counts or does not. */
static bool is_left_out(const struct mf_slow *slow,
                        const struct mf_lines *lines, struct mf_str line,
                        uint64_t number)
{
    if (!slow->strips)
        return number == 0 || !lines->ended;
    if (number == 0 && mf_str_begins(line, "#version:"))
        return true;
    return mf_line_word(&line).size == 0;
}

static enum mf_status read_lines(struct mf_text_vocab *vocab,
                                 struct mf_reader *reader)
{
    const struct mf_slow *slow = vocab->tokenizer->fast->slow;
    struct mf_lines lines = { .reader = reader };
    struct mf_str line;

    for (uint64_t number = 0; mf_lines_next(&lines, &line); number++) {
        struct mf_str half[2];
        uint64_t offset = mf_reader_offset(reader);

        if (is_left_out(slow, &lines, line, number))
            continue;
        half[0] = mf_line_word(&line);
        half[1] = mf_line_word(&line);
        if (half[1].size == 0 || mf_line_word(&line).size > 0)
            return mf_fail(vocab->env, MF_ERR_CORRUPT, offset,
                           "line %" PRIu64 " is not two tokens", number + 1);
        if (mf_text_vocab_note_merge(vocab, half, number, offset) != MF_OK)
            return failed(vocab);
    }
    return failed(vocab);
}

/* ---- both ---- */

enum mf_status mf_text_vocab_read_merges(struct mf_text_vocab *vocab)
{
    const struct mf_encoder *tokenizer = vocab->tokenizer;
    const struct mf_fast *fast = tokenizer->fast;
    struct mf_sidecar file;
    enum mf_status status =
        fast->slow
            ? mf_sidecar_open(&file, fast->model, fast->arena, "merges.txt")
            : mf_fast_file(fast, vocab->env, &file,
                           tokenizer->part.merges_offset);

    if (status == MF_OK)
        status = fast->slow ? read_lines(vocab, &file.reader)
                            : read_merges(vocab, &file.json);
    return mf_sidecar_close(&file, status);
}
