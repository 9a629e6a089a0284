/* SPDX-License-Identifier: MIT
 *
 * spm.c - vocabularies of SentencePiece as metadata of GGUF
 */
#include "lib/hf/tokenizer/spm.h"

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/json/tree.h"

static const char model_file[] = "tokenizer.model";
static const char eos_key[] = "tokenizer.ggml.eos_token_id";

/* ---- the vocabulary ---- */

struct mf_spm_vocab *
mf_spm_vocab_new(const struct mf_tokenizer_request *request, const char *name)
{
    struct mf_spm_vocab *vocab = mf_arena_take(request->arena, sizeof(*vocab));
    struct mf_sidecar file;
    enum mf_status status;

    if (!vocab)
        return NULL;
    *vocab = (struct mf_spm_vocab){ .request = *request, .name = name };
    status = mf_sidecar_open(&file, request->model, request->arena, name);
    vocab->file_size = file.source.size;
    if (status == MF_OK)
        status = mf_spm_read(&file.reader, &vocab->spm);
    vocab->pieces = vocab->spm.count;
    return mf_sidecar_close(&file, status) == MF_OK ? vocab : NULL;
}

enum mf_status mf_spm_vocab_count(struct mf_spm_vocab *vocab, uint64_t count)
{
    if (count > MF_SPM_MAX)
        return mf_fail(vocab->request.env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "'vocab_size' is %" PRIu64 ", at most %" PRIu64
                       " tokens are supported",
                       count, MF_SPM_MAX);
    if (vocab->pieces > count)
        vocab->pieces = count;
    vocab->count = vocab->list.tokens = count;
    return MF_OK;
}

/* As config.json says, else one token for each piece. */
static enum mf_status count_tokens(struct mf_spm_vocab *vocab)
{
    uint64_t count = vocab->request.vocab_size;

    return mf_spm_vocab_count(vocab, count > 0 ? count : vocab->spm.count);
}

enum mf_status mf_spm_vocab_refuse(const struct mf_spm_vocab *vocab)
{
    return mf_fail(vocab->request.env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'%s' has %" PRIu64 " pieces, but 'vocab_size' is %" PRIu64,
                   vocab->name, vocab->spm.count, vocab->count);
}

static enum mf_status put_words(struct mf_draft *draft, const char *key,
                                const char *words)
{
    return mf_set_text(draft, key, (struct mf_str){ words, strlen(words) });
}

enum mf_status mf_spm_vocab_put(struct mf_draft *draft,
                                const struct mf_spm_vocab *vocab,
                                const char *model)
{
    if (put_words(draft, "tokenizer.ggml.model", model) != MF_OK ||
        put_words(draft, "tokenizer.ggml.pre", "default") != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.tokens", MF_VALUE_STRING,
                      vocab->count, mf_spm_stream_tokens, vocab) != MF_OK ||
        mf_set_stream(draft, "tokenizer.ggml.scores", MF_VALUE_F32,
                      vocab->count, mf_spm_stream_scores, vocab) != MF_OK)
        return draft->env->error.status;
    return mf_set_stream(draft, "tokenizer.ggml.token_type", MF_VALUE_I32,
                         vocab->count, mf_spm_stream_types, vocab);
}

enum mf_status
mf_spm_vocab_put_special(struct mf_draft *draft,
                         const struct mf_spm_vocab *vocab,
                         const struct mf_special_options *options)
{
    struct mf_special_options own = { 0 };

    if (options)
        own = *options;
    own.vocab_size = vocab->count;
    return mf_special_put(draft, &vocab->request, &own);
}

/* The vocabulary of tokenizer.model; NULL after mf_fail, and where *missing. */
static struct mf_spm_vocab *begin(const struct mf_tokenizer_request *request,
                                  bool *missing)
{
    *missing = !mf_sidecar_exists(request->model, request->arena, model_file);
    return *missing || request->env->error.status != MF_OK
               ? NULL
               : mf_spm_vocab_new(request, model_file);
}

/* tokenizer_config.json but for its added tokens, of which there may be many;
 * NULL: missing. */
static enum mf_status read_config(const struct mf_tokenizer_request *request,
                                  struct mf_node **config)
{
    static const char *const left[] = { "added_tokens_decoder", NULL };

    return mf_sidecar_tree_but(request->model, request->arena,
                               mf_spm_added_names[MF_SPM_ADDED_CONFIG],
                               MF_SIDECAR_LIMIT, left, config);
}

/* ---- _set_vocab_sentencepiece ---- */

static const struct mf_spm_list usual = {
    .use = { [MF_SPM_ADDED_JSON] = MF_SPM_ADDED_PASS,
             [MF_SPM_ADDED_CONFIG] = MF_SPM_ADDED_PASS },
    .looks = true,
};

enum mf_status mf_spm_put(struct mf_draft *draft,
                          const struct mf_tokenizer_request *request,
                          const struct mf_special_options *options,
                          bool *missing)
{
    struct mf_spm_vocab *vocab = begin(request, missing);

    if (!vocab)
        return request->env->error.status;
    vocab->list = usual;
    if (count_tokens(vocab) != MF_OK ||
        mf_spm_list_read(&vocab->list, request) != MF_OK ||
        mf_spm_vocab_put(draft, vocab, "llama") != MF_OK)
        return request->env->error.status;
    return mf_spm_vocab_put_special(draft, vocab, options);
}

/* ---- Phi 3 ---- */

static enum mf_status read_class(const struct mf_tokenizer_request *request,
                                 bool *is_gpt2)
{
    struct mf_node *config;
    struct mf_str name;

    *is_gpt2 = false;
    if (read_config(request, &config) != MF_OK || !config)
        return request->env->error.status;
    name = mf_node_text(config, "tokenizer_class");
    *is_gpt2 = mf_str_is(name, "GPT2Tokenizer");
    return mf_node_at(config, "tokenizer_class")
               ? MF_OK
               : mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'tokenizer_config.json': missing key "
                         "'tokenizer_class'");
}

static enum mf_status missing_file(const struct mf_tokenizer_request *request)
{
    return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "missing file '%s'", model_file);
}

enum mf_status mf_spm_put_phi3(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    struct mf_spm_vocab *vocab;

    if (read_class(request, missing) != MF_OK || *missing)
        return request->env->error.status;
    vocab = begin(request, missing);
    if (*missing)
        return missing_file(request);
    if (!vocab || count_tokens(vocab) != MF_OK)
        return request->env->error.status;
    if (vocab->spm.count > vocab->count)
        return mf_spm_vocab_refuse(vocab);
    vocab->list.use[MF_SPM_ADDED_JSON] = MF_SPM_ADDED_PASS;
    vocab->list.use[MF_SPM_ADDED_CONFIG] = MF_SPM_ADDED_STRICT;
    vocab->list.use[MF_SPM_ADDED_TOKENIZER] = MF_SPM_ADDED_STRICT;
    if (mf_spm_list_read(&vocab->list, request) != MF_OK ||
        mf_spm_vocab_put(draft, vocab, "llama") != MF_OK)
        return request->env->error.status;
    return mf_spm_vocab_put_special(draft, vocab, options);
}

/* ---- InternLM ---- */

enum mf_status mf_spm_put_internlm2(struct mf_draft *draft,
                                    const struct mf_tokenizer_request *request,
                                    const struct mf_special_options *options,
                                    bool *missing)
{
    struct mf_spm_vocab *vocab = begin(request, missing);

    if (*missing)
        return missing_file(request);
    if (!vocab || count_tokens(vocab) != MF_OK)
        return request->env->error.status;
    if (vocab->spm.count < vocab->count)
        return mf_spm_vocab_refuse(vocab);
    vocab->internlm = true;
    vocab->list.use[MF_SPM_ADDED_JSON] = MF_SPM_ADDED_APPEND;
    vocab->list.use[MF_SPM_ADDED_CONFIG] = MF_SPM_ADDED_STRICT;
    vocab->list.use[MF_SPM_ADDED_TOKENIZER] = MF_SPM_ADDED_STRICT;
    if (mf_spm_list_read(&vocab->list, request) != MF_OK)
        return request->env->error.status;
    vocab->count = vocab->list.tokens;
    if (mf_spm_vocab_put(draft, vocab, "llama") != MF_OK ||
        mf_set_bool(draft, "tokenizer.ggml.add_space_prefix",
                    vocab->spm.add_prefix) != MF_OK ||
        mf_spm_vocab_put_special(draft, vocab, options) != MF_OK)
        return request->env->error.status;
    if (!mf_draft_find(draft, eos_key))
        return mf_fail(request->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "neither 'eos_token' nor 'eos_token_id' is the id of a "
                       "token");
    return vocab->list.chat_end == UINT64_MAX
               ? MF_OK
               : mf_set_u32(draft, eos_key, vocab->list.chat_end);
}

/* add_prefix_space of tokenizer_config.json. */
static enum mf_status put_prefix(struct mf_draft *draft,
                                 const struct mf_tokenizer_request *request)
{
    const struct mf_node *prefix;
    struct mf_node *config;

    if (read_config(request, &config) != MF_OK)
        return request->env->error.status;
    prefix = mf_node_at(config, "add_prefix_space");
    if (!prefix)
        return MF_OK;
    if (prefix->kind != MF_NODE_TRUE && prefix->kind != MF_NODE_FALSE)
        return mf_fail(request->env, MF_ERR_CORRUPT, prefix->offset,
                       "'tokenizer_config.json': 'add_prefix_space' must be "
                       "true or false, not %s",
                       mf_node_kind_name(prefix));
    return mf_set_bool(draft, "tokenizer.ggml.add_space_prefix",
                       prefix->kind == MF_NODE_TRUE);
}

enum mf_status mf_spm_put_internlm3(struct mf_draft *draft,
                                    const struct mf_tokenizer_request *request,
                                    const struct mf_special_options *options,
                                    bool *missing)
{
    struct mf_spm_vocab *vocab = begin(request, missing);

    if (*missing)
        return missing_file(request);
    if (!vocab)
        return request->env->error.status;
    vocab->list = usual;
    if (count_tokens(vocab) != MF_OK ||
        mf_spm_list_read(&vocab->list, request) != MF_OK ||
        mf_spm_vocab_put(draft, vocab, "llama") != MF_OK ||
        put_prefix(draft, request) != MF_OK ||
        mf_spm_vocab_put_special(draft, vocab, options) != MF_OK)
        return request->env->error.status;
    return vocab->list.special_chat_end == UINT64_MAX ||
                   !mf_draft_find(draft, eos_key)
               ? MF_OK
               : mf_set_u32(draft, eos_key, vocab->list.special_chat_end);
}
