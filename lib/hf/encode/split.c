/* SPDX-License-Identifier: MIT
 *
 * split.c - the steps of a pre-tokenizer
 */
#include "lib/hf/encode/pieces.h"

#include "lib/base/str.h"
#include "lib/base/text.h"

struct splitting { /* one step */
    struct mf_pieces *pieces;
    const struct mf_node *step;
    const struct mf_regex *regex;
    struct mf_str plain;
    enum mf_behavior behavior;
    bool (*fits)(uint16_t row);
    bool invert;
    bool prefix_space, by_regex; /* ByteLevel */
    struct mf_str replacement;   /* Metaspace */
    bool always, never, cuts;
};

static enum mf_status failed(const struct splitting *splitting)
{
    return splitting->pieces->env->error.status;
}

/* GPT-2's, which a ByteLevel uses unless it says otherwise. */
static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|"
                           " ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* head before the text. */
static enum mf_status put_before(struct splitting *splitting,
                                 struct mf_text_piece *piece,
                                 struct mf_str head)
{
    char *at = mf_arena_text(splitting->pieces->arena, head.size + piece->size);

    if (!at)
        return failed(splitting);
    memcpy(at, head.at, head.size);
    memcpy(at + head.size, piece->at, piece->size);
    piece->at = at;
    piece->size += (uint32_t)head.size;
    return MF_OK;
}

/* ---- by patterns and characters ---- */

static enum mf_status cut_pattern(struct splitting *splitting,
                                  const struct mf_text_piece *piece)
{
    struct mf_pieces *pieces = splitting->pieces;

    if (mf_match_all(pieces, (struct mf_str){ piece->at, piece->size },
                     splitting->regex, splitting->plain) != MF_OK)
        return failed(splitting);
    for (size_t i = 0; i < pieces->match_count && splitting->invert; i++)
        pieces->match[i].match = !pieces->match[i].match;
    return mf_pieces_cut(pieces, piece, splitting->behavior);
}

static enum mf_status cut_chars(struct splitting *splitting,
                                const struct mf_text_piece *piece)
{
    if (mf_match_chars(splitting->pieces,
                       (struct mf_str){ piece->at, piece->size },
                       splitting->fits) != MF_OK)
        return failed(splitting);
    return mf_pieces_cut(splitting->pieces, piece, splitting->behavior);
}

/* Runs of words and of what is neither word nor space, each a piece. */
static enum mf_status cut_words(struct splitting *splitting,
                                const struct mf_text_piece *piece)
{
    struct mf_pieces *pieces = splitting->pieces;
    const struct mf_str text = { piece->at, piece->size };
    size_t start = 0, i = 0;

    if (mf_pieces_chars(pieces, text) != MF_OK)
        return failed(splitting);
    mf_match_begin(pieces);
    while (i < pieces->char_count) {
        bool space = mf_char_is_space(pieces->row[i]);
        bool word = mf_char_joins_words(pieces->row[i]);

        start = i;
        while (i < pieces->char_count &&
               mf_char_is_space(pieces->row[i]) == space &&
               mf_char_joins_words(pieces->row[i]) == word)
            i++;
        if (mf_match_add(pieces, pieces->offset[start], pieces->offset[i]) !=
            MF_OK)
            return failed(splitting);
        pieces->match[pieces->match_count - 1].match = space;
    }
    return mf_pieces_cut(pieces, piece, MF_BEHAVIOR_REMOVED);
}

/* BERT's: at white space, which goes, and around punctuation. */
static enum mf_status cut_bert(struct splitting *splitting,
                               const struct mf_text_piece *piece)
{
    struct mf_pieces *pieces = splitting->pieces;
    const struct mf_str text = { piece->at, piece->size };
    size_t start = 0;

    if (mf_pieces_chars(pieces, text) != MF_OK)
        return failed(splitting);
    for (size_t i = 0; i <= pieces->char_count; i++) {
        bool ends = i == pieces->char_count;
        bool space = !ends && mf_char_is_space(pieces->row[i]);
        bool alone = !ends && mf_char_is_punctuation(pieces->row[i]);
        struct mf_text_piece part = { .at = piece->at + pieces->offset[start],
                                      .size = pieces->offset[i] -
                                              pieces->offset[start] };
        struct mf_text_piece mark = { .at = piece->at + pieces->offset[i] };

        if (!ends && !space && !alone)
            continue;
        mark.size = alone ? pieces->offset[i + 1] - pieces->offset[i] : 0;
        if (mf_pieces_add(pieces, &part) != MF_OK ||
            mf_pieces_add(pieces, &mark) != MF_OK)
            return failed(splitting);
        start = i + 1;
    }
    return MF_OK;
}

/* ---- ByteLevel and Metaspace ---- */

static enum mf_status cut_bytes(struct splitting *splitting,
                                const struct mf_text_piece *piece)
{
    struct mf_pieces *pieces = splitting->pieces;
    const struct mf_str space = { " ", 1 };
    struct mf_text_piece own = *piece;
    size_t first = pieces->made_count;

    if (splitting->prefix_space && own.at[0] != ' ' &&
        put_before(splitting, &own, space) != MF_OK)
        return failed(splitting);
    if (!splitting->by_regex && mf_pieces_add(pieces, &own) != MF_OK)
        return failed(splitting);
    if (splitting->by_regex && cut_pattern(splitting, &own) != MF_OK)
        return failed(splitting);
    for (size_t i = first; i < pieces->made_count; i++) {
        struct mf_text_piece *part = &pieces->made[i];
        struct mf_str text;

        if (mf_bytes_to_chars(pieces, (struct mf_str){ part->at, part->size },
                              &text) != MF_OK)
            return failed(splitting);
        part->at = text.at;
        part->size = (uint32_t)text.size;
    }
    return MF_OK;
}

/* The piece with the replacement for each space. */
static enum mf_status replace_spaces(struct splitting *splitting,
                                     struct mf_text_piece *piece)
{
    struct mf_str by = splitting->replacement;
    size_t spaces = 0, size = 0;
    char *at;

    for (size_t i = 0; i < piece->size; i++)
        spaces += piece->at[i] == ' ';
    at =
        mf_arena_text(splitting->pieces->arena, piece->size + spaces * by.size);
    if (!at)
        return failed(splitting);
    for (size_t i = 0; i < piece->size; i++) {
        bool space = piece->at[i] == ' ';

        memcpy(at + size, space ? by.at : piece->at + i, space ? by.size : 1);
        size += space ? by.size : 1;
    }
    piece->at = at;
    piece->size = (uint32_t)size;
    return MF_OK;
}

static enum mf_status cut_spaces(struct splitting *splitting,
                                 const struct mf_text_piece *piece)
{
    struct mf_str by = splitting->replacement;
    struct mf_text_piece own = *piece;
    bool begins;

    if (replace_spaces(splitting, &own) != MF_OK)
        return failed(splitting);
    begins = own.size >= by.size && memcmp(own.at, by.at, by.size) == 0;
    if (!splitting->never && !begins && (splitting->always || own.first) &&
        put_before(splitting, &own, by) != MF_OK)
        return failed(splitting);
    if (!splitting->cuts)
        return mf_pieces_add(splitting->pieces, &own);
    if (mf_match_all(splitting->pieces, (struct mf_str){ own.at, own.size },
                     NULL, by) != MF_OK)
        return failed(splitting);
    return mf_pieces_cut(splitting->pieces, &own, MF_BEHAVIOR_MERGED_WITH_NEXT);
}

/* ---- what a step says ---- */

static enum mf_status read_behavior(struct splitting *splitting, bool needed)
{
    static const char *const names[] = {
        [MF_BEHAVIOR_REMOVED] = "Removed",
        [MF_BEHAVIOR_ISOLATED] = "Isolated",
        [MF_BEHAVIOR_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
        [MF_BEHAVIOR_MERGED_WITH_NEXT] = "MergedWithNext",
        [MF_BEHAVIOR_CONTIGUOUS] = "Contiguous",
    };
    struct mf_str name = mf_node_text(splitting->step, "behavior");

    splitting->behavior = MF_BEHAVIOR_ISOLATED;
    if (!needed && !mf_node_at(splitting->step, "behavior"))
        return MF_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_is(name, names[i])) {
            splitting->behavior = (enum mf_behavior)i;
            return MF_OK;
        }
    return mf_step_refuse(splitting->pieces->env, splitting->step, "behavior");
}

static enum mf_status read_pattern(struct splitting *splitting)
{
    struct mf_env *env = splitting->pieces->env;

    if (!splitting->regex && !splitting->plain.at)
        return mf_step_refuse(env, splitting->step, "pattern");
    if (mf_step_flag(env, splitting->step, "invert", false,
                     &splitting->invert) != MF_OK)
        return failed(splitting);
    return read_behavior(splitting, true);
}

static enum mf_status read_punctuation(struct splitting *splitting)
{
    splitting->fits = mf_char_is_punctuation;
    return read_behavior(splitting, false);
}

static enum mf_status read_blanks(struct splitting *splitting)
{
    splitting->fits = mf_char_is_space;
    splitting->behavior = MF_BEHAVIOR_REMOVED;
    return MF_OK;
}

static enum mf_status read_digits(struct splitting *splitting)
{
    bool each;

    splitting->fits = mf_char_is_number;
    if (mf_step_flag(splitting->pieces->env, splitting->step,
                     "individual_digits", false, &each) != MF_OK)
        return failed(splitting);
    splitting->behavior = each ? MF_BEHAVIOR_ISOLATED : MF_BEHAVIOR_CONTIGUOUS;
    return MF_OK;
}

static enum mf_status read_delimiter(struct splitting *splitting)
{
    splitting->behavior = MF_BEHAVIOR_REMOVED;
    return mf_step_text(splitting->pieces->env, splitting->step, "delimiter",
                        &splitting->plain);
}

static enum mf_status read_bytes(struct splitting *splitting)
{
    struct mf_env *env = splitting->pieces->env;
    const struct mf_str pattern = { gpt2, sizeof(gpt2) - 1 };

    if (mf_step_flag(env, splitting->step, "add_prefix_space", true,
                     &splitting->prefix_space) != MF_OK ||
        mf_step_flag(env, splitting->step, "use_regex", true,
                     &splitting->by_regex) != MF_OK)
        return failed(splitting);
    splitting->behavior = MF_BEHAVIOR_ISOLATED;
    if (!splitting->by_regex)
        return MF_OK;
    splitting->regex = mf_regex_make(env, splitting->pieces->arena, pattern);
    return failed(splitting);
}

static enum mf_status read_metaspace(struct splitting *splitting)
{
    struct mf_env *env = splitting->pieces->env;
    const struct mf_node *step = splitting->step;
    struct mf_str scheme = mf_node_text(step, "prepend_scheme");
    const struct mf_node *prefix = mf_node_at(step, "add_prefix_space");
    bool space = true;
    uint32_t code;

    if (mf_step_text(env, step, "replacement", &splitting->replacement) !=
            MF_OK ||
        mf_step_flag(env, step, "split", true, &splitting->cuts) != MF_OK)
        return failed(splitting);
    if (splitting->replacement.size == 0 ||
        mf_utf8_next(splitting->replacement.at, splitting->replacement.size,
                     &code) != splitting->replacement.size)
        return mf_step_refuse(env, step, "replacement");
    if (prefix && prefix->kind != MF_NODE_NULL &&
        mf_step_flag(env, step, "add_prefix_space", true, &space) != MF_OK)
        return failed(splitting);
    splitting->always = !scheme.at || mf_str_is(scheme, "always");
    splitting->never = mf_str_is(scheme, "never");
    if (!splitting->always && !splitting->never && !mf_str_is(scheme, "first"))
        return mf_step_refuse(env, step, "prepend_scheme");
    return !space && !splitting->never
               ? mf_step_refuse(env, step, "add_prefix_space")
               : MF_OK;
}

static const struct kind {
    const char *type;
    enum mf_status (*read)(struct splitting *splitting);
    enum mf_status (*cut)(struct splitting *splitting,
                          const struct mf_text_piece *piece);
} kinds[] = {
    { "Split", read_pattern, cut_pattern },
    { "ByteLevel", read_bytes, cut_bytes },
    { "Metaspace", read_metaspace, cut_spaces },
    { "Digits", read_digits, cut_chars },
    { "Punctuation", read_punctuation, cut_chars },
    { "BertPreTokenizer", NULL, cut_bert },
    { "Whitespace", NULL, cut_words },
    { "WhitespaceSplit", read_blanks, cut_chars },
    { "CharDelimiterSplit", read_delimiter, cut_pattern },
};

static enum mf_status run(struct splitting *splitting, const struct kind *kind)
{
    struct mf_pieces *pieces = splitting->pieces;

    if (kind->read && kind->read(splitting) != MF_OK)
        return failed(splitting);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct mf_text_piece *piece = &pieces->at[i];

        if ((piece->added ? mf_pieces_add(pieces, piece)
                          : kind->cut(splitting, piece)) != MF_OK)
            return failed(splitting);
    }
    mf_pieces_turn(pieces);
    return MF_OK;
}

enum mf_status mf_split(struct mf_pieces *pieces, const struct mf_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        struct splitting splitting = { .pieces = pieces,
                                       .step = steps->node[i],
                                       .regex = steps->regex[i],
                                       .plain = steps->plain[i] };
        struct mf_str type = mf_node_text(steps->node[i], "type");
        size_t k = 0;

        while (k < sizeof(kinds) / sizeof(*kinds) &&
               !mf_str_is(type, kinds[k].type))
            k++;
        if (k == sizeof(kinds) / sizeof(*kinds))
            return mf_step_refuse(pieces->env, steps->node[i], "type");
        if (run(&splitting, &kinds[k]) != MF_OK)
            return pieces->env->error.status;
    }
    return MF_OK;
}
