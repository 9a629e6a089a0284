/* SPDX-License-Identifier: MIT
 *
 * fast.h - a tokenizer.json as transformers loads it
 *
 * What AutoTokenizer.from_pretrained makes of tokenizer.json and of the files
 * next to it: the vocabulary, the added tokens with their ids and flags, and
 * the text that each of those has after decoding.  The vocabulary and the
 * merges stay in the file; for each id there is the place of its text.
 */
#ifndef MF_LIB_FAST_H
#define MF_LIB_FAST_H

#include "lib/folder/sidecar.h"
#include "lib/json/tree.h"
#include "lib/tokenizer/added.h"

#define MF_VOCAB_MAX    ((uint64_t)1 << 22) /* tokens; real models: 300,000 */
#define MF_SIDECAR_TEXT ((uint64_t)8 << 20) /* bytes of a file that is kept */

struct mf_fast {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;
    struct mf_node *json;        /* tokenizer.json; left in the file are
                                    added_tokens, model.vocab, model.merges */
    struct mf_node *config;      /* tokenizer_config.json, of which
                                    added_tokens_decoder is left in the file;
                                    NULL: missing */
    struct mf_node *special_map; /* special_tokens_map.json, where it counts */
    const struct mf_node *model_config; /* config.json; NULL: missing */
    const struct mf_class *class;
    struct mf_added_list added;
    uint64_t file_size;
    uint64_t vocab_offset; /* in the file, of the bracket */
    uint64_t vocab_count;  /* tokens of the vocabulary */
    uint64_t id_end;       /* 1 + the largest id, added tokens included */
    uint32_t *place;       /* of a token's text, from vocab_offset; 0: none */
    uint64_t place_count;
    uint64_t token_count; /* different ids */
    uint64_t last_id;     /* while the places are noted */
    bool ordered;         /* the file has the tokens by their ids */
};

/* Loads it.  model_config may be NULL. */
enum mf_status mf_fast_load(struct mf_fast *fast,
                            const struct mf_vocab_request *request);

/* Whether the id is in all_special_ids: a token with a name (bos_token, ...),
 * or an additional one.  The flag of added tokens says something else. */
bool mf_fast_is_special(const struct mf_fast *fast, uint64_t id);

/* Opens tokenizer.json at that offset, as a document of one value.  Must be
 * closed by mf_sidecar_close even after a failure. */
enum mf_status mf_fast_open(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t offset);

/* The same, to read the texts of tokens: mf_fast_seek goes to that of an id. */
enum mf_status mf_fast_open_texts(const struct mf_fast *fast,
                                  struct mf_env *env, struct mf_sidecar *file);

/* The text of a token of the vocabulary (fast->place[id] != 0) is what
 * mf_json_text reads next. */
enum mf_status mf_fast_seek(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t id);

/* ---- between fast*.c ---- */

/* Which class transformers takes, by the files. */
enum mf_status mf_fast_class(struct mf_fast *fast);

/* Appends to fast->added what the other files add to tokenizer.json. */
enum mf_status mf_fast_specials(struct mf_fast *fast);

/* Finds the added tokens in the vocabulary and counts it. */
enum mf_status mf_fast_scan(struct mf_fast *fast);

/* Fills fast->place. */
enum mf_status mf_fast_place(struct mf_fast *fast);

enum mf_special { /* as transformers orders them */
                  MF_SPECIAL_BOS,
                  MF_SPECIAL_EOS,
                  MF_SPECIAL_UNK,
                  MF_SPECIAL_SEP,
                  MF_SPECIAL_PAD,
                  MF_SPECIAL_CLS,
                  MF_SPECIAL_MASK,
                  MF_SPECIAL_COUNT
};

struct mf_class {
    const char *name;
    const char *flagged; /* "bos mask": which have flags of their own */
    const char *token[MF_SPECIAL_COUNT];
};

#endif
