/* SPDX-License-Identifier: MIT
 *
 * known.h - the tokenizers, pre-tokenizers and types of tokens that llama.cpp
 * v0.5.0 knows
 */
#ifndef MF_LIB_KNOWN_H
#define MF_LIB_KNOWN_H

#include "lib/base/error.h"

enum mf_known_tokenizer_kind {
    MF_TOKENIZER_NONE,   /* no tokens: a model of sound, say */
    MF_TOKENIZER_SPM,    /* sentencepiece: pairs by score */
    MF_TOKENIZER_WPM,    /* word pieces */
    MF_TOKENIZER_BPE,    /* byte pairs, by the order of merges */
    MF_TOKENIZER_UGM,    /* unigrams, by score */
    MF_TOKENIZER_RWKV,   /* the longest token that fits */
    MF_TOKENIZER_PLAMO2, /* PLaMo-2 */
    MF_TOKENIZER_TEST    /* llama.cpp's own, for tests */
};

/* Values of tokenizer.ggml.token_type. */
enum mf_token_type {
    MF_TOKEN_UNDEFINED,
    MF_TOKEN_NORMAL,
    MF_TOKEN_UNKNOWN,
    MF_TOKEN_CONTROL,
    MF_TOKEN_USER_DEFINED,
    MF_TOKEN_UNUSED,
    MF_TOKEN_BYTE,
    MF_TOKEN_TYPES
};

/* A row of tokenizers.def. */
struct mf_known_tokenizer {
    const char *name;
    enum mf_known_tokenizer_kind kind;
    int64_t bos, eos, unknown, separator;
    uint64_t longest;
};

/* Bits of mf_pre_tokenizer.traits. */
enum mf_pre_trait {
    MF_PRE_ADDS_BOS = 1,
    MF_PRE_ALWAYS_BOS = 2,
    MF_PRE_NO_BOS = 4,
    MF_PRE_RAW_BYTES = 8,
    MF_PRE_NO_BYTES = 16
};

/* A row of pre_tokenizers.def. */
struct mf_pre_tokenizer {
    const char *name;
    unsigned traits;
};

/* The row of that name; NULL where there is none. */
const struct mf_known_tokenizer *mf_known_tokenizer_find(struct mf_str name);
const struct mf_pre_tokenizer *mf_pre_tokenizer_find(struct mf_str name);

/* "; did you mean 'gpt2'?", or "" if no name is near. */
struct mf_hint {
    char text[64];
};
struct mf_hint mf_known_tokenizer_hint(struct mf_str name);
struct mf_hint mf_pre_tokenizer_hint(struct mf_str name);

#endif
