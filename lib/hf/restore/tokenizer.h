/* SPDX-License-Identifier: MIT
 *
 * tokenizer.h - a tokenizer of GGUF as the files that transformers loads
 *
 *     tokenizer            which files there are
 *     tokenizer_tokens     tokens with their types and scores, one by one
 *     tokenizer_facts      what is known of the vocabulary before that
 *     tokenizer_pre        tokenizer.ggml.pre as steps of tokenizer.json
 *     tokenizer_post       what tokenizer.json puts around texts
 *     tokenizer_json       tokenizer.json
 *     tokenizer_merges     merges, where the file lacks them
 *     tokenizer_spm        tokenizer.model, spiece.model
 *     tokenizer_config     tokenizer_config.json
 *
 * A vocabulary stays in its file: it is gone over once for each part of an
 * output.  What GGUF does not say (flags of added tokens, say) is as most
 * tokenizers have it; whether the files become the same keys again is for the
 * caller to find out, by making them.
 */
#ifndef MF_LIB_RESTORE_TOKENIZER_H
#define MF_LIB_RESTORE_TOKENIZER_H

#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/io/stage.h"
#include "lib/model/model.h"

#define MF_NO_KEY SIZE_MAX

struct mf_pre_row; /* of pre_tokenizers.def */

/* Special tokens that have keys, as transformers orders them. */
enum mf_named_role {
    MF_NAMED_BOS,
    MF_NAMED_EOS,
    MF_NAMED_UNK,
    MF_NAMED_SEP,
    MF_NAMED_PAD,
    MF_NAMED_MASK,
    MF_NAMED_EOT,
    MF_NAMED_COUNT
};

struct mf_named_token {
    bool given;     /* there is a key with its id */
    bool in_config; /* tokenizer_config.json names it, else config.json only */
    uint64_t id;
    struct mf_str text; /* at NULL: no token has the id */
};

struct mf_tokenizer_flag { /* a boolean key */
    bool given, value;
    size_t at; /* of the key in the file */
};

/* What tokenizer.json and tokenizer.model are made for. */
enum mf_tokenizer_way {
    MF_WAY_BYTES,    /* byte-level BPE */
    MF_WAY_FALLBACK, /* BPE of characters, with tokens for bytes */
    MF_WAY_WORDS,    /* WordPiece */
    MF_WAY_PIECES    /* SentencePiece */
};

struct mf_tokenizer_facts {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_arena *arena;
    /* Values of keys; at NULL, or MF_NO_KEY: missing. */
    struct mf_str kind, pre, arch;
    size_t tokens, types, scores, merges, charsmap;
    struct mf_named_token named[MF_NAMED_COUNT];
    struct mf_tokenizer_flag add[MF_NAMED_SEP + 1]; /* to texts */
    struct mf_tokenizer_flag prefix, squeeze, lowercase, accents;
    size_t kind_at; /* of the key tokenizer.ggml.model */
    /* The tokens: */
    uint64_t count;
    uint64_t end; /* 1 + the last that is not a filler */
    uint64_t of_type[MF_TOKEN_BYTE + 1];
    uint64_t unknown; /* the first of that type; count: none */
    uint64_t
        added; /* the first user-defined one after all words; count: none */
    uint64_t listed;         /* in added_tokens.json */
    bool unscored;           /* all scores are MF_SCORE_LOST */
    bool has_s, has_slash_s; /* "<s>" and "</s>" are tokens */
    bool has_bos;            /* "<bos>" is */
    bool shifted;            /* ids are fairseq's, one above their pieces */
    enum mf_tokenizer_way way;
    const struct mf_pre_row *row;   /* of byte-level BPE, else NULL */
    struct mf_named_token stand_in; /* for what no other token does */
    uint64_t base; /* of tokenizer.json: tokens that are not only added */
};

/* What is lost has this score, and what fills holes between ids that one. */
#define MF_SCORE_LOST   (-1000.0)
#define MF_SCORE_FILLER (-10000.0)

/* Writes the tokenizer's files into the folder; none where the model has no
 * tokenizer. */
enum mf_status mf_restore_tokenizer(struct mf_stage *stage,
                                    struct mf_model *model);

/* ---- tokenizer_facts.c ---- */

/* Goes over the tokens, and refuses what no file can have: too many, texts
 * that are not UTF-8 or are there twice, unknown types, ids out of range.
 * facts->kind is at NULL where the model has no tokenizer. */
enum mf_status mf_tokenizer_facts_read(struct mf_tokenizer_facts *facts,
                                       struct mf_model *model,
                                       struct mf_arena *arena);

/* ---- tokenizer_tokens.c ---- */

/* Bytes of a token; the longest that is known to us has 1,024. */
#define MF_TOKEN_TEXT ((size_t)16 * 1024)

struct mf_token_walk {
    const struct mf_tokenizer_facts *facts;
    struct mf_values *texts, *types, *scores;
    uint64_t next;
    /* The token: */
    uint64_t id;
    struct mf_str text;
    enum mf_token_type type;
    double score;
    char buffer[MF_TOKEN_TEXT];
};

/* Opens the arrays.  NULL after mf_fail.  Must be closed. */
struct mf_token_walk *
mf_token_walk_open(const struct mf_tokenizer_facts *facts);
void mf_token_walk_close(struct mf_token_walk *walk);

/* The next token; false at the end, or after mf_fail. */
bool mf_token_walk_next(struct mf_token_walk *walk);

/* Whether the token only fills a hole between ids: "[PAD7]". */
bool mf_token_is_filler(const struct mf_token_walk *walk);

/* Whether a file next to tokenizer.model has the token and decides about it. */
bool mf_token_is_added(const struct mf_token_walk *walk);

/* Whether that is added_tokens.json: of T5 always, else where the converter
 * would take the token for a control token in tokenizer_config.json. */
bool mf_token_is_listed(const struct mf_token_walk *walk);

/* ---- outputs ---- */

/* JSON into a sink. */
struct mf_json_out mf_tokenizer_json_out(struct mf_sink *sink);

/* The row for tokenizer.ggml.pre; NULL after mf_fail. */
const struct mf_pre_row *mf_pre_find(const struct mf_tokenizer_facts *facts);

enum mf_pre_flag {
    MF_PRE_WHOLE = 1, /* a word that is a token is not merged: ignore_merges */
    MF_PRE_BOS = 2,   /* BOS is added where no key says so */
    MF_PRE_ENDS = 4,  /* texts end with EOT and EOS */
    MF_PRE_NFC = 8,   /* texts are normalized */
    MF_PRE_CLEAN = 16 /* clean_up_tokenization_spaces */
};

bool mf_pre_has(const struct mf_pre_row *row, enum mf_pre_flag flag);

/* "pre_tokenizer" of tokenizer.json. */
void mf_pre_put(const struct mf_pre_row *row, struct mf_json_out *json);

/* The step that turns bytes into characters; words: and cuts. */
void mf_pre_put_bytes(struct mf_json_out *json, bool words);

/* The names that have cuts, index from 0 on; NULL after the last. */
const char *mf_pre_name_at(size_t index);

/* "post_processor": what is put around texts. */
void mf_post_put(const struct mf_tokenizer_facts *facts,
                 struct mf_json_out *json);

/* Whether it says what the key add_sep_token does. */
bool mf_post_says_sep(const struct mf_tokenizer_facts *facts);

/* Whether texts end with two tokens, EOT and EOS. */
bool mf_post_ends_twice(const struct mf_tokenizer_facts *facts);

/* Members of an object. */
void mf_put_word(struct mf_json_out *json, const char *key, const char *word);
void mf_put_str(struct mf_json_out *json, const char *key, struct mf_str text);
void mf_put_flag(struct mf_json_out *json, const char *key, bool value);
void mf_put_null(struct mf_json_out *json, const char *key);

/* "merges" of a vocabulary whose merges and scores are lost: of two tokens that
 * make a third, the one with the lower id first. */
enum mf_status mf_tokenizer_write_merges(const struct mf_tokenizer_facts *facts,
                                         struct mf_json_out *json);

/* tokenizer.json, of byte-pair encoding or of WordPiece. */
enum mf_status mf_tokenizer_write_json(struct mf_tokenizer_facts *facts,
                                       struct mf_sink *sink);

/* tokenizer.model, as SentencePiece has it. */
enum mf_status mf_tokenizer_write_spm(struct mf_tokenizer_facts *facts,
                                      struct mf_sink *sink);

/* vocab.txt: a token a line. */
enum mf_status mf_tokenizer_write_lines(struct mf_tokenizer_facts *facts,
                                        struct mf_sink *sink);

/* added_tokens.json: tokens by their texts. */
enum mf_status mf_tokenizer_write_added(struct mf_tokenizer_facts *facts,
                                        struct mf_sink *sink);

/* tokenizer_config.json. */
enum mf_status mf_tokenizer_write_config(struct mf_tokenizer_facts *facts,
                                         struct mf_sink *sink);

#endif
