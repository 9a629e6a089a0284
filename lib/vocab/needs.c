/* SPDX-License-Identifier: MIT
 *
 * needs.c - what a tokenizer of its kind needs
 */
#include "lib/vocab/parts.h"

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
