/* SPDX-License-Identifier: MIT
 *
 * llama_hf.c - tokenizer.json of a SentencePiece model, without tokenizer.model
 *
 * A BPE model with a token for each byte: the vocabulary is the file's, in the
 * order of ids, but its scores are lost.  llama.cpp's converter gives each the
 * same one and lets added tokens follow, without the holes between their ids.
 */
#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"

#define SCORE (-1000.0)

/* Whose converter it is. */
enum family { LLAMA, GEMMA4, XVERSE };

struct vocab {
    struct mf_fast *fast;
    enum family family;
    uint64_t base;  /* tokens of the vocabulary, which come first */
    size_t first;   /* added token after them */
    uint64_t count; /* of all */
};

/* A token's text is looked at up to here: names of bytes and the visible
 * tokens of Gemma 4 are shorter. */
#define LOOK 32

struct streaming {
    struct mf_env *env;
    const struct vocab *vocab;
    struct mf_sidecar file;
    mf_each_event *each;
    void *user;
    /* The token: */
    const struct mf_added *added; /* or NULL */
    bool in_file;                 /* its text is in the file */
    char part[1024];
};

static enum mf_status failed(const struct streaming *streaming)
{
    return streaming->env->error.status;
}

/* ---- tokens one after the other ---- */

/* The added token of XVERSE is at its id. */
static enum mf_status take_token(struct streaming *streaming, uint64_t i)
{
    const struct vocab *vocab = streaming->vocab;
    const struct mf_fast *fast = vocab->fast;

    streaming->in_file = mf_fast_place(fast, i) != 0 &&
                         (i < vocab->base || vocab->family == XVERSE);
    streaming->added =
        i < vocab->base || vocab->family == XVERSE
            ? mf_added_at(&fast->added, i)
            : fast->added.by_id[vocab->first + (size_t)(i - vocab->base)];
    if (!streaming->in_file)
        return MF_OK;
    return mf_fast_seek(fast, streaming->env, &streaming->file, i);
}

static enum mf_status stream(struct mf_env *env, const struct mf_entry *entry,
                             mf_each_event *each, void *user,
                             enum mf_status (*send)(struct streaming *streaming,
                                                    uint64_t id))
{
    struct streaming streaming = {
        .env = env, .vocab = entry->elements, .each = each, .user = user
    };
    enum mf_status status =
        mf_fast_texts(streaming.vocab->fast, env, &streaming.file);

    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (uint64_t i = 0; i < entry->count && status == MF_OK; i++) {
        status = take_token(&streaming, i);
        if (status == MF_OK)
            status = send(&streaming, i);
    }
    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_END, entry);
    return mf_sidecar_close(&streaming.file, status);
}

/* ---- texts ---- */

static enum mf_status send_text(struct streaming *streaming, struct mf_str text,
                                bool more)
{
    return mf_send_text(streaming->each, streaming->user, text, more);
}

static enum mf_status send_token(struct streaming *streaming, uint64_t id)
{
    static const char nul[] = "<b'\\x00'>";
    enum mf_status status = MF_OK;
    uint64_t size;
    bool more, first = true;

    (void)id;
    if (!streaming->in_file)
        return send_text(streaming, streaming->added->text, false);
    do {
        if (mf_json_text(&streaming->file.json, streaming->part,
                         sizeof(streaming->part), &size, &more) != MF_OK)
            return failed(streaming);
        if (first && !more && size == 1 && !*streaming->part &&
            streaming->vocab->family == XVERSE)
            return send_text(streaming, (struct mf_str){ nul, strlen(nul) },
                             false);
        first = false;
        status = send_text(
            streaming, (struct mf_str){ streaming->part, (size_t)size }, more);
    } while (more && status == MF_OK);
    return status;
}

static enum mf_status stream_tokens(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    return stream(env, entry, each, user, send_token);
}

/* ---- types and scores ---- */

static bool is_hex(char digit)
{
    return (digit >= '0' && digit <= '9') || (digit >= 'A' && digit <= 'F') ||
           (digit >= 'a' && digit <= 'f');
}

/* "<0x0A>". */
static bool is_byte(struct mf_str text)
{
    return text.size == 6 && mf_str_begins(text, "<0x") && is_hex(text.at[3]) &&
           is_hex(text.at[4]) && text.at[5] == '>';
}

/* What a chat parser must see of Gemma 4's output. */
static bool is_visible(struct mf_str text)
{
    static const char *const names[] = {
        "<|channel>",       "<channel|>",       "<|tool_call>", "<tool_call|>",
        "<|tool_response>", "<tool_response|>", "<|\"|>"
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_is(text, names[i]))
            return true;
    return false;
}

/* The text; a long one's beginning. */
static enum mf_status look(struct streaming *streaming, struct mf_str *text)
{
    uint64_t size;
    bool more;

    *text = (struct mf_str){ streaming->part, 0 };
    if (!streaming->in_file) {
        *text = streaming->added->text;
        return MF_OK;
    }
    if (mf_json_text(&streaming->file.json, streaming->part, LOOK, &size,
                     &more) != MF_OK)
        return failed(streaming);
    text->size = (size_t)size;
    return MF_OK;
}

static enum mf_token_type type_of(const struct streaming *streaming,
                                  uint64_t id, struct mf_str text)
{
    const struct vocab *vocab = streaming->vocab;
    const struct mf_added *added = streaming->added;

    if (vocab->family == GEMMA4 && is_visible(text))
        return MF_TOKEN_USER_DEFINED;
    if (vocab->family == XVERSE) {
        if (is_byte(text) || (text.size == 1 && !*text.at))
            return MF_TOKEN_BYTE;
        return !added                          ? MF_TOKEN_NORMAL
               : added->now & MF_ADDED_SPECIAL ? MF_TOKEN_CONTROL
                                               : MF_TOKEN_USER_DEFINED;
    }
    if (id >= vocab->base)
        return mf_fast_is_special(vocab->fast, added->id)
                   ? MF_TOKEN_CONTROL
                   : MF_TOKEN_USER_DEFINED;
    if (is_byte(text))
        return MF_TOKEN_BYTE;
    return mf_fast_is_special(vocab->fast, id) ? MF_TOKEN_CONTROL
                                               : MF_TOKEN_NORMAL;
}

static enum mf_status send_type(struct streaming *streaming, uint64_t id)
{
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_I32 };
    struct mf_str text;

    if (look(streaming, &text) != MF_OK)
        return failed(streaming);
    value.number.i64 = type_of(streaming, id, text);
    return streaming->each(streaming->user, &value);
}

static enum mf_status stream_types(struct mf_env *env,
                                   const struct mf_entry *entry,
                                   mf_each_event *each, void *user)
{
    return stream(env, entry, each, user, send_type);
}

static enum mf_status stream_scores(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    const struct mf_value value = { .event = MF_EVENT_ITEM,
                                    .type = MF_VALUE_F32,
                                    .number.f64 = SCORE };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);

    (void)env;
    for (uint64_t i = 0; i < entry->count && status == MF_OK; i++)
        status = each(user, &value);
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- which tokenizer it is ---- */

static bool is_true(const struct mf_node *node)
{
    return node && node->kind == MF_NODE_TRUE;
}

/* BPE with a token for each byte, decoded in several steps.  What is not is for
 * the next procedure. */
static enum mf_status check_kind(const struct mf_tokenizer_request *request,
                                 bool *missing)
{
    const struct mf_fast *fast;

    *missing =
        !mf_sidecar_exists(request->model, request->arena, "tokenizer.json");
    if (*missing)
        return request->env->error.status;
    fast = mf_base_fast(request);
    *missing = !fast ||
               !mf_str_is(mf_node_text(fast->json, "model.type"), "BPE") ||
               !is_true(mf_node_at(fast->json, "model.byte_fallback")) ||
               !mf_str_is(mf_node_text(fast->json, "decoder.type"), "Sequence");
    return request->env->error.status;
}

/* Every id below the end must have a token. */
static enum mf_status check_holes(const struct vocab *vocab, uint64_t end)
{
    const struct mf_fast *fast = vocab->fast;

    for (uint64_t i = 0; i < end; i++)
        if (mf_fast_place(fast, i) == 0 &&
            (vocab->family != XVERSE || !mf_added_at(&fast->added, i)))
            return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "'tokenizer.json' has %" PRIu64 " tokens, but none "
                           "has the id %" PRIu64,
                           end, i);
    return MF_OK;
}

static struct vocab *load(const struct mf_tokenizer_request *request,
                          enum family family)
{
    struct vocab *vocab = mf_arena_take(request->arena, sizeof(*vocab));
    const struct mf_added_list *list;

    if (!vocab)
        return NULL;
    vocab->fast = mf_base_fast(request);
    if (!vocab->fast || mf_fast_read(vocab->fast, NULL, NULL) != MF_OK)
        return NULL;
    list = &vocab->fast->added;
    vocab->family = family;
    vocab->base = vocab->fast->vocab_count;
    vocab->first = 0;
    while (vocab->first < list->by_id_count &&
           list->by_id[vocab->first]->id < vocab->base)
        vocab->first++;
    vocab->count = vocab->base + (list->by_id_count - vocab->first);
    return vocab;
}

static enum mf_status put_arrays(struct mf_draft *draft,
                                 const struct vocab *vocab)
{
    uint64_t count = vocab->count;

    if (mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING, count,
                      stream_tokens, vocab) != MF_OK ||
        (vocab->family != XVERSE &&
         mf_set_stream(draft, "tokenizer.ggml.scores", MF_VALUE_F32, count,
                       stream_scores, vocab) != MF_OK))
        return draft->env->error.status;
    return mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                         count, stream_types, vocab);
}

static enum mf_status put_words(struct mf_draft *draft, const char *key,
                                const char *words)
{
    return mf_set_text(draft, key, (struct mf_str){ words, strlen(words) });
}

/* Every id below the end has a token. */
static enum mf_status put_all(struct mf_draft *draft,
                              const struct mf_tokenizer_request *request,
                              const struct mf_special_options *options,
                              const struct vocab *vocab, uint64_t end)
{
    struct mf_special_options own = { 0 };
    bool gemma = vocab->family == GEMMA4;

    if (check_holes(vocab, end) != MF_OK ||
        put_words(draft, "tokenizer.ggml.model", gemma ? "gemma4" : "llama") !=
            MF_OK ||
        (!gemma &&
         put_words(draft, "tokenizer.ggml.pre", "default") != MF_OK) ||
        put_arrays(draft, vocab) != MF_OK)
        return request->env->error.status;
    if (options)
        own = *options;
    if (gemma)
        own.merges = true;
    else
        own.vocab_size = vocab->count;
    return mf_special_put(draft, request, &own);
}

/* ---- the procedures ---- */

static enum mf_status put(struct mf_draft *draft,
                          const struct mf_tokenizer_request *request,
                          const struct mf_special_options *options,
                          bool *missing, enum family family)
{
    const struct vocab *vocab;

    if (check_kind(request, missing) != MF_OK || *missing)
        return request->env->error.status;
    vocab = load(request, family);
    return vocab ? put_all(draft, request, options, vocab, vocab->base)
                 : request->env->error.status;
}

enum mf_status mf_llama_hf_put(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    return put(draft, request, options, missing, LLAMA);
}

enum mf_status
mf_llama_hf_put_gemma4(struct mf_draft *draft,
                       const struct mf_tokenizer_request *request,
                       const struct mf_special_options *options, bool *missing)
{
    if (put(draft, request, options, missing, GEMMA4) != MF_OK || *missing ||
        mf_set_bool(draft, "tokenizer.ggml.add_space_prefix", false) != MF_OK)
        return request->env->error.status;
    return mf_set_bool(draft, "tokenizer.ggml.add_bos_token", true);
}

enum mf_status
mf_llama_hf_put_xverse(struct mf_draft *draft,
                       const struct mf_tokenizer_request *request,
                       const struct mf_special_options *options, bool *missing)
{
    struct vocab *vocab;

    *missing =
        !mf_sidecar_exists(request->model, request->arena, "tokenizer.json");
    if (*missing || request->env->error.status != MF_OK)
        return request->env->error.status;
    vocab = load(request, XVERSE);
    if (!vocab)
        return request->env->error.status;
    vocab->count = request->vocab_size > 0 ? request->vocab_size
                                           : vocab->fast->token_count;
    if (vocab->fast->id_end > vocab->count)
        return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json' has the id %" PRIu64
                       ", but 'vocab_size' is %" PRIu64,
                       vocab->fast->id_end - 1, vocab->count);
    return put_all(draft, request, options, vocab, vocab->count);
}
