/* SPDX-License-Identifier: MIT
 *
 * load.h - what is kept of a tokenizer, between the files of this room
 */
#ifndef MF_LIB_LOAD_H
#define MF_LIB_LOAD_H

#include "lib/folder/sidecar.h"
#include "lib/tokenize/pieces.h"
#include "lib/tokenize/tokenize.h"

#define MF_ADDED_MAX  65536
#define MF_ADDED_TEXT ((size_t)1024) /* bytes of an added token */

enum mf_model_kind {
    MF_MODEL_NONE,
    MF_MODEL_BPE,
    MF_MODEL_WORDPIECE,
    MF_MODEL_WORDS
};

struct mf_model_part { /* "model" of tokenizer.json */
    enum mf_model_kind kind;
    uint64_t vocab_offset, merges_offset; /* 0: missing */
    struct mf_str unk, prefix, suffix;    /* at NULL: missing, or null */
    bool fuse_unk, byte_fallback, ignore_merges;
    uint64_t max_chars;
};

enum mf_special { /* the special tokens that have a key of their own */
                  MF_SPECIAL_BOS,
                  MF_SPECIAL_EOS,
                  MF_SPECIAL_UNK,
                  MF_SPECIAL_SEP,
                  MF_SPECIAL_PAD,
                  MF_SPECIAL_CLS,
                  MF_SPECIAL_MASK,
                  MF_SPECIAL_COUNT
};

enum mf_tristate { MF_UNSET, MF_NULL, MF_FALSE, MF_TRUE };

/* A row of classes.def: what a class of transformers does when it is loaded. */
struct mf_class {
    const char *name;
    enum { MF_CLASS_PLAIN, MF_CLASS_TEMPLATE, MF_CLASS_BERT } does;
    bool adds_bos; /* a TEMPLATE class, unless the file says otherwise */
    bool spaces;   /* add_prefix_space goes to every step */
    const char *special[MF_SPECIAL_COUNT]; /* NULL: none */
};

struct mf_class_config {      /* of tokenizer_config.json */
    struct mf_str class_name; /* at NULL: missing */
    enum mf_tristate add_bos, add_eos, prefix_space, lower, accents, chinese;
    enum mf_tristate fix_regex, split_special;
    struct mf_str special[MF_SPECIAL_COUNT]; /* at NULL: missing, or null */
    bool special_given[MF_SPECIAL_COUNT];    /* the key exists */
    bool has_decoder;                        /* added_tokens_decoder */
};

struct mf_tokenize {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;
    uint64_t file_size; /* of tokenizer.json */
    struct mf_node *normalizer, *pre_tokenizer, *post_processor;
    struct mf_model_part part;
    struct mf_class_config config;
    const struct mf_class *class;
    struct mf_tokenize_added *added, *last,
        *listed; /* listed: the file's last one */
    size_t added_count, added_text;
    struct mf_tokenize_added **slot; /* by text; slot_count is a power of two */
    size_t slot_count;
    uint64_t vocab_size; /* of the model, after the vocabulary was read */
    struct mf_steps normalize, split;
};

/* ---- load.c, class.c ---- */

/* Opens tokenizer.json and moves to an offset in it. */
enum mf_status mf_load_open(struct mf_tokenize *tokenizer,
                            struct mf_sidecar *file, uint64_t offset);

/* Reads tokenizer_config.json, and does what its class does. */
enum mf_status mf_class_load(struct mf_tokenize *tokenizer,
                             const struct mf_node *config);

/* A string that was announced: at most `most` bytes, into the arena. */
enum mf_status mf_load_text(struct mf_tokenize *tokenizer, struct mf_json *json,
                            size_t most, struct mf_str *out);

/* ---- added.c ---- */

/* The token with that text; NULL: none. */
struct mf_tokenize_added *
mf_tokenize_added_find(const struct mf_tokenize *tokenizer, struct mf_str text);

/* Adds a token, or gives the one with that text its flags, as tokenizers does;
 * token->text may be in a buffer. */
enum mf_status mf_tokenize_added_put(struct mf_tokenize *tokenizer,
                                     const struct mf_tokenize_added *token);

/* An object that describes a token, whose BEGIN was taken, up to its end.
 * *token: its text is in the arena. */
enum mf_status mf_tokenize_added_read(struct mf_tokenize *tokenizer,
                                      struct mf_json *json,
                                      struct mf_tokenize_added *token);

/* Cuts pieces at added tokens: those that are found before normalizing, or
 * those that are found after, whose pieces are normalized here. */
enum mf_status mf_tokenize_added_cut(struct mf_tokenize *tokenizer,
                                     struct mf_pieces *pieces, bool cooked);

#endif
