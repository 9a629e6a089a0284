/* SPDX-License-Identifier: MIT
 *
 * cut.c - added tokens, found in a text as they are
 */
#include "lib/hf/encode/load.h"

#include "lib/base/str.h"

static enum mf_status failed(const struct mf_encoder *tokenizer)
{
    return tokenizer->env->error.status;
}

/* ---- finding ---- */

struct pattern { /* of an added token */
    const struct mf_added *added;
    struct mf_str text;
    struct pattern *next; /* with that first byte, added before */
};

struct search {
    struct pattern *head[256]; /* by their first byte */
    bool cooked, split_special;
};

/* A token of unknown characters is in no text. */
static bool is_known(struct mf_str text)
{
    size_t taken;

    for (size_t at = 0; at < text.size; at += taken)
        if (mf_char_next(text.at + at, text.size - at, &taken) == MF_NO_CHAR)
            return false;
    return true;
}

static enum mf_status add_pattern(struct mf_encoder *tokenizer,
                                  struct search *search,
                                  const struct mf_added *added,
                                  struct mf_str text)
{
    struct pattern **head = &search->head[(uint8_t)text.at[0]];
    struct pattern *pattern = mf_arena_take(tokenizer->arena, sizeof(*pattern));

    if (!pattern)
        return failed(tokenizer);
    *pattern = (struct pattern){ added, text, *head };
    *head = pattern;
    return MF_OK;
}

static enum mf_status prepare(struct mf_encoder *tokenizer,
                              struct mf_pieces *pieces, struct search *search)
{
    const struct mf_added_list *list = &tokenizer->fast->added;

    for (size_t i = 0; i < list->table_count; i++) {
        const struct mf_added *added = list->table[i];
        struct mf_str text = added->text;

        if (!(search->cooked ? added->cooked : added->raw) || !is_known(text))
            continue;
        if (search->cooked &&
            mf_normalize(pieces, &tokenizer->normalize, text, &text) != MF_OK)
            return failed(tokenizer);
        if (text.size > 0 &&
            add_pattern(tokenizer, search, added, text) != MF_OK)
            return failed(tokenizer);
    }
    return MF_OK;
}

/* The longest token that begins the text. */
static const struct pattern *longest(const struct search *search,
                                     struct mf_str text)
{
    const struct pattern *best = NULL;

    for (const struct pattern *at = search->head[(uint8_t)text.at[0]]; at;
         at = at->next)
        /* Of two with that text, the one that was added first. */
        if (at->text.size <= text.size &&
            (!best || at->text.size >= best->text.size) &&
            memcmp(at->text.at, text.at, at->text.size) == 0)
            best = at;
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
static void widen(unsigned flags, struct mf_str text, size_t least,
                  size_t *start, size_t *end)
{
    size_t taken;

    while ((flags & MF_ADDED_LSTRIP) && *start > least) {
        size_t at = before(text, *start);

        if (!mf_char_is_space(char_at(text, at, &taken)))
            break;
        *start = at;
    }
    if ((flags & MF_ADDED_LSTRIP) && *start < least)
        *start = least; /* the token before took white space after it */
    while ((flags & MF_ADDED_RSTRIP) && *end < text.size &&
           mf_char_is_space(char_at(text, *end, &taken)))
        *end += taken;
}

static enum mf_status put(struct mf_pieces *pieces,
                          const struct mf_text_piece *piece, size_t start,
                          size_t end, const struct mf_added *added)
{
    struct mf_text_piece part = { .at = piece->at + start,
                                  .size = (uint32_t)(end - start),
                                  .first = piece->first && start == 0,
                                  .added = added };

    return start < end ? mf_pieces_add(pieces, &part) : MF_OK;
}

static enum mf_status cut(struct mf_pieces *pieces, const struct search *search,
                          const struct mf_text_piece *piece)
{
    struct mf_str text = { piece->at, piece->size };
    size_t done = 0, next;

    for (size_t at = 0; at < text.size; at = next) {
        struct mf_str rest = { text.at + at, text.size - at };
        const struct pattern *found = longest(search, rest);
        const struct mf_added *added = found ? found->added : NULL;
        size_t start = at, end;

        next = at + 1;
        if (!added)
            continue;
        next = end = at + found->text.size;
        if ((search->split_special && added->listed) ||
            ((added->now & MF_ADDED_SINGLE_WORD) && !is_word(text, start, end)))
            continue;
        widen(added->now, text, done, &start, &end);
        if (put(pieces, piece, done, start, NULL) != MF_OK ||
            put(pieces, piece, start, end, added) != MF_OK)
            return pieces->env->error.status;
        done = end;
    }
    return put(pieces, piece, done, text.size, NULL);
}

enum mf_status mf_encoder_cut_added(struct mf_encoder *tokenizer,
                                    struct mf_pieces *pieces, bool cooked)
{
    struct search search = { .cooked = cooked,
                             .split_special =
                                 tokenizer->config.split_special == MF_TRUE };

    if (prepare(tokenizer, pieces, &search) != MF_OK)
        return failed(tokenizer);
    for (size_t i = 0; i < pieces->count; i++) {
        struct mf_text_piece piece = pieces->at[i];

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
