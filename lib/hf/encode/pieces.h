/* SPDX-License-Identifier: MIT
 *
 * pieces.h - a text, cut into pieces by one step after the other
 *
 * Each step makes a new list of pieces from the one before.  A piece that is an
 * added token is left as it is by all of them; an empty one is dropped.
 */
#ifndef MF_LIB_PIECES_H
#define MF_LIB_PIECES_H

#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/regex.h"
#include "lib/json/tree.h"

#define MF_TEXT_MAX       8192 /* bytes of a piece */
#define MF_TEXT_PIECE_MAX 8192
#define MF_STEP_MAX       64 /* steps of a normalizer or pre-tokenizer */

struct mf_text_piece {
    const char *at;
    uint32_t size;
    bool first;                   /* begins where the text does */
    const struct mf_added *added; /* NULL: a piece for the next step */
};

struct mf_match { /* a part of a piece */
    uint32_t start, end;
    bool match;
};

struct mf_pieces {
    struct mf_env *env;
    struct mf_arena *arena; /* texts that steps make */
    struct mf_text_piece *at, *made;
    size_t count, made_count;
    struct mf_match *match; /* of the piece that is being cut */
    size_t match_count;
    uint16_t *row;    /* its characters, and where they begin */
    uint32_t *offset; /* one more than there are */
    size_t char_count;
    struct mf_matcher matcher;
};

/* Must be released even after a failure. */
enum mf_status mf_pieces_init(struct mf_pieces *pieces, struct mf_env *env,
                              struct mf_arena *arena);
void mf_pieces_release(struct mf_pieces *pieces);

/* Adds a piece to the list that is being made. */
enum mf_status mf_pieces_add(struct mf_pieces *pieces,
                             const struct mf_text_piece *piece);

/* The list that was made becomes the current one. */
void mf_pieces_turn(struct mf_pieces *pieces);

/* The characters of a text. */
enum mf_status mf_pieces_chars(struct mf_pieces *pieces, struct mf_str text);

/* Begins the list of matches, and adds one: what is between it and the one
 * before is a part that does not match.  end is called last, with the size of
 * the text. */
void mf_match_begin(struct mf_pieces *pieces);
enum mf_status mf_match_add(struct mf_pieces *pieces, size_t start, size_t end);
enum mf_status mf_match_end(struct mf_pieces *pieces, size_t size);

/* All matches of an expression, or of a plain text where regex is NULL. */
enum mf_status mf_match_all(struct mf_pieces *pieces, struct mf_str text,
                            const struct mf_regex *regex, struct mf_str plain);

/* Each character that fits, as a match. */
enum mf_status mf_match_chars(struct mf_pieces *pieces, struct mf_str text,
                              bool (*fits)(uint16_t row));

enum mf_behavior {
    MF_BEHAVIOR_REMOVED,
    MF_BEHAVIOR_ISOLATED,
    MF_BEHAVIOR_MERGED_WITH_PREVIOUS,
    MF_BEHAVIOR_MERGED_WITH_NEXT,
    MF_BEHAVIOR_CONTIGUOUS
};

/* Adds the parts of a piece that its matches give. */
enum mf_status mf_pieces_cut(struct mf_pieces *pieces,
                             const struct mf_text_piece *piece,
                             enum mf_behavior behavior);

/* ---- steps ---- */

/* The steps of a normalizer or pre-tokenizer, whose sequences are taken apart.
 * list: the key of a sequence's steps. */
struct mf_steps {
    const struct mf_node *node[MF_STEP_MAX];
    struct mf_regex *regex[MF_STEP_MAX]; /* of those that have one */
    struct mf_str plain[MF_STEP_MAX];    /* a pattern that is plain text */
    size_t count;
};

enum mf_status mf_steps_make(struct mf_env *env, struct mf_arena *arena,
                             const struct mf_node *root, const char *list,
                             struct mf_steps *steps);

/* MF_ERR_UNSUPPORTED: a step that is not known, or a value of it. */
enum mf_status mf_step_refuse(struct mf_env *env, const struct mf_node *step,
                              const char *key);

/* true and false as key says, where it is missing as otherwise says. */
enum mf_status mf_step_flag(struct mf_env *env, const struct mf_node *step,
                            const char *key, bool otherwise, bool *out);

/* A string that must be there. */
enum mf_status mf_step_text(struct mf_env *env, const struct mf_node *step,
                            const char *key, struct mf_str *out);

/* The text after all steps of a normalizer, in the arena of pieces. */
enum mf_status mf_normalize(struct mf_pieces *pieces,
                            const struct mf_steps *steps, struct mf_str text,
                            struct mf_str *out);

/* All steps of a pre-tokenizer. */
enum mf_status mf_split(struct mf_pieces *pieces, const struct mf_steps *steps);

/* The text with each byte as the character that stands for it. */
enum mf_status mf_bytes_to_chars(struct mf_pieces *pieces, struct mf_str text,
                                 struct mf_str *out);

#endif
