/* SPDX-License-Identifier: MIT
 *
 * unigram.c - vocabularies of T5 and XLM-RoBERTa as metadata of GGUF
 *
 * Both are unigram models of SentencePiece, with a table of replacements that
 * texts go through first.
 */
#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/json/tree.h"

static enum mf_status check_unigram(const struct mf_spm_vocab *vocab)
{
    return vocab->spm.algorithm == MF_SPM_UNIGRAM
               ? MF_OK
               : mf_fail(vocab->request.env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'%s': 'model_type' is %d, not 1 (unigram)",
                         vocab->name, (int)vocab->spm.algorithm);
}

static enum mf_status put_normalizer(struct mf_draft *draft,
                                     const struct mf_spm_vocab *vocab)
{
    const struct mf_spm *spm = &vocab->spm;

    if (mf_set_bool(draft, "tokenizer.ggml.remove_extra_whitespaces",
                    spm->remove_spaces) != MF_OK ||
        spm->charsmap.size == 0)
        return draft->env->error.status;
    return mf_set_stream(draft, "tokenizer.ggml.precompiled_charsmap",
                         MF_VALUE_U8, spm->charsmap.size,
                         mf_spm_stream_charsmap, vocab);
}

/* ---- T5 ---- */

enum mf_status mf_unigram_put_t5(struct mf_draft *draft,
                                 const struct mf_tokenizer_request *request,
                                 const struct mf_special_options *options,
                                 bool *missing)
{
    const char *name = "tokenizer.model";
    uint64_t count = request->vocab_size;
    struct mf_spm_vocab *vocab;
    bool usual = mf_sidecar_exists(request->model, request->arena, name);

    if (!usual)
        name = "spiece.model";
    *missing =
        !usual && !mf_sidecar_exists(request->model, request->arena, name);
    if (*missing || request->env->error.status != MF_OK)
        return request->env->error.status;
    vocab = mf_spm_vocab_new(request, name);
    if (!vocab)
        return request->env->error.status;
    if (usual && vocab->spm.algorithm == MF_SPM_BPE)
        return mf_spm_put(draft, request, options, missing);
    if (check_unigram(vocab) != MF_OK ||
        mf_spm_vocab_count(vocab, count > 0 ? count : vocab->spm.count) !=
            MF_OK)
        return request->env->error.status;
    if (vocab->spm.count > vocab->count)
        return mf_spm_vocab_refuse(vocab);
    vocab->list.use[MF_SPM_ADDED_JSON] = MF_SPM_ADDED_PASS;
    if (mf_spm_list_read(&vocab->list, request) != MF_OK ||
        mf_spm_vocab_put(draft, vocab, "t5") != MF_OK ||
        mf_set_bool(draft, "tokenizer.ggml.add_space_prefix",
                    vocab->spm.add_prefix) != MF_OK ||
        put_normalizer(draft, vocab) != MF_OK)
        return request->env->error.status;
    return mf_spm_vocab_put_special(draft, vocab, options);
}

/* ---- XLM-RoBERTa ---- */

/* The tokens that fairseq has and the model lacks, by their numbers among the
 * fixed texts; <mask> has an id far from theirs. */
static const struct mf_spm_added fairseq[] = {
    { 0, 0, MF_SPM_ADDED_FIXED, MF_TOKEN_CONTROL, false },
    { 1, 1, MF_SPM_ADDED_FIXED, MF_TOKEN_CONTROL, false },
    { 2, 2, MF_SPM_ADDED_FIXED, MF_TOKEN_CONTROL, false },
    { 3, 3, MF_SPM_ADDED_FIXED, MF_TOKEN_UNKNOWN, false },
    { 4, 250001, MF_SPM_ADDED_FIXED, MF_TOKEN_CONTROL, false },
};

static enum mf_status put_shifted(struct mf_draft *draft,
                                  struct mf_spm_vocab *vocab,
                                  const struct mf_special_options *options)
{
    const struct mf_tokenizer_request *request = &vocab->request;
    uint64_t count = request->vocab_size;
    bool mask = strcmp(request->arch, "nomic-bert-moe") == 0;

    vocab->shifted = true;
    if (check_unigram(vocab) != MF_OK ||
        mf_spm_vocab_count(vocab,
                           count > vocab->spm.count ? count : vocab->spm.count))
        return request->env->error.status;
    vocab->list.at = fairseq;
    vocab->list.count = 4 + (size_t)mask;
    if (vocab->count < 4 || (mask && vocab->count <= fairseq[4].id))
        return mf_spm_vocab_refuse(vocab);
    if (mf_spm_vocab_put(draft, vocab, "t5") != MF_OK ||
        mf_set_bool(draft, "tokenizer.ggml.add_space_prefix",
                    vocab->spm.add_prefix) != MF_OK ||
        mf_unigram_put_type_count(draft, request) != MF_OK ||
        put_normalizer(draft, vocab) != MF_OK)
        return request->env->error.status;
    return mf_spm_vocab_put_special(draft, vocab, options);
}

enum mf_status mf_unigram_put_xlm(struct mf_draft *draft,
                                  const struct mf_tokenizer_request *request,
                                  const struct mf_special_options *options,
                                  bool *missing)
{
    const char *name = "sentencepiece.bpe.model";
    struct mf_spm_vocab *vocab;

    *missing = false;
    if (!mf_sidecar_exists(request->model, request->arena, name))
        return request->env->error.status
                   ? request->env->error.status
                   : mf_unigram_put_json(draft, request, options, missing);
    vocab = mf_spm_vocab_new(request, name);
    return vocab ? put_shifted(draft, vocab, options)
                 : request->env->error.status;
}
