/* SPDX-License-Identifier: MIT
 *
 * encode.c - the ids of a text
 */
#include "lib/hf/encode/text_vocab.h"

static enum mf_status failed(const struct mf_encoder *tokenizer)
{
    return tokenizer->env->error.status;
}

/* All steps before the model. */
static enum mf_status cut(struct mf_encoder *tokenizer,
                          struct mf_pieces *pieces, struct mf_str text)
{
    const struct mf_text_piece whole = { .at = text.at,
                                         .size = (uint32_t)text.size,
                                         .first = true };

    if (mf_pieces_chars(pieces, text) != MF_OK ||
        mf_pieces_add(pieces, &whole) != MF_OK)
        return failed(tokenizer);
    mf_pieces_turn(pieces);
    if (mf_encoder_cut_added(tokenizer, pieces, false) != MF_OK ||
        mf_encoder_cut_added(tokenizer, pieces, true) != MF_OK)
        return failed(tokenizer);
    return mf_split(pieces, &tokenizer->split);
}

/* Puts all pieces into the pool. */
static enum mf_status prepare(struct mf_text_vocab *vocab,
                              const struct mf_pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        struct mf_str piece = { pieces->at[i].at, pieces->at[i].size };

        if (!pieces->at[i].added && piece.size > 0 &&
            mf_model_prepare(vocab, piece) != MF_OK)
            return failed(vocab->tokenizer);
    }
    return MF_OK;
}

/* Where characters are left out, the pool needs what is then next to each
 * other, and the vocabulary is read again. */
static enum mf_status leave_out(struct mf_text_vocab *vocab,
                                struct mf_pieces *pieces)
{
    struct mf_encoder *tokenizer = vocab->tokenizer;
    bool any = false;

    for (size_t i = 0; i < pieces->count; i++) {
        struct mf_text_piece *piece = &pieces->at[i];
        struct mf_str text = { piece->at, piece->size }, known = text;

        /* One that is looked up as a whole stays whole. */
        if (!piece->added &&
            (!tokenizer->part.ignore_merges ||
             mf_text_vocab_find(vocab, text, false) == MF_NO_TOKEN))
            known = mf_model_known(vocab, text);
        if (!known.at)
            return failed(tokenizer);
        if (known.size == text.size)
            continue;
        any = true;
        piece->at = known.at;
        piece->size = (uint32_t)known.size;
    }
    if (!any)
        return MF_OK;
    if (prepare(vocab, pieces) != MF_OK)
        return failed(tokenizer);
    return mf_text_vocab_read(vocab);
}

static enum mf_status look_up(struct mf_text_vocab *vocab,
                              struct mf_pieces *pieces,
                              struct mf_token_ids *ids)
{
    struct mf_encoder *tokenizer = vocab->tokenizer;

    if (prepare(vocab, pieces) != MF_OK || mf_text_vocab_read(vocab) != MF_OK ||
        leave_out(vocab, pieces) != MF_OK ||
        (tokenizer->part.kind == MF_MODEL_BPE && vocab->size > 0 &&
         mf_text_vocab_read_merges(vocab) != MF_OK))
        return failed(tokenizer);
    for (size_t i = 0; i < pieces->count; i++) {
        struct mf_str piece = { pieces->at[i].at, pieces->at[i].size };
        const struct mf_added *added = pieces->at[i].added;

        if ((added ? mf_token_ids_add(ids, (uint32_t)added->id)
                   : mf_model_cut(vocab, piece, ids)) != MF_OK)
            return failed(tokenizer);
    }
    return MF_OK;
}

/* The ids go from the heap to the arena. */
static enum mf_status keep(struct mf_encoder *tokenizer,
                           const struct mf_token_ids *found, uint32_t **ids,
                           size_t *count)
{
    *ids = mf_arena_take(tokenizer->arena, (found->count + 1) * sizeof(**ids));
    *count = found->count;
    if (*ids && found->count > 0)
        memcpy(*ids, found->at, found->count * sizeof(**ids));
    return failed(tokenizer);
}

enum mf_status mf_encoder_run(struct mf_encoder *tokenizer, struct mf_str text,
                              bool with_special, uint32_t **ids, size_t *count)
{
    struct mf_token_ids found = { .env = tokenizer->env };
    struct mf_pieces pieces;
    struct mf_text_vocab vocab;
    enum mf_status status =
        mf_pieces_init(&pieces, tokenizer->env, tokenizer->arena);

    if (mf_text_vocab_init(&vocab, tokenizer) != MF_OK)
        status = failed(tokenizer);
    if (status == MF_OK && cut(tokenizer, &pieces, text) != MF_OK)
        status = mf_sidecar_fail(tokenizer->env, tokenizer->fast->file);
    if (status == MF_OK)
        status = look_up(&vocab, &pieces, &found);
    if (status == MF_OK && with_special)
        status = mf_post_process(tokenizer, &found);
    if (status == MF_OK)
        status = keep(tokenizer, &found, ids, count);
    mf_text_vocab_release(&vocab);
    mf_pieces_release(&pieces);
    mf_release(tokenizer->env, found.at, found.capacity * sizeof(*found.at));
    return status;
}
