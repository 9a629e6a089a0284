/* SPDX-License-Identifier: MIT
 *
 * added.c - added tokens, found in a text as they are
 */
#include "lib/tokenize/load.h"

#include "lib/base/names.h"
#include "lib/base/str.h"

static enum mf_status failed(const struct mf_tokenize *tokenizer)
{
    return tokenizer->env->error.status;
}

/* ---- by text ---- */

static size_t slot_of(const struct mf_tokenize *tokenizer, struct mf_str text)
{
    size_t mask = tokenizer->slot_count - 1;
    size_t slot = (size_t)mf_text_hash(text, tokenizer->env->hash_seed) & mask;

    while (tokenizer->slot[slot] &&
           !mf_str_same(tokenizer->slot[slot]->text, text))
        slot = (slot + 1) & mask;
    return slot;
}

struct mf_tokenize_added *
mf_tokenize_added_find(const struct mf_tokenize *tokenizer, struct mf_str text)
{
    return tokenizer->slot_count > 0 ? tokenizer->slot[slot_of(tokenizer, text)]
                                     : NULL;
}

/* Twice as many slots, at most half of which are taken. */
static enum mf_status grow(struct mf_tokenize *tokenizer)
{
    size_t count = tokenizer->slot_count ? 2 * tokenizer->slot_count : 64;
    struct mf_tokenize_added **slot =
        mf_arena_take(tokenizer->arena, count * sizeof(*slot));

    if (!slot)
        return failed(tokenizer);
    for (size_t i = 0; i < count; i++)
        slot[i] = NULL;
    tokenizer->slot = slot;
    tokenizer->slot_count = count;
    for (struct mf_tokenize_added *added = tokenizer->added; added;
         added = added->next)
        slot[slot_of(tokenizer, added->text)] = added;
    return MF_OK;
}

static struct mf_tokenize_added *make(struct mf_tokenize *tokenizer,
                                      struct mf_str text)
{
    struct mf_tokenize_added *added =
        mf_arena_take(tokenizer->arena, sizeof(*added));
    char *at = added ? mf_arena_text(tokenizer->arena, text.size) : NULL;

    if (!at)
        return NULL;
    memcpy(at, text.at, text.size);
    *added = (struct mf_tokenize_added){ .text = { at, text.size },
                                         .id = MF_NO_TOKEN };
    if (tokenizer->last)
        tokenizer->last->next = added;
    else
        tokenizer->added = added;
    tokenizer->last = added;
    tokenizer->slot[slot_of(tokenizer, text)] = added;
    return added;
}

enum mf_status mf_tokenize_added_put(struct mf_tokenize *tokenizer,
                                     const struct mf_tokenize_added *token)
{
    struct mf_tokenize_added *added;
    bool same;

    if (token->text.size == 0)
        return MF_OK;
    if (2 * tokenizer->added_count >= tokenizer->slot_count &&
        grow(tokenizer) != MF_OK)
        return failed(tokenizer);
    added = mf_tokenize_added_find(tokenizer, token->text);
    if (!added) {
        if (tokenizer->added_count++ == MF_ADDED_MAX)
            return mf_fail(tokenizer->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "more than %d added tokens", MF_ADDED_MAX);
        added = make(tokenizer, token->text);
        if (!added)
            return failed(tokenizer);
        same = false;
    } else {
        same = added->special == token->special &&
               added->normalized == token->normalized &&
               added->lstrip == token->lstrip &&
               added->rstrip == token->rstrip &&
               added->single_word == token->single_word;
    }
    /* Two lists are searched for: one of special tokens, with the flags that
     * they had first, and one of all others that were added. */
    if ((token->special && !added->listed_special) ||
        (!same && !token->special && !added->listed_special)) {
        added->raw = added->raw || !token->normalized;
        added->cooked = added->cooked || token->normalized;
    }
    added->listed_special = added->listed_special || token->special;
    added->special = token->special;
    added->normalized = token->normalized;
    added->lstrip = token->lstrip;
    added->rstrip = token->rstrip;
    added->single_word = token->single_word;
    return MF_OK;
}

/* ---- from JSON ---- */

static enum mf_status read_flag(struct mf_tokenize *tokenizer,
                                struct mf_json *json, const char *key,
                                enum mf_json_token value, bool *flag)
{
    if (value != MF_JSON_TRUE && value != MF_JSON_FALSE)
        return mf_fail(tokenizer->env, MF_ERR_CORRUPT, json->token_offset,
                       "'%s' of an added token must be true or false", key);
    *flag = value == MF_JSON_TRUE;
    return MF_OK;
}

/* The value of a key of an added token. */
static enum mf_status read_key(struct mf_tokenize *tokenizer,
                               struct mf_json *json, const char *key,
                               struct mf_tokenize_added *token)
{
    static const char *const names[] = { "special", "normalized", "lstrip",
                                         "rstrip", "single_word" };
    bool *const flags[] = { &token->special, &token->normalized, &token->lstrip,
                            &token->rstrip, &token->single_word };
    enum mf_json_token value = mf_json_next(json);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(key, names[i]) == 0)
            return read_flag(tokenizer, json, key, value, flags[i]);
    if (strcmp(key, "content") != 0)
        return mf_json_skip(json, value);
    if (value != MF_JSON_STRING)
        return mf_fail(tokenizer->env, MF_ERR_CORRUPT, json->token_offset,
                       "'content' of an added token must be a string");
    return mf_load_text(tokenizer, json, MF_ADDED_TEXT, &token->text);
}

enum mf_status mf_tokenize_added_read(struct mf_tokenize *tokenizer,
                                      struct mf_json *json,
                                      struct mf_tokenize_added *token)
{
    uint64_t start = json->token_offset;
    char key[16];
    uint64_t size;
    bool more, normalized_given = false;

    *token = (struct mf_tokenize_added){ .text = { NULL, 0 } };
    for (;;) {
        enum mf_json_token next = mf_json_next(json);

        if (next == MF_JSON_ERROR)
            return failed(tokenizer);
        if (next == MF_JSON_END_OBJECT)
            break;
        if (mf_json_text(json, key, sizeof(key) - 1, &size, &more) != MF_OK)
            return failed(tokenizer);
        key[more ? 0 : size] = 0;
        normalized_given = normalized_given || strcmp(key, "normalized") == 0;
        if (read_key(tokenizer, json, key, token) != MF_OK)
            return failed(tokenizer);
    }
    if (!token->text.at)
        return mf_fail(tokenizer->env, MF_ERR_CORRUPT, start,
                       "an added token has no 'content'");
    if (!normalized_given)
        token->normalized = !token->special;
    return MF_OK;
}

/* ---- finding ---- */

struct search {
    struct mf_tokenize_added *head[256]; /* by their first byte */
    bool cooked, split_special;
};

static struct mf_str pattern_of(const struct mf_tokenize_added *added,
                                bool cooked)
{
    return cooked ? added->normal : added->text;
}

/* A token of characters of which nothing is known is in no text. */
static bool is_known(struct mf_str text)
{
    size_t taken;

    for (size_t at = 0; at < text.size; at += taken)
        if (mf_char_next(text.at + at, text.size - at, &taken) == MF_NO_CHAR)
            return false;
    return true;
}

static enum mf_status prepare(struct mf_tokenize *tokenizer,
                              struct mf_pieces *pieces, struct search *search)
{
    for (struct mf_tokenize_added *added = tokenizer->added; added;
         added = added->next) {
        struct mf_str text;

        if (!(search->cooked ? added->cooked : added->raw) ||
            !is_known(added->text))
            continue;
        if (search->cooked &&
            mf_normalize(pieces, &tokenizer->normalize, added->text,
                         &added->normal) != MF_OK)
            return failed(tokenizer);
        text = pattern_of(added, search->cooked);
        if (text.size == 0)
            continue;
        added->same = search->head[(uint8_t)text.at[0]];
        search->head[(uint8_t)text.at[0]] = added;
    }
    return MF_OK;
}

/* The longest token that begins the text. */
static const struct mf_tokenize_added *longest(const struct search *search,
                                               struct mf_str text)
{
    const struct mf_tokenize_added *best = NULL;
    size_t best_size = 0;

    for (const struct mf_tokenize_added *added =
             search->head[(uint8_t)text.at[0]];
         added; added = added->same) {
        struct mf_str pattern = pattern_of(added, search->cooked);

        /* Of two with that text, the one that was added first. */
        if (pattern.size <= text.size && pattern.size >= best_size &&
            memcmp(pattern.at, text.at, pattern.size) == 0) {
            best = added;
            best_size = pattern.size;
        }
    }
    return best;
}

/* The start of the character before `at`. */
static size_t before(struct mf_str text, size_t at)
{
    while (at > 0 && ((uint8_t)text.at[--at] & 0xc0) == 0x80)
        continue;
    return at;
}

static uint16_t char_at(struct mf_str text, size_t at, size_t *taken)
{
    return mf_char_next(text.at + at, text.size - at, taken);
}

static bool is_word(struct mf_str text, size_t start, size_t end)
{
    size_t taken;

    return (start == 0 ||
            !mf_char_joins_words(char_at(text, before(text, start), &taken))) &&
           (end == text.size ||
            !mf_char_joins_words(char_at(text, end, &taken)));
}

/* Takes white space before the token, not beyond `least`, and after it. */
static void widen(const struct mf_tokenize_added *added, struct mf_str text,
                  size_t least, size_t *start, size_t *end)
{
    size_t taken;

    while (added->lstrip && *start > least) {
        size_t at = before(text, *start);

        if (!mf_char_is_space(char_at(text, at, &taken)))
            break;
        *start = at;
    }
    if (added->lstrip && *start < least)
        *start = least; /* the token before took white space after it */
    while (added->rstrip && *end < text.size &&
           mf_char_is_space(char_at(text, *end, &taken)))
        *end += taken;
}

static enum mf_status put(struct mf_pieces *pieces,
                          const struct mf_piece *piece, size_t start,
                          size_t end, const struct mf_tokenize_added *added)
{
    struct mf_piece part = { .at = piece->at + start,
                             .size = (uint32_t)(end - start),
                             .first = piece->first && start == 0,
                             .added = added };

    return start < end ? mf_pieces_add(pieces, &part) : MF_OK;
}

static enum mf_status cut(struct mf_pieces *pieces, const struct search *search,
                          const struct mf_piece *piece)
{
    struct mf_str text = { piece->at, piece->size };
    size_t done = 0, next;

    for (size_t at = 0; at < text.size; at = next) {
        struct mf_str rest = { text.at + at, text.size - at };
        const struct mf_tokenize_added *added = longest(search, rest);
        size_t start = at, end;

        next = at + 1;
        if (!added)
            continue;
        next = end = at + pattern_of(added, search->cooked).size;
        if ((search->split_special && added->listed_special) ||
            (added->single_word && !is_word(text, start, end)))
            continue;
        widen(added, text, done, &start, &end);
        if (put(pieces, piece, done, start, NULL) != MF_OK ||
            put(pieces, piece, start, end, added) != MF_OK)
            return pieces->env->error.status;
        done = end;
    }
    return put(pieces, piece, done, text.size, NULL);
}

enum mf_status mf_tokenize_added_cut(struct mf_tokenize *tokenizer,
                                     struct mf_pieces *pieces, bool cooked)
{
    struct search search = { .cooked = cooked,
                             .split_special =
                                 tokenizer->config.split_special == MF_TRUE };

    if (prepare(tokenizer, pieces, &search) != MF_OK)
        return failed(tokenizer);
    for (size_t i = 0; i < pieces->count; i++) {
        struct mf_piece piece = pieces->at[i];

        if (cooked && !piece.added) {
            struct mf_str text = { piece.at, piece.size };

            if (mf_normalize(pieces, &tokenizer->normalize, text, &text) !=
                MF_OK)
                return failed(tokenizer);
            piece.at = text.at;
            piece.size = (uint32_t)text.size;
        }
        if ((piece.added ? mf_pieces_add(pieces, &piece)
                         : cut(pieces, &search, &piece)) != MF_OK)
            return failed(tokenizer);
    }
    mf_pieces_turn(pieces);
    return MF_OK;
}
