/* SPDX-License-Identifier: MIT
 *
 * fast.h - a tokenizer.json as transformers loads it
 *
 * What AutoTokenizer.from_pretrained makes of tokenizer.json and of the files
 * next to it: its class, the vocabulary, the added tokens with their ids and
 * flags.  The vocabulary and the merges stay in the file; for each id there is
 * the place of its text.
 */
#ifndef MF_LIB_FAST_H
#define MF_LIB_FAST_H

#include "lib/folder/sidecar.h"
#include "lib/hf/encode/added.h"
#include "lib/json/tree.h"

#define MF_VOCAB_MAX   ((uint64_t)1 << 22) /* tokens; real models: 300,000 */
#define MF_VOCAB_PART  ((uint64_t)1 << 14) /* places in one block */
#define MF_VOCAB_PARTS ((size_t)(MF_VOCAB_MAX / MF_VOCAB_PART))

/* Longer texts of tokens are not shown: they are parts of no text here. */
#define MF_VOCAB_TEXT 8192

enum mf_special_kind { /* as transformers orders them */
                       MF_SPECIAL_BOS,
                       MF_SPECIAL_EOS,
                       MF_SPECIAL_UNK,
                       MF_SPECIAL_SEP,
                       MF_SPECIAL_PAD,
                       MF_SPECIAL_CLS,
                       MF_SPECIAL_MASK,
                       MF_SPECIAL_COUNT
};

/* A row of classes.def: what a class of transformers does when it is loaded. */
struct mf_class {
    const char *name;
    enum { MF_CLASS_PLAIN, MF_CLASS_TEMPLATE, MF_CLASS_BERT } does;
    bool adds_bos;       /* a TEMPLATE class, unless the file says otherwise */
    bool spaces;         /* add_prefix_space goes to every step */
    const char *flagged; /* "bos mask": which have flags of their own */
    const char *token[MF_SPECIAL_COUNT];
};

/* A tokenizer that is made of vocab.json and merges.txt. */
struct mf_slow {
    const char *class;
    const char *json;    /* what a tokenizer.json would say */
    const char *flagged; /* in the place of the class's */
    enum {
        MF_ENDS_NONE,
        MF_ENDS_BOS, /* before a text, where add_bos_token says so */
        MF_ENDS_PAIR /* CLS before a text, and SEP after it */
    } ends;
    bool strips; /* lines of merges.txt, and leaves out empty ones */
};

struct mf_fast {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;
    const char *file;            /* that has the vocabulary */
    const struct mf_slow *slow;  /* NULL: there is a tokenizer.json */
    struct mf_node *json;        /* tokenizer.json; left in the file are
                                    added_tokens, model.vocab, model.merges */
    struct mf_node *config;      /* tokenizer_config.json, of which
                                    added_tokens_decoder is left in the file;
                                    NULL: missing */
    struct mf_node *special_map; /* special_tokens_map.json, where it counts */
    const struct mf_node *model_config; /* config.json; NULL: missing */
    const struct mf_class *class;
    struct mf_str special[MF_SPECIAL_COUNT]; /* at NULL: none */
    struct mf_added_list added;
    uint64_t file_size;
    uint64_t vocab_offset; /* in the file, of the bracket */
    /* After mf_fast_read: */
    bool is_read;
    uint64_t vocab_count; /* tokens of the vocabulary */
    uint64_t id_end;      /* 1 + the largest id, added tokens included */
    uint64_t token_count; /* different ids */
    uint64_t last_id;     /* while the places are noted */
    bool ordered;         /* the file has the tokens by their ids */
    uint32_t *part[MF_VOCAB_PARTS]; /* of the table of places; or NULL */
};

/* Reads the files but for the vocabulary: until then no token has an id.
 * model_config may be NULL. */
enum mf_status mf_fast_open(struct mf_fast *fast, const struct mf_model *model,
                            struct mf_arena *arena,
                            const struct mf_node *model_config);

/* Is shown each token of the vocabulary, in the order of the file. */
typedef enum mf_status mf_fast_each(void *user, struct mf_str text,
                                    uint64_t id);

/* Goes over the vocabulary; each may be NULL.  The first time the added tokens
 * get their ids and the table is filled; after that nothing is done but each.
 */
enum mf_status mf_fast_read(struct mf_fast *fast, mf_fast_each *each,
                            void *user);

/* Where the text of a token of the vocabulary is, from vocab_offset on; 0: no
 * token of it has the id. */
static inline uint32_t mf_fast_place(const struct mf_fast *fast, uint64_t id)
{
    const uint32_t *part =
        id < MF_VOCAB_MAX ? fast->part[id / MF_VOCAB_PART] : NULL;

    return part ? part[id % MF_VOCAB_PART] : 0;
}

/* Whether the id is in all_special_ids: a token with a name (bos_token, ...),
 * or an additional one.  The flag of added tokens says something else. */
bool mf_fast_is_special(const struct mf_fast *fast, uint64_t id);

/* Whether the folder has files of a tokenizer that can be opened. */
bool mf_fast_exists(const struct mf_model *model, struct mf_arena *arena);

/* Opens the file of the vocabulary at that offset, as a document of one value.
 * Must be closed by mf_sidecar_close even after a failure. */
enum mf_status mf_fast_file(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t offset);

/* The same, to read the texts of tokens: mf_fast_seek goes to the text of an
 * id. */
enum mf_status mf_fast_texts(const struct mf_fast *fast, struct mf_env *env,
                             struct mf_sidecar *file);

/* The text of a token of the vocabulary (mf_fast_place is not 0) is what
 * mf_json_text reads next. */
enum mf_status mf_fast_seek(const struct mf_fast *fast, struct mf_env *env,
                            struct mf_sidecar *file, uint64_t id);

/* ---- between fast*.c ---- */

/* Which class transformers takes, by the files. */
enum mf_status mf_fast_class(struct mf_fast *fast);

/* Makes fast->json for a folder without tokenizer.json. */
enum mf_status mf_fast_slow(struct mf_fast *fast);

/* Appends to fast->added what the other files add to tokenizer.json. */
enum mf_status mf_fast_specials(struct mf_fast *fast);

#endif
