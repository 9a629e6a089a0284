/* SPDX-License-Identifier: MIT
 *
 * former.h - the tokenizer of a Hugging Face model as metadata of GGUF
 *
 * tokenizer.json is read twice.  The first pass keeps what is small (special
 * and added tokens, how text is cut) and the offsets of the vocabulary and the
 * merges.  These, megabytes of text, are checked where they are, and streamed
 * from there into each header that is written.
 */
#ifndef MF_LIB_FORMER_H
#define MF_LIB_FORMER_H

#include "lib/draft/draft.h"
#include "lib/folder/sidecar.h"

#define MF_TOKEN_MAX 511 /* bytes of an added token */

struct mf_added_token { /* a token that merges do not produce */
    struct mf_added_token *next;
    uint64_t id;
    struct mf_str text; /* at NULL: not read yet */
    bool special, has_id;
};

struct mf_tokenizer {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;
    uint64_t file_size;
    uint64_t vocabulary_offset, merges_offset; /* 0: missing */
    uint64_t vocabulary_count, merge_count;
    uint64_t token_count;         /* rows of the embedding */
    struct mf_added_token *added; /* by their ids */
    const char *pre;              /* tokenizer.ggml.pre */
    bool adds_bos; /* llama.cpp does, unless the file says otherwise */
    /* Tokens before and after each text; "": none. */
    char prefix[MF_TOKEN_MAX + 1], suffix[MF_TOKEN_MAX + 1];
};

enum { MF_ID_BOS, MF_ID_EOS, MF_ID_UNKNOWN, MF_ID_PADDING, MF_ID_COUNT };

struct mf_tokenizer_ids { /* what config.json says about the vocabulary */
    uint64_t token_count; /* rows of the embedding */
    struct {
        bool given;
        uint64_t id;
    } of[MF_ID_COUNT];
};

/* Adds the tokenizer next to the model to the draft, a GGUF file.  Refused
 * where it is not certain that llama.cpp would produce the same tokens. */
enum mf_status mf_tokenizer_add(struct mf_draft *draft,
                                const struct mf_model *model,
                                const struct mf_tokenizer_ids *ids);

/* ---- between former*.c ---- */

/* The first pass over tokenizer.json. */
enum mf_status mf_tokenizer_read(struct mf_tokenizer *tokenizer);

/* Checks and counts the vocabulary and the merges. */
enum mf_status mf_tokenizer_check(struct mf_tokenizer *tokenizer);

/* For struct mf_entry, whose elements is the tokenizer. */
mf_read_entry mf_tokenizer_stream_tokens;
mf_read_entry mf_tokenizer_stream_types;
mf_read_entry mf_tokenizer_stream_merges;

#endif
