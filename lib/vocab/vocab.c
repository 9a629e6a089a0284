/* SPDX-License-Identifier: MIT
 *
 * vocab.c - the tokenizer in a model's metadata, and what it needs
 */
#include "lib/vocab/vocab.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/vocab/parts.h"

/* ---- what a tokenizer of its kind needs ---- */

static void missing(struct mf_vocab *vocab, enum mf_severity severity,
                    const char *suffix)
{
    mf_index_note(vocab->index, 0, severity, MF_RULE_TOKENS_MISSING,
                  MF_NO_OFFSET, "missing key '%s'",
                  mf_vocab_key(vocab, suffix).text);
}

/* ---- arrays ---- */

/* Kimi-K2 has its tokens in the order of their merges. */
static bool needs_merges(const struct mf_vocab *vocab)
{
    const struct mf_meta *pre = mf_vocab_meta(vocab, "pre");

    if (!mf_vocab_is(vocab, MF_TOKENIZER_BPE))
        return false;
    return strcmp(vocab->tokenizer->name, "gemma4") == 0 || !pre ||
           !mf_str_is(pre->text, "kimi-k2");
}

static void check_arrays(struct mf_vocab *vocab)
{
    const struct mf_meta *tokens = vocab->array[MF_VOCAB_TOKENS];

    if (!mf_vocab_meta(vocab, "tokens"))
        missing(vocab, MF_ERROR, "tokens");
    else if (tokens && tokens->count == 0)
        mf_index_note(vocab->index, tokens->shard, MF_ERROR,
                      MF_RULE_TOKENS_MISSING, tokens->span.offset,
                      "'%s' is empty", mf_quote(tokens->key).text);
    if (needs_merges(vocab) && !mf_vocab_meta(vocab, "merges"))
        missing(vocab, MF_ERROR, "merges");
    if (vocab->count == 0)
        return;
    if ((mf_vocab_is(vocab, MF_TOKENIZER_SPM) ||
         mf_vocab_is(vocab, MF_TOKENIZER_UGM) ||
         mf_vocab_is(vocab, MF_TOKENIZER_PLAMO2)) &&
        !mf_vocab_meta(vocab, "scores"))
        missing(vocab, MF_WARNING, "scores");
    if (vocab->tokenizer && !mf_vocab_meta(vocab, "token_type"))
        missing(vocab, MF_WARNING, "token_type");
}

/* ---- special tokens ---- */

/* Whether llama.cpp ends up with a token for that: the file's if it is in the
 * vocabulary, else its own default. */
static bool has_token(const struct mf_vocab *vocab, const char *suffix,
                      int64_t fallback)
{
    const struct mf_meta *meta = mf_vocab_meta(vocab, suffix);
    uint64_t id;

    if (meta && (!mf_meta_unsigned(meta, &id) || meta->type != MF_VALUE_U32))
        return true; /* has its own finding */
    if (meta && id < vocab->count)
        return true;
    return fallback >= 0 && (uint64_t)fallback < vocab->count;
}

static bool flag(const struct mf_vocab *vocab, const char *suffix,
                 bool fallback)
{
    const struct mf_meta *meta = mf_vocab_meta(vocab, suffix);

    return meta && meta->type == MF_VALUE_BOOL ? meta->number.boolean
                                               : fallback;
}

static void need(struct mf_vocab *vocab, const char *suffix, int64_t fallback,
                 const char *what)
{
    if (!has_token(vocab, suffix, fallback))
        mf_index_note(vocab->index, 0, MF_ERROR, MF_RULE_TOKENS_MISSING,
                      MF_NO_OFFSET,
                      "the tokenizer needs %s, but '%s' is missing or out of "
                      "range: llama.cpp fails on the first text",
                      what, mf_vocab_key(vocab, suffix).text);
}

static void check_specials(struct mf_vocab *vocab)
{
    const struct mf_known_tokenizer *row = vocab->tokenizer;
    enum mf_known_tokenizer_kind kind = row->kind;
    bool words = kind == MF_TOKENIZER_WPM;
    bool always = mf_vocab_has_trait(vocab, MF_PRE_ALWAYS_BOS);
    int64_t bos = mf_vocab_has_trait(vocab, MF_PRE_NO_BOS) ? -1 : row->bos;
    bool adds_bos =
        kind == MF_TOKENIZER_SPM || mf_vocab_has_trait(vocab, MF_PRE_ADDS_BOS);

    if (kind != MF_TOKENIZER_SPM && kind != MF_TOKENIZER_BPE &&
        kind != MF_TOKENIZER_UGM && !words)
        return;
    if (words || always || flag(vocab, "add_bos_token", adds_bos))
        need(vocab, "bos_token_id", bos, "a token to begin a text with");
    if (!words && flag(vocab, "add_eos_token", kind == MF_TOKENIZER_UGM))
        need(vocab, "eos_token_id", row->eos, "a token to end a text with");
    if (words)
        need(vocab, "seperator_token_id", row->separator,
             "a token to separate texts with");
    if (words || kind == MF_TOKENIZER_UGM)
        need(vocab, "unknown_token_id", row->unknown,
             "a token for unknown words");
}

void mf_vocab_check_needs(struct mf_vocab *vocab)
{
    check_arrays(vocab);
    if (vocab->tokenizer && vocab->count > 0)
        check_specials(vocab);
}

/* ---- the tokenizer in a model's metadata ---- */

struct mf_vocab_key mf_vocab_key(const struct mf_vocab *vocab,
                                 const char *suffix)
{
    struct mf_vocab_key key;

    snprintf(key.text, sizeof(key.text), "%s%s",
             vocab->model->format->tokenizer, suffix);
    return key;
}

const struct mf_meta *mf_vocab_meta(const struct mf_vocab *vocab,
                                    const char *suffix)
{
    return mf_index_meta(vocab->index, mf_vocab_key(vocab, suffix).text);
}

/* ---- tallies ---- */

void mf_tally_add(struct mf_tally *tally, const struct mf_items *items)
{
    if (tally->count++ > 0 && tally->at <= items->at)
        return;
    tally->at = items->at;
    tally->offset = items->offset;
    tally->text = mf_quote(items->text);
}

struct mf_tally_text mf_tally_rest(const struct mf_tally *tally,
                                   const char *what)
{
    struct mf_tally_text out = { "" };

    if (tally->count > 1)
        snprintf(out.text, sizeof(out.text), " (%" PRIu64 " such %s)",
                 tally->count, what);
    return out;
}

/* ---- the whole ---- */

static bool has_tokenizer(const struct mf_model *model)
{
    const char *prefix = model->format->tokenizer;

    if (!prefix)
        return false;
    for (size_t i = 0; i < model->index.meta_count; i++)
        if (mf_str_begins(model->index.meta[i].key, prefix))
            return true;
    return false;
}

enum mf_status mf_vocab_check(struct mf_model *model)
{
    struct mf_vocab vocab = { .model = model, .index = &model->index };

    if (!has_tokenizer(model))
        return MF_OK;
    mf_vocab_check_keys(&vocab);
    if (mf_vocab_is(&vocab, MF_TOKENIZER_NONE))
        return model->index.status;
    mf_vocab_check_needs(&vocab);
    if (mf_vocab_check_tokens(&vocab) != MF_OK ||
        mf_vocab_check_charsmap(&vocab) != MF_OK)
        return model->env->error.status;
    return model->index.status;
}
