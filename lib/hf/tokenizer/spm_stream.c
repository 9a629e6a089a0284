/* SPDX-License-Identifier: MIT
 *
 * spm_stream.c - a vocabulary of SentencePiece, streamed from its files
 *
 * Headers are written twice, once to count their bytes, and a vocabulary has
 * three arrays: each time the file goes by from its first piece to the last,
 * and added tokens, which are sorted by their ids, take the places of pieces.
 * What was checked is not checked again; a file that changed in between is an
 * error, not a different header.
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"

#define PART ((size_t)1024) /* of a text that is sent at once */

/* Texts that no file has, by their numbers in struct mf_spm_added. */
static const char *const fixed[] = { "<s>", "<pad>", "</s>", "<unk>",
                                     "<mask>" };

struct streaming {
    struct mf_env *env;
    const struct mf_spm_vocab *vocab;
    struct mf_sidecar file;
    struct mf_proto pieces;
    /* Files with the texts of added tokens, opened when one is needed. */
    struct mf_sidecar added[MF_SPM_ADDED_FILES];
    mf_each_event *each;
    void *user;
    /* The token: */
    uint64_t id;
    const struct mf_spm_added *replaced; /* by an added token; or NULL */
    bool in_file;                        /* else it is a [PADn] */
    struct mf_spm_piece piece;
    size_t next; /* added token */
    char part[PART];
};

static enum mf_status failed(const struct streaming *streaming)
{
    return streaming->env->error.status;
}

static enum mf_status changed(const struct streaming *streaming)
{
    return failed(streaming) ? failed(streaming)
                             : mf_fail(streaming->env, MF_ERR_IO, MF_NO_OFFSET,
                                       "changed while it was read");
}

/* ---- files ---- */

static enum mf_status open_pieces(struct streaming *streaming)
{
    const struct mf_spm_vocab *vocab = streaming->vocab;

    if (mf_sidecar_open(&streaming->file, vocab->request.model,
                        vocab->request.arena, vocab->name) != MF_OK)
        return failed(streaming);
    if (streaming->file.source.size != vocab->file_size)
        return changed(streaming);
    mf_spm_begin(&streaming->pieces, &streaming->file.reader);
    return MF_OK;
}

/* The texts may be in any order: the smallest window reads the fewest
 * bytes. */
static struct mf_sidecar *open_added(struct streaming *streaming, unsigned file)
{
    const struct mf_tokenizer_request *request = &streaming->vocab->request;
    struct mf_sidecar *added = &streaming->added[file];
    struct mf_span all = { 0, 0 };

    if (added->env)
        return added;
    if (mf_sidecar_open(added, request->model, request->arena,
                        mf_spm_added_names[file]) != MF_OK)
        return NULL;
    mf_reader_release(&added->reader);
    all.size = added->source.size;
    return mf_reader_init_span(&added->reader, streaming->env, &added->source,
                               all, MF_WINDOW_LEAST) == MF_OK
               ? added
               : NULL;
}

static enum mf_status close_files(struct streaming *streaming,
                                  enum mf_status status)
{
    for (unsigned i = 0; i < MF_SPM_ADDED_FILES; i++)
        if (streaming->added[i].env)
            status = mf_sidecar_close(&streaming->added[i], status);
    return mf_sidecar_close(&streaming->file, status);
}

/* ---- tokens one after the other ---- */

/* Of shifted ids the fourth is not a piece, and those after it are one behind.
 */
static bool has_piece(const struct mf_spm_vocab *vocab, uint64_t id)
{
    if (vocab->shifted)
        return id != 3 && id - (id > 3) < vocab->pieces;
    return id < vocab->pieces;
}

static enum mf_status take_token(struct streaming *streaming)
{
    const struct mf_spm_list *list = &streaming->vocab->list;
    size_t i = streaming->next;

    streaming->in_file = has_piece(streaming->vocab, streaming->id);
    if (streaming->in_file &&
        !mf_spm_next(&streaming->pieces, &streaming->piece))
        return changed(streaming);
    streaming->replaced = i < list->count && list->at[i].id == streaming->id
                              ? &list->at[i]
                              : NULL;
    streaming->next += streaming->replaced != NULL;
    return MF_OK;
}

/* Calls `send` for every token. */
static enum mf_status
stream(struct mf_env *env, const struct mf_entry *entry, mf_each_event *each,
       void *user, enum mf_status (*send)(struct streaming *streaming))
{
    struct streaming streaming = {
        .env = env, .vocab = entry->elements, .each = each, .user = user
    };
    enum mf_status status = open_pieces(&streaming);

    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (; streaming.id < entry->count && status == MF_OK; streaming.id++) {
        status = take_token(&streaming);
        if (status == MF_OK)
            status = send(&streaming);
    }
    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_END, entry);
    return close_files(&streaming, status);
}

/* ---- texts ---- */

static enum mf_status send_text(struct streaming *streaming, struct mf_str text,
                                bool more)
{
    return mf_send_text(streaming->each, streaming->user, text, more);
}

static enum mf_status send_word(struct streaming *streaming, const char *word)
{
    return send_text(streaming, (struct mf_str){ word, strlen(word) }, false);
}

/* The text of a piece, in parts that cut no character. */
static enum mf_status send_piece(struct streaming *streaming)
{
    struct mf_reader *reader = &streaming->file.reader;
    uint64_t left = streaming->piece.text.size;
    enum mf_status status = MF_OK;

    mf_reader_seek(reader, streaming->piece.text.offset);
    while (left > 0 && status == MF_OK) {
        size_t size = left < PART ? (size_t)left : PART;
        const char *text = (const char *)mf_take(reader, size);
        size_t whole;

        if (!text)
            return changed(streaming);
        whole = size < left ? mf_utf8_whole(text, size) : size;
        left -= whole;
        reader->at -= size - whole;
        if (streaming->vocab->internlm && size == 1 && !*text)
            return send_word(streaming, "\U0001F409");
        status = send_text(streaming, (struct mf_str){ text, whole }, left > 0);
    }
    return status;
}

/* The text of an added token, where its file has it. */
static enum mf_status send_added(struct streaming *streaming,
                                 const struct mf_spm_added *added)
{
    struct mf_sidecar *file;
    enum mf_status status;
    enum mf_json_token token;
    struct mf_str part = { streaming->part, 0 };
    uint64_t size;
    bool more;

    if (added->file == MF_SPM_ADDED_FIXED)
        return send_word(streaming, fixed[added->offset]);
    file = open_added(streaming, added->file);
    if (!file)
        return failed(streaming);
    mf_reader_seek(&file->reader, added->offset);
    mf_json_init(&file->json, &file->reader);
    token = mf_json_next(&file->json);
    if (token != MF_JSON_STRING)
        return changed(streaming);
    do {
        if (mf_json_text(&file->json, streaming->part, PART, &size, &more) !=
            MF_OK)
            return failed(streaming);
        part.size = (size_t)size;
        if (added->spaces)
            part.size = mf_token_spaces(part, streaming->part);
        status = send_text(streaming, part, more);
    } while (more && status == MF_OK);
    return status;
}

static enum mf_status send_token(struct streaming *streaming)
{
    const struct mf_spm_vocab *vocab = streaming->vocab;
    bool behind = vocab->shifted && streaming->id > 3;
    char text[32];

    if (streaming->replaced)
        return send_added(streaming, streaming->replaced);
    if (streaming->in_file)
        return send_piece(streaming);
    snprintf(text, sizeof(text), "[PAD%" PRIu64 "]", streaming->id - behind);
    return send_word(streaming, text);
}

enum mf_status mf_spm_stream_tokens(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    return stream(env, entry, each, user, send_token);
}

/* ---- scores and types ---- */

static enum mf_status send_score(struct streaming *streaming)
{
    const struct mf_spm_added *replaced = streaming->replaced;
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_F32 };

    value.number.f64 = replaced
                           ? replaced->file == MF_SPM_ADDED_FIXED ? 0 : -1000
                       : streaming->in_file ? (double)streaming->piece.score
                                            : -10000;
    return streaming->each(streaming->user, &value);
}

enum mf_status mf_spm_stream_scores(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    return stream(env, entry, each, user, send_score);
}

/* Whether the converter of InternLM 2 takes the piece for an unused one. */
static bool is_called_unused(struct streaming *streaming)
{
    static const char name[] = "[UNUSED";
    const size_t size = sizeof(name) - 1;
    struct mf_reader *reader = &streaming->file.reader;
    const uint8_t *text;

    if (!streaming->vocab->internlm || streaming->piece.text.size < size)
        return false;
    mf_reader_seek(reader, streaming->piece.text.offset);
    text = mf_take(reader, size);
    return text && memcmp(text, name, size) == 0;
}

/* User defined pieces are normal ones to the converter. */
static enum mf_status send_type(struct streaming *streaming)
{
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_I32 };
    enum mf_spm_piece_type type = streaming->piece.type;

    if (streaming->replaced)
        value.number.i64 = streaming->replaced->type;
    else if (!streaming->in_file || is_called_unused(streaming))
        value.number.i64 = MF_TOKEN_UNUSED;
    else
        value.number.i64 =
            type == MF_SPM_PIECE_USER_DEFINED ? MF_TOKEN_NORMAL : (int64_t)type;
    return failed(streaming) ? failed(streaming)
                             : streaming->each(streaming->user, &value);
}

enum mf_status mf_spm_stream_types(struct mf_env *env,
                                   const struct mf_entry *entry,
                                   mf_each_event *each, void *user)
{
    return stream(env, entry, each, user, send_type);
}

/* ---- the charsmap ---- */

enum mf_status mf_spm_stream_charsmap(struct mf_env *env,
                                      const struct mf_entry *entry,
                                      mf_each_event *each, void *user)
{
    struct streaming streaming = {
        .env = env, .vocab = entry->elements, .each = each, .user = user
    };
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_U8 };
    enum mf_status status = open_pieces(&streaming);

    if (status == MF_OK) {
        mf_reader_seek(&streaming.file.reader,
                       streaming.vocab->spm.charsmap.offset);
        status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    }
    for (uint64_t i = 0; i < entry->count && status == MF_OK; i++) {
        value.number.u64 = mf_take_u8(&streaming.file.reader);
        status = each(user, &value);
    }
    if (status == MF_OK && streaming.file.reader.failed)
        status = changed(&streaming);
    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_END, entry);
    return close_files(&streaming, status);
}
