/* SPDX-License-Identifier: MIT
 *
 * text_vocab.h - tokens and merges of a vocabulary that are parts of a text
 *
 * All texts that the model is to cut are put into one pool, whose suffixes are
 * sorted: whether a token is a part of it takes a few comparisons, and the
 * first suffix that begins with it, together with its size, is its name.  Then
 * the vocabulary, and after it the merges, go by once.
 */
#ifndef MF_LIB_TEXT_VOCAB_H
#define MF_LIB_TEXT_VOCAB_H

#include "lib/hf/encode/load.h"
#include "lib/io/reader.h"

#define MF_POOL_MAX ((size_t)1 << 15) /* bytes of all different texts */
/* Tokens that are parts of the texts, and merges of those; the converter's text
 * has some thousands of either. */
#define MF_FOUND_MAX ((size_t)1 << 17)

struct mf_text_vocab_part { /* a token that is a part of the pool */
    uint32_t suffix, size;
    uint32_t id;    /* MF_NO_TOKEN: the slot is free */
    bool continues; /* it had the prefix of what does not begin a word */
};

struct mf_text_vocab_merge {
    uint32_t left, right; /* ids; left MF_NO_TOKEN: the slot is free */
    uint32_t id;
    uint64_t rank;
};

struct mf_text_vocab_table { /* open addressing; slots are a power of two */
    void *slot;
    size_t slots, count;
};

struct mf_text_vocab {
    struct mf_encoder *tokenizer;
    struct mf_env *env;
    char *pool;
    size_t size;
    uint32_t *suffix; /* of the pool, sorted */
    struct mf_text_vocab_table parts, merges;
    uint32_t unk, byte[256]; /* ids; MF_NO_TOKEN: the vocabulary lacks it */
    char *text;              /* of the halves of a merge */
};

/* Must be released even after a failure. */
enum mf_status mf_text_vocab_init(struct mf_text_vocab *vocab,
                                  struct mf_encoder *tokenizer);
void mf_text_vocab_release(struct mf_text_vocab *vocab);

/* Puts a text into the pool, unless it is there already. */
enum mf_status mf_text_vocab_add(struct mf_text_vocab *vocab,
                                 struct mf_str text);

/* Reads the vocabulary: parts, and the ids of added tokens.  Again, where the
 * pool was given more. */
enum mf_status mf_text_vocab_read(struct mf_text_vocab *vocab);

/* Notes a merge; the halves are in one buffer, which may be changed.  offset:
 * of the merge, for messages. */
enum mf_status mf_text_vocab_note_merge(struct mf_text_vocab *vocab,
                                        const struct mf_str half[2],
                                        uint64_t rank, uint64_t offset);

/* Reads the merges of a BPE (text_vocab_merges.c). */
enum mf_status mf_text_vocab_read_merges(struct mf_text_vocab *vocab);

/* The id of a token that is a part of the pool; MF_NO_TOKEN: none. */
uint32_t mf_text_vocab_find(const struct mf_text_vocab *vocab,
                            struct mf_str text, bool continues);

/* What two ids become; NULL: nothing. */
const struct mf_text_vocab_merge *
mf_text_vocab_merge(const struct mf_text_vocab *vocab, uint32_t left,
                    uint32_t right);

/* ---- model.c ---- */

struct mf_token_ids {
    struct mf_env *env;
    uint32_t *at; /* capacity */
    size_t count, capacity;
};

enum mf_status mf_token_ids_add(struct mf_token_ids *ids, uint32_t id);

/* Puts what the model looks up for a piece into the pool. */
enum mf_status mf_model_prepare(struct mf_text_vocab *vocab,
                                struct mf_str piece);

/* The piece without characters that are left out because the vocabulary, which
 * was read, has neither them nor a token for unknown ones: merges join what is
 * around them.  In the arena, or the piece itself; at NULL after mf_fail. */
struct mf_str mf_model_known(struct mf_text_vocab *vocab, struct mf_str piece);

/* Adds the ids of a piece. */
enum mf_status mf_model_cut(struct mf_text_vocab *vocab, struct mf_str piece,
                            struct mf_token_ids *ids);

/* ---- post.c ---- */

/* The ids that a text gets at its beginning and its end. */
enum mf_status mf_post_process(struct mf_encoder *tokenizer,
                               struct mf_token_ids *ids);

/* ---- the lines of a text file, and their words, as Python reads them ---- */

#define MF_LINE_MAX 4096

struct mf_lines {
    struct mf_reader *reader;
    bool ended; /* the line had an end: the last one of a file may lack it */
    char text[MF_LINE_MAX];
};

/* The next line without its end, which is \n, \r or both; false: none is left,
 * or after mf_fail: one is too long, or not UTF-8. */
bool mf_lines_next(struct mf_lines *lines, struct mf_str *line);

/* The next word of a line, which gets shorter; size 0: none. */
struct mf_str mf_line_word(struct mf_str *line);

#endif
