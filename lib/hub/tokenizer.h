/* SPDX-License-Identifier: MIT
 *
 * tokenizer.h - the tokenizer of a Hugging Face model, as metadata of GGUF
 *
 * A vocabulary stays in tokenizer.json: where it begins is known, and it is
 * told from there whenever it is asked for.
 */
#ifndef MF_LIB_TOKENIZER_H
#define MF_LIB_TOKENIZER_H

#include "lib/draft/draft.h"
#include "lib/hub/config.h"
#include "lib/hub/sidecar.h"

#define MF_TOKEN_MAX 511 /* bytes of an added token */

struct mf_added { /* a token that is no product of merges */
    struct mf_added *next;
    uint64_t id;
    struct mf_str text; /* at NULL: not said yet */
    bool special, id_said;
};

struct mf_tokenizer {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;
    uint64_t file_size;
    uint64_t vocabulary_at, merges_at; /* 0: there is none */
    uint64_t vocabulary_count, merge_count;
    uint64_t token_count;   /* as many as the embedding has */
    struct mf_added *added; /* by their ids */
    const char *split;      /* tokenizer.ggml.pre */
    bool adds_bos;          /* llama.cpp does, where it is told nothing */
    /* What stands before and behind a text; "": nothing. */
    char before[MF_TOKEN_MAX + 1], behind[MF_TOKEN_MAX + 1];
};

/* Adds the tokenizer that lies beside the model to the draft, a GGUF file.
 * Refused where it is not certain that it will be the same one. */
enum mf_status mf_tokenizer_add(struct mf_draft *draft,
                                const struct mf_model *model,
                                const struct mf_config *config);

/* ---- between tokenizer*.c ---- */

/* What tokenizer.json says, all but what the vocabulary and merges hold. */
enum mf_status mf_tokenizer_read(struct mf_tokenizer *tokenizer);

/* That the vocabulary and merges are what will be told of them. */
enum mf_status mf_tokenizer_check(struct mf_tokenizer *tokenizer);

/* For struct mf_entry: elements is the tokenizer. */
mf_tell mf_tokenizer_tell_tokens;
mf_tell mf_tokenizer_tell_types;
mf_tell mf_tokenizer_tell_merges;

#endif
