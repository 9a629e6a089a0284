/* SPDX-License-Identifier: MIT
 *
 * vocab.c - the tokenizer in a model's metadata
 */
#include "lib/vocab/vocab.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/vocab/parts.h"

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
