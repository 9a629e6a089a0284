/* SPDX-License-Identifier: MIT
 *
 * former_tokens.c - the vocabulary and the merges, streamed from their file
 *
 * A header is written twice (once to count its bytes), and its arrays must be
 * the same both times: so the file is checked once, before anything is written,
 * and each later pass compares the size and relies on what was checked.  A file
 * that changes in between is an error, not a different header.
 *
 * GGUF's token array has one entry per row of the embedding.  Ids come from
 * three places: added tokens where they have an id (also inside the
 * vocabulary's range, where both must have the same text), the vocabulary,
 * whose entries must be in the order of their ids, and "[PADn]" for rows that
 * no token uses, as llama.cpp's converter names them.
 */
#include <stdio.h>

#include "lib/tokenizer/former.h"

/* As llama.cpp numbers types of tokens. */
enum { NORMAL = 1, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5 };

/* ---- a container in the file ---- */

struct part {
    struct mf_env *env;
    struct mf_sidecar file;
    struct mf_json *json;
    char piece[4096];
};

static enum mf_status failed(const struct part *part)
{
    return part->env->error.status;
}

static enum mf_status changed(const struct part *part)
{
    return mf_fail(part->env, MF_ERR_IO, MF_NO_OFFSET,
                   "changed while it was read");
}

/* Opens the file just after the bracket at that offset. */
static enum mf_status open_part(struct part *part,
                                const struct mf_tokenizer *tokenizer,
                                struct mf_env *env, uint64_t offset)
{
    part->env = env;
    part->json = &part->file.json;
    if (mf_sidecar_open(&part->file, tokenizer->model, tokenizer->arena,
                        "tokenizer.json") != MF_OK)
        return failed(part);
    if (part->file.source.size != tokenizer->file_size)
        return changed(part);
    mf_reader_seek(&part->file.reader, offset);
    mf_json_init(part->json, &part->file.reader);
    return mf_json_next(part->json) == MF_JSON_ERROR ? failed(part) : MF_OK;
}

/* ---- events ---- */

static enum mf_status send_bracket(mf_each_event *each, void *user,
                                   enum mf_event event,
                                   const struct mf_entry *entry)
{
    const struct mf_value value = { .event = event,
                                    .type = MF_VALUE_ARRAY,
                                    .of = entry->of,
                                    .count = entry->count };

    return each(user, &value);
}

static enum mf_status send_text(mf_each_event *each, void *user,
                                struct mf_str text, bool more)
{
    const struct mf_value value = { .event = MF_EVENT_ITEM,
                                    .type = MF_VALUE_STRING,
                                    .text = text,
                                    .more = more };

    return each(user, &value);
}

/* The string of the last token; and_more: its value continues after it. */
static enum mf_status send_string(struct part *part, mf_each_event *each,
                                  void *user, bool and_more)
{
    enum mf_status status;
    uint64_t size;
    bool more;

    do {
        if (mf_json_text(part->json, part->piece, sizeof(part->piece), &size,
                         &more) != MF_OK)
            return failed(part);
        status =
            send_text(each, user, (struct mf_str){ part->piece, (size_t)size },
                      more || and_more);
    } while (more && status == MF_OK);
    return status;
}

/* ---- tokens ---- */

/* The added token of that id, searched from *at on. */
static const struct mf_added_token *added_of(const struct mf_added_token **at,
                                             uint64_t id)
{
    while (*at && (*at)->id < id)
        *at = (*at)->next;
    return *at && (*at)->id == id ? *at : NULL;
}

static enum mf_status send_token(const struct mf_tokenizer *tokenizer,
                                 struct part *part,
                                 const struct mf_added_token *added,
                                 uint64_t id, mf_each_event *each, void *user)
{
    bool in_file = id < tokenizer->vocabulary_count;
    char text[32];

    if (in_file && mf_json_next(part->json) != MF_JSON_KEY)
        return failed(part) ? failed(part) : changed(part);
    if (added) {
        if (send_text(each, user, added->text, false) != MF_OK)
            return failed(part);
    } else if (in_file) {
        if (send_string(part, each, user, false) != MF_OK)
            return failed(part);
    } else {
        snprintf(text, sizeof(text), "[PAD%" PRIu64 "]", id);
        return send_text(each, user, (struct mf_str){ text, strlen(text) },
                         false);
    }
    if (in_file && mf_json_next(part->json) != MF_JSON_NUMBER)
        return failed(part) ? failed(part) : changed(part);
    return MF_OK;
}

enum mf_status mf_tokenizer_stream_tokens(struct mf_env *env,
                                          const struct mf_entry *entry,
                                          mf_each_event *each, void *user)
{
    const struct mf_tokenizer *tokenizer = entry->elements;
    const struct mf_added_token *added = tokenizer->added;
    struct part part;
    enum mf_status status =
        open_part(&part, tokenizer, env, tokenizer->vocabulary_offset);

    if (status == MF_OK)
        status = send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++)
        status =
            send_token(tokenizer, &part, added_of(&added, id), id, each, user);
    if (status == MF_OK)
        status = send_bracket(each, user, MF_EVENT_END, entry);
    return mf_sidecar_close(&part.file, status);
}

enum mf_status mf_tokenizer_stream_types(struct mf_env *env,
                                         const struct mf_entry *entry,
                                         mf_each_event *each, void *user)
{
    const struct mf_tokenizer *tokenizer = entry->elements;
    const struct mf_added_token *at = tokenizer->added;
    enum mf_status status = send_bracket(each, user, MF_EVENT_BEGIN, entry);

    (void)env;
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++) {
        const struct mf_added_token *added = added_of(&at, id);
        struct mf_value value = { .event = MF_EVENT_ITEM,
                                  .type = MF_VALUE_I32 };

        value.number.i64 = added && added->special            ? CONTROL
                           : added                            ? USER_DEFINED
                           : id < tokenizer->vocabulary_count ? NORMAL
                                                              : UNUSED;
        status = each(user, &value);
    }
    return status == MF_OK ? send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- merges ---- */

/* "a b", or since 2024 ["a", "b"], which GGUF has as "a b". */
static enum mf_status send_merge(struct part *part, enum mf_json_token token,
                                 mf_each_event *each, void *user)
{
    const struct mf_str space = { " ", 1 };

    if (token == MF_JSON_STRING)
        return send_string(part, each, user, false);
    if (token != MF_JSON_BEGIN_ARRAY ||
        mf_json_next(part->json) != MF_JSON_STRING)
        return failed(part) ? failed(part) : changed(part);
    if (send_string(part, each, user, true) != MF_OK ||
        send_text(each, user, space, true) != MF_OK)
        return failed(part);
    if (mf_json_next(part->json) != MF_JSON_STRING)
        return failed(part) ? failed(part) : changed(part);
    if (send_string(part, each, user, false) != MF_OK)
        return failed(part);
    return mf_json_next(part->json) == MF_JSON_END_ARRAY ? MF_OK
           : failed(part)                                ? failed(part)
                                                         : changed(part);
}

enum mf_status mf_tokenizer_stream_merges(struct mf_env *env,
                                          const struct mf_entry *entry,
                                          mf_each_event *each, void *user)
{
    const struct mf_tokenizer *tokenizer = entry->elements;
    struct part part;
    enum mf_status status =
        open_part(&part, tokenizer, env, tokenizer->merges_offset);

    if (status == MF_OK)
        status = send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (uint64_t i = 0; i < entry->count && status == MF_OK; i++)
        status = send_merge(&part, mf_json_next(part.json), each, user);
    if (status == MF_OK)
        status = send_bracket(each, user, MF_EVENT_END, entry);
    return mf_sidecar_close(&part.file, status);
}

/* ---- checking ---- */

static enum mf_status bad_token(const struct part *part, uint64_t id,
                                const char *what)
{
    return mf_fail(part->env, MF_ERR_UNSUPPORTED, part->json->token_offset,
                   "token %" PRIu64 " of the vocabulary %s", id, what);
}

/* The next token of the vocabulary: ids must count up from 0, and an added
 * token must have the same text in both places. */
static enum mf_status check_token(const struct mf_tokenizer *tokenizer,
                                  struct part *part,
                                  const struct mf_added_token *added)
{
    uint64_t size, id, count = tokenizer->vocabulary_count;
    enum mf_json_token token;
    bool more;

    if (mf_json_text(part->json, part->piece, sizeof(part->piece), &size,
                     &more) != MF_OK)
        return failed(part);
    if (added && (more || added->text.size != size ||
                  memcmp(added->text.at, part->piece, (size_t)size) != 0))
        return bad_token(part, count, "has a different text as an added token");
    token = mf_json_next(part->json);
    if (token == MF_JSON_ERROR)
        return failed(part);
    return token == MF_JSON_NUMBER && mf_json_plain_u64(part->json, &id) &&
                   id == count
               ? MF_OK
               : bad_token(part, count, "is out of order");
}

static enum mf_status check_vocabulary(struct mf_tokenizer *tokenizer,
                                       struct part *part)
{
    const struct mf_added_token *added = tokenizer->added;
    enum mf_json_token token = mf_json_next(part->json);

    for (; token == MF_JSON_KEY; token = mf_json_next(part->json)) {
        if (check_token(tokenizer, part,
                        added_of(&added, tokenizer->vocabulary_count)) != MF_OK)
            return failed(part);
        tokenizer->vocabulary_count++;
    }
    return token == MF_JSON_ERROR ? failed(part) : MF_OK;
}

/* One half of a merge; false where it contains a space, which separates the
 * halves in GGUF. */
static bool check_half(struct part *part)
{
    uint64_t size;
    bool more;

    do {
        if (mf_json_text(part->json, part->piece, sizeof(part->piece), &size,
                         &more) != MF_OK ||
            memchr(part->piece, ' ', (size_t)size))
            return false;
    } while (more);
    return true;
}

static bool check_pair(struct part *part)
{
    for (int half = 0; half < 2; half++)
        if (mf_json_next(part->json) != MF_JSON_STRING || !check_half(part))
            return false;
    return mf_json_next(part->json) == MF_JSON_END_ARRAY;
}

static enum mf_status check_merges(struct mf_tokenizer *tokenizer,
                                   struct part *part)
{
    enum mf_json_token token = mf_json_next(part->json);

    for (; token != MF_JSON_END_ARRAY; token = mf_json_next(part->json)) {
        if (token == MF_JSON_ERROR)
            return failed(part);
        if (token != MF_JSON_STRING &&
            (token != MF_JSON_BEGIN_ARRAY || !check_pair(part)))
            return failed(part)
                       ? failed(part)
                       : mf_fail(part->env, MF_ERR_UNSUPPORTED,
                                 part->json->token_offset,
                                 "merge %" PRIu64 " is not a pair of texts "
                                 "without spaces",
                                 tokenizer->merge_count);
        tokenizer->merge_count++;
    }
    return MF_OK;
}

enum mf_status mf_tokenizer_check(struct mf_tokenizer *tokenizer)
{
    struct part part;
    enum mf_status status = open_part(&part, tokenizer, tokenizer->env,
                                      tokenizer->vocabulary_offset);

    if (status == MF_OK)
        status = check_vocabulary(tokenizer, &part);
    if (mf_sidecar_close(&part.file, status) != MF_OK)
        return failed(&part);
    status =
        open_part(&part, tokenizer, tokenizer->env, tokenizer->merges_offset);
    if (status == MF_OK)
        status = check_merges(tokenizer, &part);
    return mf_sidecar_close(&part.file, status);
}
