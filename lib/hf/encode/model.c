/* SPDX-License-Identifier: MIT
 *
 * model.c - the ids of a piece: BPE, WordPiece, or a list of words
 */
#include "lib/hf/encode/text_vocab.h"

#include "lib/base/text.h"

static enum mf_status failed(const struct mf_text_vocab *vocab)
{
    return vocab->env->error.status;
}

enum mf_status mf_token_ids_add(struct mf_token_ids *ids, uint32_t id)
{
    if (ids->count == ids->capacity) {
        size_t capacity = ids->capacity ? 2 * ids->capacity : 256;
        uint32_t *at =
            mf_env_resize(ids->env, ids->at, ids->capacity * sizeof(*at),
                          capacity * sizeof(*at));

        if (!at)
            return ids->env->error.status;
        ids->at = at;
        ids->capacity = capacity;
    }
    ids->at[ids->count++] = id;
    return MF_OK;
}

/* ---- pieces that a model sees ---- */

/* A BPE may mark the end of a word: the piece with that at its end, in the
 * arena. */
static struct mf_str with_suffix(struct mf_text_vocab *vocab,
                                 struct mf_str piece)
{
    struct mf_str suffix = vocab->tokenizer->part.suffix;
    char *at;

    if (vocab->tokenizer->part.kind != MF_MODEL_BPE || suffix.size == 0)
        return piece;
    at = mf_arena_text(vocab->tokenizer->arena, piece.size + suffix.size);
    if (!at)
        return (struct mf_str){ NULL, 0 };
    memcpy(at, piece.at, piece.size);
    memcpy(at + piece.size, suffix.at, suffix.size);
    return (struct mf_str){ at, piece.size + suffix.size };
}

enum mf_status mf_model_prepare(struct mf_text_vocab *vocab,
                                struct mf_str piece)
{
    struct mf_str text = with_suffix(vocab, piece);

    if (!text.at)
        return failed(vocab);
    /* With ignore_merges the piece is looked up as it is. */
    if (text.size != piece.size && mf_text_vocab_add(vocab, piece) != MF_OK)
        return failed(vocab);
    return mf_text_vocab_add(vocab, text);
}

/* Whether a character of a piece is a token, or becomes one or more. */
static bool is_known(const struct mf_text_vocab *vocab, struct mf_str text,
                     bool begins)
{
    const struct mf_model_part *part = &vocab->tokenizer->part;
    bool bytes = part->byte_fallback;

    for (size_t i = 0; i < text.size && bytes; i++)
        bytes = vocab->byte[(uint8_t)text.at[i]] != MF_NO_TOKEN;
    return bytes ||
           mf_text_vocab_find(vocab, text, !begins && part->prefix.size > 0) !=
               MF_NO_TOKEN;
}

struct mf_str mf_model_known(struct mf_text_vocab *vocab, struct mf_str piece)
{
    const struct mf_model_part *part = &vocab->tokenizer->part;
    struct mf_str known = { NULL, 0 };
    size_t taken;
    uint32_t code;
    char *at;

    if (part->kind != MF_MODEL_BPE || part->unk.at || part->suffix.size > 0)
        return piece;
    at = mf_arena_text(vocab->tokenizer->arena, piece.size);
    if (!at)
        return known;
    known.at = at;
    for (size_t i = 0; i < piece.size; i += taken) {
        struct mf_str text = { piece.at + i, 0 };

        taken = mf_utf8_next(piece.at + i, piece.size - i, &code);
        taken += taken == 0;
        text.size = taken;
        if (!is_known(vocab, text, i == 0))
            continue;
        memcpy(at + known.size, text.at, text.size);
        known.size += text.size;
    }
    return known.size == piece.size ? piece : known;
}

static enum mf_status need_unknown(struct mf_text_vocab *vocab)
{
    struct mf_str unk = vocab->tokenizer->part.unk;

    return vocab->unk != MF_NO_TOKEN
               ? MF_OK
               : mf_fail(vocab->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                         "'tokenizer.json': unk_token '%s' is not in the "
                         "vocabulary",
                         unk.at ? mf_quote(unk).text : "");
}

/* ---- BPE ---- */

struct symbol {
    uint32_t id, next;                       /* next: UINT32_MAX at the end */
    const struct mf_text_vocab_merge *merge; /* with the next */
};

struct word {
    struct mf_text_vocab *vocab;
    struct symbol *at;
    size_t count, capacity;
    size_t unknown; /* characters that wait to be one unknown token, or one */
};

static enum mf_status push(struct word *word, uint32_t id)
{
    if (word->count == word->capacity)
        return mf_fail(word->vocab->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "a piece has more than %zu symbols", word->capacity);
    word->at[word->count++] = (struct symbol){ .id = id };
    return MF_OK;
}

static enum mf_status push_unknown(struct word *word)
{
    for (; word->unknown > 0; word->unknown--)
        if (push(word, word->vocab->unk) != MF_OK)
            return failed(word->vocab);
    return MF_OK;
}

/* A character that is not a token: its bytes, if they are all tokens, else an
 * unknown one. */
static enum mf_status push_missing(struct word *word, struct mf_str text)
{
    struct mf_text_vocab *vocab = word->vocab;
    const struct mf_model_part *part = &vocab->tokenizer->part;
    bool bytes = part->byte_fallback;

    for (size_t i = 0; i < text.size && bytes; i++)
        bytes = vocab->byte[(uint8_t)text.at[i]] != MF_NO_TOKEN;
    for (size_t i = 0; i < text.size && bytes; i++)
        if (push(word, vocab->byte[(uint8_t)text.at[i]]) != MF_OK)
            return failed(vocab);
    if (bytes || !part->unk.at)
        return MF_OK;
    if (need_unknown(vocab) != MF_OK)
        return failed(vocab);
    if (!part->fuse_unk && push_unknown(word) != MF_OK)
        return failed(vocab);
    word->unknown = 1;
    return MF_OK;
}

/* The characters of a piece as tokens. */
static enum mf_status push_chars(struct word *word, struct mf_str piece)
{
    struct mf_text_vocab *vocab = word->vocab;
    struct mf_str whole = with_suffix(vocab, piece);
    size_t taken;
    uint32_t code;

    if (!whole.at)
        return failed(vocab);
    for (size_t at = 0; at < piece.size; at += taken) {
        struct mf_str text = { whole.at + at, 0 };
        uint32_t id;

        taken = mf_utf8_next(piece.at + at, piece.size - at, &code);
        taken += taken == 0;
        text.size = at + taken == piece.size ? whole.size - at : taken;
        id = mf_text_vocab_find(
            vocab, text, at > 0 && vocab->tokenizer->part.prefix.size > 0);
        if (id == MF_NO_TOKEN) {
            if (push_missing(word, text) != MF_OK)
                return failed(vocab);
        } else if (push_unknown(word) != MF_OK || push(word, id) != MF_OK) {
            return failed(vocab);
        }
    }
    return push_unknown(word);
}

static void look_up(struct word *word, size_t i)
{
    struct symbol *symbol = &word->at[i];

    symbol->merge = symbol->next == UINT32_MAX
                        ? NULL
                        : mf_text_vocab_merge(word->vocab, symbol->id,
                                              word->at[symbol->next].id);
}

/* Merges the first of the pairs of lowest rank, until there is none. */
static void merge_all(struct word *word)
{
    for (size_t i = 0; i < word->count; i++)
        word->at[i].next = i + 1 < word->count ? (uint32_t)i + 1 : UINT32_MAX;
    for (size_t i = 0; i < word->count; i++)
        look_up(word, i);
    for (;;) {
        size_t best = SIZE_MAX, before = SIZE_MAX, last = SIZE_MAX;

        for (size_t i = 0; i < word->count; last = i, i = word->at[i].next) {
            const struct mf_text_vocab_merge *merge = word->at[i].merge;

            if (merge && (best == SIZE_MAX ||
                          merge->rank < word->at[best].merge->rank)) {
                best = i;
                before = last;
            }
        }
        if (best == SIZE_MAX)
            return;
        word->at[best].id = word->at[best].merge->id;
        word->at[best].next = word->at[word->at[best].next].next;
        look_up(word, best);
        if (before != SIZE_MAX)
            look_up(word, before);
    }
}

static enum mf_status cut_bpe(struct mf_text_vocab *vocab, struct mf_str piece,
                              struct mf_token_ids *ids)
{
    struct word word = { .vocab = vocab, .capacity = MF_TEXT_MAX };
    uint32_t whole = vocab->tokenizer->part.ignore_merges
                         ? mf_text_vocab_find(vocab, piece, false)
                         : MF_NO_TOKEN;
    enum mf_status status;

    if (whole != MF_NO_TOKEN)
        return mf_token_ids_add(ids, whole);
    word.at = mf_alloc(vocab->env, word.capacity * sizeof(*word.at));
    status = word.at ? push_chars(&word, piece) : failed(vocab);
    if (status == MF_OK && word.count > 0) {
        merge_all(&word);
        for (size_t i = 0; i < word.count && status == MF_OK;
             i = word.at[i].next)
            status = mf_token_ids_add(ids, word.at[i].id);
    }
    mf_release(vocab->env, word.at, word.capacity * sizeof(*word.at));
    return status;
}

/* ---- WordPiece ---- */

static size_t count_chars(struct mf_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++)
        count += ((uint8_t)text.at[i] & 0xc0) != 0x80;
    return count;
}

/* The longest token that begins rest; *id. */
static size_t longest(const struct mf_text_vocab *vocab, struct mf_str rest,
                      bool continues, uint32_t *id)
{
    bool marked = continues && vocab->tokenizer->part.prefix.size > 0;

    while (rest.size > 0) {
        *id = mf_text_vocab_find(vocab, rest, marked);
        if (*id != MF_NO_TOKEN)
            return rest.size;
        while (--rest.size > 0 && ((uint8_t)rest.at[rest.size] & 0xc0) == 0x80)
            continue;
    }
    return 0;
}

static enum mf_status cut_wordpiece(struct mf_text_vocab *vocab,
                                    struct mf_str piece,
                                    struct mf_token_ids *ids)
{
    size_t first = ids->count, at = 0, size = 1;
    uint32_t id;

    if (count_chars(piece) <= vocab->tokenizer->part.max_chars)
        for (; at < piece.size && size > 0; at += size) {
            struct mf_str rest = { piece.at + at, piece.size - at };

            size = longest(vocab, rest, at > 0, &id);
            if (size > 0 && mf_token_ids_add(ids, id) != MF_OK)
                return failed(vocab);
        }
    if (at == piece.size)
        return MF_OK;
    ids->count = first; /* all of the piece is unknown */
    if (need_unknown(vocab) != MF_OK)
        return failed(vocab);
    return mf_token_ids_add(ids, vocab->unk);
}

static enum mf_status cut_word(struct mf_text_vocab *vocab, struct mf_str piece,
                               struct mf_token_ids *ids)
{
    uint32_t id = mf_text_vocab_find(vocab, piece, false);

    if (id == MF_NO_TOKEN && need_unknown(vocab) != MF_OK)
        return failed(vocab);
    return mf_token_ids_add(ids, id == MF_NO_TOKEN ? vocab->unk : id);
}

enum mf_status mf_model_cut(struct mf_text_vocab *vocab, struct mf_str piece,
                            struct mf_token_ids *ids)
{
    switch (vocab->tokenizer->part.kind) {
    case MF_MODEL_BPE:
        return cut_bpe(vocab, piece, ids);
    case MF_MODEL_WORDPIECE:
        return cut_wordpiece(vocab, piece, ids);
    default:
        return cut_word(vocab, piece, ids);
    }
}
