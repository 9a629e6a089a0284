/* SPDX-License-Identifier: MIT
 *
 * mistral.c - chat templates and SentencePiece models of Mistral's own format
 */

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"

/* ---- chat templates ---- */

/* llama.cpp knows some by name.  The templates of v11 and v13 are files of
 * llama.cpp, which the converter copies. */
static enum mf_status no_template(const struct mf_tokenizer_request *request,
                                  struct mf_str version)
{
    static const char text[] =
        "the tokenizer is of version '%s', for which llama.cpp has no name of "
        "a chat template (v1, v3 and v7; the templates of v11 and v13 are "
        "files of llama.cpp)%s";

    return request->own_format
               ? mf_decline(request->env, MF_REASON_TEMPLATE_UNKNOWN,
                            MF_NO_OFFSET, text, mf_quote(version).text,
                            ", and the folder has no chat_template.jinja")
               : mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET, text,
                         mf_quote(version).text, "");
}

enum mf_status
mf_mistral_put_template(struct mf_draft *draft,
                        const struct mf_tokenizer_request *request,
                        struct mf_str version, bool pieces)
{
    static const char local[] = "chat_template.jinja";
    static const struct {
        const char *version, *name[2]; /* of tekken.json, and of pieces */
    } rows[] = {
        { "v1", { "mistral-v1", "mistral-v1" } },
        { "v3", { "mistral-v3-tekken", "mistral-v3" } },
        { "v7", { "mistral-v7-tekken", "mistral-v7" } },
    };

    if (request->own_format &&
        mf_sidecar_exists(request->model, request->arena, local))
        return mf_chat_put_file(draft, request->model, local);
    if (request->env->error.status != MF_OK)
        return request->env->error.status;
    if (request->own_format && request->no_community_template)
        return MF_OK;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (mf_str_is(version, rows[i].version))
            return mf_set_text(draft, "tokenizer.chat_template",
                               (struct mf_str){ rows[i].name[pieces],
                                                strlen(rows[i].name[pieces]) });
    return no_template(request, version);
}

/* ---- the file ---- */

/* The one whose name comes last counts. */
static const struct {
    const char *name, *version;
} files[] = {
    { "tokenizer.model.v7m1", "v7" }, { "tokenizer.model.v7", "v7" },
    { "tokenizer.model.v3m1", "v3" }, { "tokenizer.model.v3", "v3" },
    { "tokenizer.model.v2", "v2" },   { "tokenizer.model.v1", "v1" },
    { "tokenizer.model", "v1" },
};

/* Its row; as many as there are rows: no file is there. */
static size_t find_file(const struct mf_tokenizer_request *request)
{
    size_t i = 0;

    while (i < sizeof(files) / sizeof(*files) &&
           !mf_sidecar_exists(request->model, request->arena, files[i].name))
        i++;
    return i;
}

/* ---- special tokens ---- */

#define PIECE_NAME 64
#define NO_ID      UINT64_MAX

enum { BOS, EOS, PAD, NAMES };

struct special {
    struct mf_str name[NAMES]; /* of the pieces */
    char text[NAMES][PIECE_NAME];
    uint64_t id[NAMES], unknown;
};

/* From the trainer's settings, or as usual. */
static enum mf_status read_name(struct mf_reader *reader, struct mf_span span,
                                const char *usual, struct special *special,
                                unsigned which)
{
    const void *bytes;

    special->id[which] = NO_ID;
    special->name[which] = (struct mf_str){ usual, strlen(usual) };
    if (span.size == 0)
        return MF_OK;
    if (span.size > PIECE_NAME)
        return mf_fail(reader->env, MF_ERR_UNSUPPORTED, span.offset,
                       "the name of a special token has %" PRIu64
                       " bytes, more than %d",
                       span.size, PIECE_NAME);
    mf_reader_seek(reader, span.offset);
    bytes = mf_take(reader, (size_t)span.size);
    if (!bytes)
        return reader->env->error.status;
    memcpy(special->text[which], bytes, (size_t)span.size);
    special->name[which] =
        (struct mf_str){ special->text[which], (size_t)span.size };
    return MF_OK;
}

static bool has_text(struct mf_reader *reader, struct mf_span text,
                     struct mf_str name)
{
    const void *bytes = NULL;

    if (text.size == name.size) {
        mf_reader_seek(reader, text.offset);
        bytes = mf_take(reader, name.size);
    }
    return bytes && memcmp(bytes, name.at, name.size) == 0;
}

/* A piece is special only if its type says so, too. */
static enum mf_status find_ids(struct mf_reader *reader,
                               struct special *special)
{
    struct mf_proto file;
    struct mf_spm_piece piece;

    mf_spm_begin(&file, reader);
    for (uint64_t id = 0; mf_spm_next(&file, &piece); id++) {
        if (piece.type == MF_SPM_PIECE_UNKNOWN)
            special->unknown = id;
        for (unsigned i = 0; i < NAMES && piece.type == MF_SPM_PIECE_CONTROL;
             i++)
            if (has_text(reader, piece.text, special->name[i]))
                special->id[i] = id;
    }
    return reader->env->error.status;
}

static enum mf_status read_special(const struct mf_spm_vocab *vocab,
                                   struct special *special)
{
    struct mf_sidecar file;
    struct mf_reader *reader = &file.reader;
    enum mf_status status = mf_sidecar_open(&file, vocab->request.model,
                                            vocab->request.arena, vocab->name);

    if (status == MF_OK)
        status = read_name(reader, vocab->spm.bos, "<s>", special, BOS);
    if (status == MF_OK)
        status = read_name(reader, vocab->spm.eos, "</s>", special, EOS);
    if (status == MF_OK)
        status = read_name(reader, vocab->spm.pad, "<pad>", special, PAD);
    if (status == MF_OK)
        status = find_ids(reader, special);
    for (unsigned i = BOS; i <= EOS && status == MF_OK; i++)
        if (special->id[i] == NO_ID)
            status = mf_fail(file.env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "no control token '%s'",
                             mf_quote(special->name[i]).text);
    return mf_sidecar_close(&file, status);
}

/* ---- adding to the draft ---- */

static enum mf_status put_ids(struct mf_draft *draft,
                              const struct mf_spm_vocab *vocab)
{
    struct special special;

    if (read_special(vocab, &special) != MF_OK ||
        mf_set_u32(draft, "tokenizer.ggml.bos_token_id", special.id[BOS]) !=
            MF_OK ||
        mf_set_u32(draft, "tokenizer.ggml.eos_token_id", special.id[EOS]) !=
            MF_OK ||
        mf_set_u32(draft, "tokenizer.ggml.unknown_token_id", special.unknown) !=
            MF_OK)
        return draft->env->error.status;
    return mf_set_u32(draft, "tokenizer.ggml.padding_token_id",
                      special.id[special.id[PAD] == NO_ID ? EOS : PAD]);
}

static enum mf_status put_arrays(struct mf_draft *draft,
                                 const struct mf_spm_vocab *vocab)
{
    if (mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING,
                      vocab->count, mf_spm_stream_tokens, vocab) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.scores", MF_VALUE_F32,
                      vocab->count, mf_spm_stream_scores, vocab) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                      vocab->count, mf_spm_stream_types, vocab) != MF_OK ||
        mf_set_u32(draft, "*.vocab_size", vocab->count) != MF_OK ||
        mf_set_bool(draft, "tokenizer.ggml.add_bos_token", true) != MF_OK)
        return draft->env->error.status;
    return mf_set_bool(draft, "tokenizer.ggml.add_eos_token", false);
}

enum mf_status mf_mistral_put_pieces(struct mf_draft *draft,
                                     const struct mf_tokenizer_request *request,
                                     const struct mf_special_options *options,
                                     bool *missing)
{
    size_t row = find_file(request);
    struct mf_spm_vocab *vocab;
    struct mf_str version;

    (void)options;
    *missing = row == sizeof(files) / sizeof(*files);
    if (*missing || request->env->error.status != MF_OK)
        return request->env->error.status;
    version = (struct mf_str){ files[row].version, strlen(files[row].version) };
    vocab = mf_spm_vocab_new(request, files[row].name);
    if (!vocab || mf_spm_vocab_count(vocab, vocab->spm.count) != MF_OK ||
        mf_set_text(draft, "tokenizer.ggml.model",
                    (struct mf_str){ "llama", 5 }) != MF_OK ||
        put_ids(draft, vocab) != MF_OK || put_arrays(draft, vocab) != MF_OK)
        return request->env->error.status;
    return mf_mistral_put_template(draft, request, version, true);
}
