/* SPDX-License-Identifier: MIT
 *
 * encode.h - running the tokenizer of a Hugging Face model over a text
 *
 * llama.cpp has many ways of cutting a text built in, and a file names the one
 * it needs (tokenizer.ggml.pre).  Hugging Face describes each step as data
 * instead.  The converter tells which name fits by running the tokenizer over
 * one text: the ids that come out have a SHA-256 that it knows.  This room does
 * the same.  In: the folder of an open model.  Out: ids, and that name.
 *
 *     pre             the text, and the names by their hashes
 *     fast, added     what the files say: the class (classes.def), added
 *                     tokens, where the texts of the vocabulary are
 *     load, class     that, made ready to run
 *     cut             added tokens, found before anything else
 *     normalize       the steps before the model,
 *     split           each over pieces of a text
 *     regex, chars    expressions that these use, over few characters
 *     text_vocab      the tokens that are parts of a text
 *     model           BPE, WordPiece, a list of words
 *     post            what a text gets at its ends
 *
 * Invariants.
 *   - The result is the same as AutoTokenizer's of transformers 4.57 with
 *     tokenizers 0.22, or an error: an unknown step is refused by its name.
 *   - A vocabulary stays in its file.  Only tokens that are part of the text
 *     are kept, and only their merges: what a tokenizer takes depends on the
 *     text and on the added tokens, which are limited.
 *   - Texts have the characters of chars.def, among them the characters of the
 *     converter's text; any other is an error.  So a class of characters is a
 *     set of bits, and no table of Unicode is needed.
 *   - Nothing in a file makes a loop or a stack longer than a limit says.
 */
#ifndef MF_LIB_ENCODE_H
#define MF_LIB_ENCODE_H

#include "lib/base/error.h"
#include "lib/base/heap.h"

#define MF_NO_TOKEN UINT32_MAX

struct mf_fast;    /* fast.h: the files */
struct mf_encoder; /* a tokenizer */

/* A tokenizer that can be run, its own memory in the arena.  fast was opened;
 * its vocabulary is read with the first text.  NULL after mf_fail. */
struct mf_encoder *mf_encoder_open(struct mf_fast *fast,
                                   struct mf_arena *arena);

/* The ids of a text, in the arena of the tokenizer.  with_special: also those
 * that a text gets at its beginning and end. */
enum mf_status mf_encoder_run(struct mf_encoder *tokenizer, struct mf_str text,
                              bool with_special, uint32_t **ids, size_t *count);

/* tokenizer.ggml.pre as llama.cpp's converter finds it; an error where it knows
 * none.  fast was opened, and its vocabulary is read by this. */
enum mf_status mf_encoder_pre(struct mf_fast *fast, const char **pre);

#endif
