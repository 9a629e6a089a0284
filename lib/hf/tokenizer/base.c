/* SPDX-License-Identifier: MIT
 *
 * base.c - vocabularies of byte-level BPE and of WordPiece
 *
 * One token for each id below vocab_size: of the vocabulary, added, or
 * "[PADn]" where no token has the id.  An added token that is not normalized
 * before it is looked for is written as it is decoded, because llama.cpp
 * compares it with text.
 */

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/fast.h"
#include "lib/hf/tokenizer/parts.h"

struct base {
    struct mf_fast *fast;
    uint64_t count;      /* of tokens */
    struct mf_str *text; /* of the added tokens, by their ids */
    uint8_t *type;       /* likewise */
    bool phantom; /* words begin with U+2581, and their parts with nothing */
};

struct pass { /* over the tokens */
    struct mf_env *env;
    const struct base *base;
    struct mf_sidecar file;
    mf_each_event *each;
    void *user;
    char piece[4096];
};

static enum mf_status failed(const struct pass *pass)
{
    return pass->env->error.status;
}

static const char mark[] = "\u2581"; /* before a word, where spaces are not */

/* ---- added tokens ---- */

/* As decode(encode(text)) gives it. */
static enum mf_status decoded(struct base *base, const struct mf_added *added,
                              struct mf_str *out)
{
    const struct mf_fast *fast = base->fast;
    const struct mf_node *clean =
        mf_node_at(fast->config, "clean_up_tokenization_spaces");

    *out = added->text;
    if (added->now & MF_ADDED_NORMALIZED)
        return MF_OK;
    if (mf_token_decode(fast->arena, mf_node_at(fast->json, "decoder"),
                        added->text, out) != MF_OK)
        return fast->env->error.status;
    return clean && clean->kind == MF_NODE_TRUE
               ? mf_token_clean(fast->arena, *out, out)
               : MF_OK;
}

/* How the token is written, and its type. */
static enum mf_status set_one(struct base *base, const struct mf_added *added,
                              bool plain, size_t at)
{
    struct mf_str *text = &base->text[at];
    bool special = added->now & MF_ADDED_SPECIAL;
    char *spaced;

    if (plain)
        *text = added->text;
    else if (decoded(base, added, text) != MF_OK)
        return base->fast->env->error.status;
    special = special || (!plain && mf_token_looks_special(*text));
    base->type[at] = special ? MF_TOKEN_CONTROL : MF_TOKEN_USER_DEFINED;
    if (special || plain)
        return MF_OK;
    spaced = mf_arena_text(base->fast->arena, text->size);
    if (!spaced)
        return base->fast->env->error.status;
    *text = (struct mf_str){ spaced, mf_token_spaces(*text, spaced) };
    return MF_OK;
}

static enum mf_status set_added(struct base *base, bool plain)
{
    const struct mf_added_list *list = &base->fast->added;
    struct mf_arena *arena = base->fast->arena;
    size_t room = list->by_id_count + 1;
    enum mf_status status = MF_OK;

    base->text = mf_arena_take(arena, room * sizeof(*base->text));
    base->type = mf_arena_take(arena, room);
    if (!base->text || !base->type)
        return arena->env->error.status;
    for (size_t i = 0; i < list->by_id_count && status == MF_OK; i++)
        status = set_one(base, list->by_id[i], plain, i);
    return status;
}

/* The place in base->text of the id, from *at on; false: no added token. */
static bool added_of(const struct base *base, size_t *at, uint64_t id)
{
    const struct mf_added_list *list = &base->fast->added;

    while (*at < list->by_id_count && list->by_id[*at]->id < id)
        ++*at;
    return *at < list->by_id_count && list->by_id[*at]->id == id;
}

static bool in_vocabulary(const struct base *base, uint64_t id)
{
    return mf_fast_place(base->fast, id) != 0;
}

/* ---- tokens ---- */

static enum mf_status send(struct pass *pass, struct mf_str text, bool more)
{
    return mf_send_text(pass->each, pass->user, text, more);
}

/* The first piece of a token: "##" goes, and what has none gets a mark. */
static enum mf_status send_first(struct pass *pass, struct mf_str text,
                                 bool phantom, bool more)
{
    if (phantom && mf_str_begins(text, "##"))
        return send(pass, (struct mf_str){ text.at + 2, text.size - 2 }, more);
    if (phantom &&
        send(pass, (struct mf_str){ mark, strlen(mark) }, true) != MF_OK)
        return failed(pass);
    return send(pass, text, more);
}

static enum mf_status send_from_file(struct pass *pass, uint64_t id)
{
    bool first = true, more = true;

    if (mf_fast_seek(pass->base->fast, pass->env, &pass->file, id) != MF_OK)
        return failed(pass);
    while (more) {
        uint64_t size;
        struct mf_str text = { pass->piece, 0 };

        if (mf_json_text(&pass->file.json, pass->piece, sizeof(pass->piece),
                         &size, &more) != MF_OK)
            return failed(pass);
        text.size = (size_t)size;
        if (send_first(pass, text, first && pass->base->phantom, more) != MF_OK)
            return failed(pass);
        first = false;
    }
    return MF_OK;
}

static enum mf_status send_token(struct pass *pass, uint64_t id, size_t *at)
{
    const struct base *base = pass->base;
    char text[32];

    if (added_of(base, at, id))
        return send_first(pass, base->text[*at],
                          base->phantom && base->type[*at] != MF_TOKEN_CONTROL,
                          false);
    if (in_vocabulary(base, id))
        return send_from_file(pass, id);
    snprintf(text, sizeof(text), "[PAD%" PRIu64 "]", id);
    return send_first(pass, (struct mf_str){ text, strlen(text) },
                      base->phantom, false);
}

static enum mf_status stream_tokens(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    struct pass pass = {
        .env = env, .base = entry->elements, .each = each, .user = user
    };
    enum mf_status status = mf_fast_texts(pass.base->fast, env, &pass.file);
    size_t at = 0;

    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++)
        status = send_token(&pass, id, &at);
    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_END, entry);
    return mf_sidecar_close(&pass.file, status);
}

static enum mf_status stream_types(struct mf_env *env,
                                   const struct mf_entry *entry,
                                   mf_each_event *each, void *user)
{
    const struct base *base = entry->elements;
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    size_t at = 0;

    (void)env;
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++) {
        struct mf_value value = { .event = MF_EVENT_ITEM,
                                  .type = MF_VALUE_I32 };

        value.number.i64 = added_of(base, &at, id)   ? base->type[at]
                           : in_vocabulary(base, id) ? MF_TOKEN_NORMAL
                                                     : MF_TOKEN_UNUSED;
        status = each(user, &value);
    }
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- procedures ---- */

static enum mf_status check_size(const struct mf_tokenizer_request *request)
{
    return request->vocab_size <= MF_VOCAB_MAX
               ? MF_OK
               : mf_fail(request->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                         "'config.json': 'vocab_size' %" PRIu64
                         ": at most %" PRIu64 " tokens are written",
                         request->vocab_size, MF_VOCAB_MAX);
}

/* The name, and the places of the tokens: either needs the vocabulary, and one
 * pass over it does for both. */
static enum mf_status read_vocabulary(struct base *base, const char **pre)
{
    return *pre ? mf_fast_read(base->fast, NULL, NULL)
                : mf_encoder_pre(base->fast, pre);
}

static enum mf_status count_tokens(struct base *base,
                                   const struct mf_tokenizer_request *request)
{
    const struct mf_fast *fast = base->fast;

    base->count =
        request->vocab_size > 0 ? request->vocab_size : fast->token_count;
    return fast->id_end <= base->count
               ? MF_OK
               : mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'tokenizer.json' has a token of id %" PRIu64
                         ", but 'vocab_size' of 'config.json' is %" PRIu64,
                         fast->id_end - 1, base->count);
}

static enum mf_status put_tokens(struct mf_draft *draft,
                                 const struct base *base, const char *model,
                                 const char *pre)
{
    if (mf_set_text(draft, "tokenizer.ggml.model",
                    (struct mf_str){ model, strlen(model) }) != MF_OK ||
        mf_set_text(draft, "tokenizer.ggml.pre",
                    (struct mf_str){ pre, strlen(pre) }) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING,
                      base->count, stream_tokens, base) != MF_OK)
        return draft->env->error.status;
    return mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                         base->count, stream_types, base);
}

enum mf_status mf_base_put(struct mf_draft *draft,
                           const struct mf_tokenizer_request *request,
                           const struct mf_special_options *options,
                           const char *model, const char *pre)
{
    struct base *base = mf_arena_take(request->arena, sizeof(*base));
    bool word_piece = strcmp(model, "bert") == 0;
    struct mf_special_options all = *options;

    if (!base)
        return request->env->error.status;
    if (check_size(request) != MF_OK)
        return request->env->error.status;
    *base =
        (struct base){ .fast = mf_base_fast(request), .phantom = word_piece };
    if (!base->fast || read_vocabulary(base, &pre) != MF_OK ||
        count_tokens(base, request) != MF_OK ||
        set_added(base, options->plain_added) != MF_OK)
        return request->env->error.status;
    if (strcmp(model, "whitespace") == 0)
        pre = model;
    if (put_tokens(draft, base, model, pre) != MF_OK)
        return request->env->error.status;
    all.merges = options->merges && !word_piece;
    if (word_piece)
        all.vocab_size = base->count;
    return mf_special_put(draft, request, &all);
}

static enum mf_status put(struct mf_draft *draft,
                          const struct mf_tokenizer_request *request,
                          const struct mf_special_options *options,
                          bool *missing, const char *model)
{
    *missing = !mf_fast_exists(request->model, request->arena);
    return *missing ? request->env->error.status
                    : mf_base_put(draft, request, options, model, NULL);
}

enum mf_status mf_base_put_gpt2(struct mf_draft *draft,
                                const struct mf_tokenizer_request *request,
                                const struct mf_special_options *options,
                                bool *missing)
{
    return put(draft, request, options, missing, "gpt2");
}

enum mf_status mf_base_put_bert(struct mf_draft *draft,
                                const struct mf_tokenizer_request *request,
                                const struct mf_special_options *options,
                                bool *missing)
{
    return put(draft, request, options, missing, "bert");
}

enum mf_status
mf_base_put_whitespace(struct mf_draft *draft,
                       const struct mf_tokenizer_request *request,
                       const struct mf_special_options *options, bool *missing)
{
    return put(draft, request, options, missing, "whitespace");
}

struct mf_fast *mf_base_fast(const struct mf_tokenizer_request *request)
{
    struct mf_fast *fast = request->fast ? *request->fast : NULL;

    if (fast)
        return fast;
    fast = mf_arena_take(request->arena, sizeof(*fast));
    if (!fast || mf_fast_open(fast, request->model, request->arena,
                              request->file) != MF_OK)
        return NULL;
    if (request->fast)
        *request->fast = fast;
    return fast;
}

enum mf_status mf_base_added_id(const struct mf_tokenizer_request *request,
                                struct mf_str text, uint64_t *id)
{
    struct mf_fast *fast = mf_base_fast(request);
    const struct mf_added *added;

    if (!fast || mf_fast_read(fast, NULL, NULL) != MF_OK)
        return request->env->error.status;
    added = mf_added_find(&fast->added, text);
    if (!added || added->id == MF_NO_ID)
        return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json' has no added token '%s'",
                       mf_quote(text).text);
    *id = added->id;
    return MF_OK;
}
