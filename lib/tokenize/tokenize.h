/* SPDX-License-Identifier: MIT
 *
 * tokenize.h - running the tokenizer of a Hugging Face model over a text
 *
 * llama.cpp has many ways of cutting a text built in, and a file names the one
 * it needs (tokenizer.ggml.pre).  Hugging Face describes each step as data
 * instead.  The converter tells which name fits by running the tokenizer over
 * one text: the ids that come out have a SHA-256 that it knows.  This room does
 * the same.  In: the folder of an open model.  Out: ids, and that name.
 *
 *     pre             the text, and the names by their hashes (pre.def)
 *     load, config    tokenizer.json, without its vocabulary, and
 *                     tokenizer_config.json
 *     class           what loading changes in them (classes.def)
 *     added           added tokens, found before anything else
 *     normalize       the steps before the model,
 *     split           each over pieces of a text
 *     regex, chars    expressions that these use, over few characters
 *     vocab, model    the vocabulary; BPE, WordPiece, a list of words
 *     post            what a text gets at its ends
 *
 * Invariants.
 *   - The result is that of AutoTokenizer of transformers 4.57 with tokenizers
 *     0.22, or an error: a step that is not known is refused by its name.
 *   - A vocabulary stays in its file.  Only those of its tokens are kept that
 *     are part of the text, and only merges of those: what a tokenizer takes
 *     depends on the text and on the added tokens, which are limited.
 *   - Texts have the characters of chars.def, those of the converter's text
 *     among them; another one is an error.  So a class of characters is a set
 *     of bits, and no table of Unicode is needed.
 *   - Nothing in a file makes a loop or a stack longer than a limit says.
 */
#ifndef MF_LIB_TOKENIZE_H
#define MF_LIB_TOKENIZE_H

#include "lib/json/tree.h"
#include "lib/model/model.h"

/* A token that is found in a text as it is, as transformers knows it after
 * loading: what tokenizer.json lists, and what tokenizer_config.json adds. */
struct mf_tokenize_added {
    struct mf_tokenize_added *next; /* in the order in which they are added */
    struct mf_str text;             /* terminated */
    uint32_t id; /* MF_NO_TOKEN before the vocabulary was read */
    bool special, normalized, lstrip, rstrip, single_word;
    bool raw, cooked;     /* found before normalizing, and after */
    bool listed_special;  /* one of the list of special tokens */
    struct mf_str normal; /* cooked: its normalized text */
    struct mf_tokenize_added
        *same; /* next with that first byte, for the search */
};

#define MF_NO_TOKEN UINT32_MAX

struct mf_tokenize; /* a tokenizer */

/* Loads the tokenizer of the model's folder, all of it into the arena.  config:
 * config.json as it is, NULL where there is none; says the class of a tokenizer
 * whose tokenizer_config.json does not.  NULL after mf_fail. */
struct mf_tokenize *mf_tokenize_open(const struct mf_model *model,
                                     struct mf_arena *arena,
                                     const struct mf_node *config);

/* The ids of a text, in the arena of the tokenizer.  with_special: also those
 * that a text gets at its beginning and end. */
enum mf_status mf_tokenize_encode(struct mf_tokenize *tokenizer,
                                  struct mf_str text, bool with_special,
                                  uint32_t **ids, size_t *count);

/* tokenizer.ggml.pre as llama.cpp's converter finds it for the folder of the
 * model; an error where it knows none.  What is read goes into memory that is
 * released again.  config: see mf_tokenize_open. */
enum mf_status mf_tokenize_pre(const struct mf_model *model,
                               const struct mf_node *config, const char **pre);

#endif
