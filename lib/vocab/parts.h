/* SPDX-License-Identifier: MIT
 *
 * parts.h - a tokenizer's metadata while it is checked
 */
#ifndef MF_LIB_VOCAB_PARTS_H
#define MF_LIB_VOCAB_PARTS_H

#include "lib/vocab/items.h"
#include "lib/vocab/known.h"
#include "lib/vocab/token_set.h"

enum mf_vocab_array {
#define KEY(suffix, type)
#define ID(suffix, special)
#define ARRAY(NAME, suffix, types, expects) MF_VOCAB_##NAME,
#include "lib/vocab/keys.def"
#undef ARRAY
#undef ID
#undef KEY
    MF_VOCAB_ARRAYS
};

#define MF_VOCAB_IDS 17

/* A special token that a key names. */
struct mf_vocab_special {
    const struct mf_meta *meta;
    uint64_t id; /* in the vocabulary */
    int64_t type;
};

struct mf_vocab {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_known_tokenizer *tokenizer; /* NULL: missing or unknown */
    const struct mf_pre_tokenizer *pre;         /* likewise */
    /* NULL: missing, or not an array of the right type. */
    const struct mf_meta *array[MF_VOCAB_ARRAYS];
    uint64_t count; /* of tokens */
    struct mf_vocab_special
        special[MF_VOCAB_IDS]; /* those to be special tokens */
    size_t special_count;
};

/* What several elements of an array have in common, for one finding. */
struct mf_tally {
    uint64_t count, at, offset; /* how many, and the first one */
    struct mf_quoted text;
};
void mf_tally_add(struct mf_tally *tally, const struct mf_items *items);

/* " (12 such tokens)", or "" for one. */
struct mf_tally_text {
    char text[48];
};
struct mf_tally_text mf_tally_rest(const struct mf_tally *tally,
                                   const char *what);

static inline bool mf_vocab_is(const struct mf_vocab *vocab,
                               enum mf_known_tokenizer_kind kind)
{
    return vocab->tokenizer && vocab->tokenizer->kind == kind;
}

static inline bool mf_vocab_has_trait(const struct mf_vocab *vocab,
                                      unsigned trait)
{
    return vocab->pre && vocab->pre->traits & trait;
}

/* The row of a key of the tokenizer; NULL if it is missing. */
const struct mf_meta *mf_vocab_meta(const struct mf_vocab *vocab,
                                    const char *suffix);

/* The key itself, for a message about a row that is missing. */
struct mf_vocab_key {
    char text[64];
};
struct mf_vocab_key mf_vocab_key(const struct mf_vocab *vocab,
                                 const char *suffix);

/* keys.c: names, types, lengths and ids; fills in the rest of *vocab. */
void mf_vocab_check_keys(struct mf_vocab *vocab);

/* vocab.c: tokens without which llama.cpp aborts. */
void mf_vocab_check_needs(struct mf_vocab *vocab);

/* tokens.c: the tokens themselves, and merges with them. */
enum mf_status mf_vocab_check_tokens(struct mf_vocab *vocab);

/* merges.c: parts of merges that are not tokens, in one pass after another. */
struct mf_merges {
    struct mf_tally malformed, unknown;
    unsigned part; /* of the first unknown one: enum part of merges.c */
    struct mf_quoted unknown_text;
};
enum mf_status mf_merges_scan(struct mf_merges *merges,
                              const struct mf_vocab *vocab,
                              const struct mf_token_set *set);
void mf_merges_report(const struct mf_merges *merges,
                      const struct mf_vocab *vocab);

/* bytes.c: tokens for single bytes. */
struct mf_byte_tokens {
    uint64_t seen[4];   /* bit for each byte that is a token */
    uint64_t starts[4]; /* and for each one that a token begins with */
    struct mf_tally malformed, escapes;
};
void mf_byte_tokens_add(struct mf_byte_tokens *bytes,
                        const struct mf_vocab *vocab,
                        const struct mf_items *token, int64_t type);
void mf_byte_tokens_report(const struct mf_byte_tokens *bytes,
                           const struct mf_vocab *vocab);

/* charsmap.c: the table of replacements of a unigram tokenizer. */
enum mf_status mf_vocab_check_charsmap(struct mf_vocab *vocab);

#endif
