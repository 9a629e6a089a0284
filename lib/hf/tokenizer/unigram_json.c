/* SPDX-License-Identifier: MIT
 *
 * unigram_json.c - tokenizer.json of XLM-RoBERTa as metadata of GGUF
 *
 * Where sentencepiece.bpe.model is missing, as for Jina's models.  The
 * vocabulary has texts and scores; types follow from what transformers calls
 * special, and the table of replacements is there as base64.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/spm.h"

struct vocab {
    struct mf_fast *fast;
    uint64_t count;
    uint64_t unknown;       /* MF_NO_ID: none */
    struct mf_str charsmap; /* in base64 */
};

struct streaming {
    struct mf_env *env;
    const struct vocab *vocab;
    struct mf_sidecar file;
    mf_each_event *each;
    void *user;
};

static enum mf_status failed(const struct streaming *streaming)
{
    return streaming->env->error.status;
}

/* ---- texts ---- */

static enum mf_status send_text(struct streaming *streaming, struct mf_str text,
                                bool more)
{
    return mf_send_text(streaming->each, streaming->user, text, more);
}

static enum mf_status send_token(struct streaming *streaming, uint64_t id)
{
    const struct mf_fast *fast = streaming->vocab->fast;
    enum mf_status status;
    char part[1024];
    uint64_t size;
    bool more;

    if (id >= fast->vocab_count) {
        snprintf(part, sizeof(part), "[PAD%" PRIu64 "]", id);
        return send_text(streaming, (struct mf_str){ part, strlen(part) },
                         false);
    }
    status = mf_fast_seek(fast, streaming->env, &streaming->file, id);
    for (more = true; more && status == MF_OK;) {
        if (mf_json_text(&streaming->file.json, part, sizeof(part), &size,
                         &more) != MF_OK)
            return failed(streaming);
        status =
            send_text(streaming, (struct mf_str){ part, (size_t)size }, more);
    }
    return status;
}

static enum mf_status stream_tokens(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    struct streaming streaming = {
        .env = env, .vocab = entry->elements, .each = each, .user = user
    };
    enum mf_status status =
        mf_fast_texts(streaming.vocab->fast, env, &streaming.file);

    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++)
        status = send_token(&streaming, id);
    if (status == MF_OK)
        status = mf_send_bracket(each, user, MF_EVENT_END, entry);
    return mf_sidecar_close(&streaming.file, status);
}

/* ---- scores ---- */

/* The score of the next pair; what is not a float would give the converter's
 * array two types. */
static enum mf_status take_score(struct mf_env *env, struct mf_json *json,
                                 uint64_t id, double *score)
{
    union mf_number number = { 0 };

    if (mf_json_next(json) != MF_JSON_BEGIN_ARRAY ||
        mf_json_next(json) != MF_JSON_STRING ||
        mf_json_next(json) != MF_JSON_NUMBER)
        return env->error.status ? env->error.status
                                 : mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                                           "changed while it was read");
    if (mf_json_number(json, &number) != MF_VALUE_F64 ||
        !isfinite((float)number.f64))
        return mf_fail(env, MF_ERR_UNSUPPORTED, json->token_offset,
                       "the score of token %" PRIu64
                       " is not a fraction that 32 bits can express",
                       id);
    *score = number.f64;
    mf_json_next(json); /* the bracket */
    return env->error.status;
}

/* Sends them to each; NULL: checks them. */
static enum mf_status go_over_scores(struct streaming *streaming)
{
    const struct mf_fast *fast = streaming->vocab->fast;
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_F32 };
    enum mf_status status = mf_fast_file(fast, streaming->env, &streaming->file,
                                         fast->vocab_offset);

    if (status == MF_OK)
        mf_json_next(&streaming->file.json); /* the bracket */
    for (uint64_t id = 0; id < fast->vocab_count && status == MF_OK; id++) {
        status = take_score(streaming->env, &streaming->file.json, id,
                            &value.number.f64);
        if (status == MF_OK && streaming->each)
            status = streaming->each(streaming->user, &value);
    }
    return mf_sidecar_close(&streaming->file, status);
}

static enum mf_status stream_scores(struct mf_env *env,
                                    const struct mf_entry *entry,
                                    mf_each_event *each, void *user)
{
    struct streaming streaming = {
        .env = env, .vocab = entry->elements, .each = each, .user = user
    };
    const struct mf_value padding = { .event = MF_EVENT_ITEM,
                                      .type = MF_VALUE_F32,
                                      .number.f64 = -10000 };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);

    if (status == MF_OK)
        status = go_over_scores(&streaming);
    for (uint64_t id = streaming.vocab->fast->vocab_count;
         id < entry->count && status == MF_OK; id++)
        status = each(user, &padding);
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- types ---- */

static enum mf_token_type type_of(const struct vocab *vocab, uint64_t id)
{
    return id >= vocab->fast->vocab_count         ? MF_TOKEN_UNUSED
           : id == vocab->unknown                 ? MF_TOKEN_UNKNOWN
           : mf_fast_is_special(vocab->fast, id)  ? MF_TOKEN_CONTROL
           : mf_added_at(&vocab->fast->added, id) ? MF_TOKEN_USER_DEFINED
                                                  : MF_TOKEN_NORMAL;
}

static enum mf_status stream_types(struct mf_env *env,
                                   const struct mf_entry *entry,
                                   mf_each_event *each, void *user)
{
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_I32 };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);

    (void)env;
    for (uint64_t id = 0; id < entry->count && status == MF_OK; id++) {
        value.number.i64 = type_of(entry->elements, id);
        status = each(user, &value);
    }
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- the charsmap ---- */

/* The six bits of a character of base64; -1: it is not base64. */
static int bits_of(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = digit ? strchr(digits, digit) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* How many bytes a text of base64 has; 0: it is not base64. */
static uint64_t base64_size(struct mf_str text)
{
    size_t digits = 0;

    while (digits < text.size && bits_of(text.at[digits]) >= 0)
        digits++;
    if (text.size % 4 != 0 || text.size - digits > 2 ||
        memcmp(text.at + digits, "==", text.size - digits) != 0)
        return 0;
    return (uint64_t)digits * 3 / 4;
}

static enum mf_status stream_charsmap(struct mf_env *env,
                                      const struct mf_entry *entry,
                                      mf_each_event *each, void *user)
{
    const struct vocab *vocab = entry->elements;
    struct mf_value value = { .event = MF_EVENT_ITEM, .type = MF_VALUE_U8 };
    enum mf_status status = mf_send_bracket(each, user, MF_EVENT_BEGIN, entry);
    uint64_t sent = 0;
    uint32_t bits = 0;

    (void)env;
    for (size_t i = 0; sent < entry->count && status == MF_OK; i++) {
        bits = bits << 6 | (uint32_t)bits_of(vocab->charsmap.at[i]);
        if (i % 4 == 0)
            continue; /* the first six bits are not a byte yet */
        value.number.u64 = bits >> (6 - i % 4 * 2) & 0xff;
        status = each(user, &value);
        sent++;
    }
    return status == MF_OK ? mf_send_bracket(each, user, MF_EVENT_END, entry)
                           : status;
}

/* ---- the keys ---- */

/* A field of tokenizer_config.json that is true, false or missing. */
static enum mf_status put_flag(struct mf_draft *draft,
                               const struct vocab *vocab, const char *field,
                               const char *key)
{
    const struct mf_node *node = mf_node_at(vocab->fast->config, field);

    if (node && node->kind != MF_NODE_TRUE && node->kind != MF_NODE_FALSE &&
        node->kind != MF_NODE_NULL)
        return mf_fail(draft->env, MF_ERR_CORRUPT, node->offset,
                       "'tokenizer_config.json': '%s' must be true or false, "
                       "not %s",
                       field, mf_node_kind_name(node));
    return mf_set_bool(draft, key, node && node->kind == MF_NODE_TRUE);
}

/* The unknown token: an added one of that name, else the model's. */
static uint64_t find_unknown(const struct mf_fast *fast)
{
    struct mf_str name = mf_node_text(fast->config, "unk_token");
    const struct mf_added *added =
        name.at ? mf_added_find(&fast->added, name) : NULL;
    const struct mf_node *id = mf_node_at(fast->json, "model.unk_id");

    if (added)
        return added->id;
    if (!id)
        return 3;
    return id->kind == MF_NODE_NUMBER && id->type == MF_VALUE_U64
               ? id->number.u64
               : MF_NO_ID;
}

static enum mf_status load(struct vocab *vocab,
                           const struct mf_tokenizer_request *request)
{
    struct streaming streaming = { .env = request->env, .vocab = vocab };
    const struct mf_fast *fast = vocab->fast = mf_base_fast(request);

    if (!fast || mf_fast_read(vocab->fast, NULL, NULL) != MF_OK)
        return request->env->error.status;
    if (!mf_str_is(mf_node_text(fast->json, "model.type"), "Unigram"))
        return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': 'model.type' is not 'Unigram'");
    vocab->charsmap =
        mf_node_text(fast->json, "normalizer.precompiled_charsmap");
    if (!vocab->charsmap.at ||
        (vocab->charsmap.size > 0 && base64_size(vocab->charsmap) == 0))
        return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': 'normalizer.precompiled_charsmap' "
                       "is %s",
                       vocab->charsmap.at ? "not base64" : "missing");
    vocab->unknown = find_unknown(fast);
    vocab->count = request->vocab_size > fast->vocab_count ? request->vocab_size
                                                           : fast->vocab_count;
    if (vocab->count > MF_SPM_MAX)
        return mf_fail(request->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%" PRIu64 " tokens, at most %" PRIu64 " are supported",
                       vocab->count, MF_SPM_MAX);
    return go_over_scores(&streaming);
}

static enum mf_status put_arrays(struct mf_draft *draft,
                                 const struct vocab *vocab)
{
    uint64_t count = vocab->count;

    if (mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING, count,
                      stream_tokens, vocab) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.scores", MF_VALUE_F32, count,
                      stream_scores, vocab) != MF_OK)
        return draft->env->error.status;
    return mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                         count, stream_types, vocab);
}

enum mf_status mf_unigram_put_json(struct mf_draft *draft,
                                   const struct mf_tokenizer_request *request,
                                   const struct mf_special_options *options,
                                   bool *missing)
{
    struct vocab *vocab = mf_arena_take(request->arena, sizeof(*vocab));
    struct mf_special_options own = { 0 };
    uint64_t size;

    *missing =
        !mf_sidecar_exists(request->model, request->arena, "tokenizer.json");
    if (!vocab || *missing || request->env->error.status != MF_OK ||
        load(vocab, request) != MF_OK)
        return request->env->error.status;
    size = base64_size(vocab->charsmap);
    if (mf_set_text(draft, "tokenizer.ggml.model",
                    (struct mf_str){ "t5", 2 }) != MF_OK ||
        mf_set_text(draft, "tokenizer.ggml.pre",
                    (struct mf_str){ "default", 7 }) != MF_OK ||
        put_arrays(draft, vocab) != MF_OK ||
        put_flag(draft, vocab, "add_prefix_space",
                 "tokenizer.ggml.add_space_prefix") != MF_OK ||
        mf_unigram_put_type_count(draft, request) != MF_OK ||
        put_flag(draft, vocab, "clean_up_tokenization_spaces",
                 "tokenizer.ggml.remove_extra_whitespaces") != MF_OK ||
        (size > 0 &&
         mf_set_stream(draft, "tokenizer.ggml.precompiled_charsmap",
                       MF_VALUE_U8, size, stream_charsmap, vocab) != MF_OK))
        return request->env->error.status;
    if (options)
        own = *options;
    own.vocab_size = vocab->count;
    return mf_special_put(draft, request, &own);
}
