/* SPDX-License-Identifier: MIT
 *
 * parts.h - a tokenizer's metadata while it is checked
 */
#ifndef MF_LIB_VOCAB_PARTS_H
#define MF_LIB_VOCAB_PARTS_H

#include "lib/model/model.h"
#include "lib/vocab/known.h"
#include "lib/vocab/token_set.h"

/* ---- the elements of a metadata array, one after the other ---- */

/* Where a long text is cut into pieces depends on the window, so its hash is
 * made of parts of this size, each one's the seed of the next. */
#define MF_ITEM_PART ((size_t)1024)

struct mf_items {
    struct mf_values *values;
    uint64_t seed;  /* of the hashes of texts */
    uint64_t at;    /* the number of the element, from 0 on */
    uint64_t ahead; /* elements to come */
    /* The element: */
    uint64_t offset; /* in the file */
    union mf_number number;
    /* A text, as a program in C reads it: up to the first NUL. */
    struct mf_str text; /* at most its first HEAD_MAX bytes if it is long */
    uint64_t size, hash;
    bool has_nul; /* more bytes follow after the text */
    bool whole;   /* text is all of it, and at most MF_ITEM_WHOLE bytes */
    char head[128];
    /* private: bytes of a long text that are not in the hash yet */
    size_t part_size;
    char part[MF_ITEM_PART];
};

/* The longest text that is given whole; any window has room for it. */
#define MF_ITEM_WHOLE MF_WINDOW_LEAST

/* Begins with the element before the first.  meta is an array of numbers or of
 * strings. */
enum mf_status mf_items_open(struct mf_items *items, struct mf_model *model,
                             const struct mf_meta *meta);
void mf_items_close(struct mf_items *items);

/* Goes to the next element; false at the end, or after mf_fail. */
bool mf_items_next(struct mf_items *items);

/* The hash that an element with this text has. */
uint64_t mf_item_hash(struct mf_str text, uint64_t seed);

/* Whether element a of the array has the same text as element b. */
enum mf_status mf_items_same(struct mf_model *model, const struct mf_meta *meta,
                             uint64_t a, uint64_t b, bool *same);

/* What llama.cpp calls an empty token. */
struct mf_empty_name {
    char text[32];
};
struct mf_empty_name mf_empty_name(uint64_t token);

/* ---- the keys ---- */

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
