/* SPDX-License-Identifier: MIT
 *
 * card.h - where a model comes from, as keys of GGUF
 *
 * The room card reads who made a model, from what, and how to sample it.  In:
 * README.md with its front matter (the model card), generation_config.json,
 * config.json, the name of the folder, a file of metadata.  Out: the keys
 * general.sampling.*, general.name to general.languages, in the converter's
 * order.
 *
 *     names, titles, letters    what the name of a model says
 *     front                     the front matter of README.md
 *     yaml*                     YAML, as far as model cards have it
 *     card, card_put, card.def  which value counts, and how it is written
 *
 * Of several sources the first that has a value counts: the caller's name, the
 * file of metadata, the model card, config.json's _name_or_path, the folder.
 * What the converter refuses, such as a version that is a number, is refused,
 * and the message names file and key.
 *
 * Not done on purpose: nothing is fetched, and no key is made of what no file
 * says.
 */
#ifndef MF_LIB_CARD_H
#define MF_LIB_CARD_H

#include "lib/draft/draft.h"
#include "lib/hf/card/names.h"
#include "lib/json/tree.h"
#include "lib/model/model.h"

struct mf_card_request {
    const struct mf_model *model;
    const struct mf_node *config; /* all of config.json; NULL: without */
    const char *model_name;       /* general.name in any case; or NULL */
    const char *metadata;         /* path of a JSON file; or NULL */
    const char *folder;           /* its name; NULL: the model's folder */
    struct mf_name_counts counts; /* of elements; all zero without tensors */
};

/* What names a file; in the draft's arena. */
struct mf_card_names {
    struct mf_str name;         /* at NULL: none */
    struct mf_name_parts parts; /* without full and organization */
};

/* Sets the keys.  names: NULL, or what mf_name_file takes. */
enum mf_status mf_card_put(struct mf_draft *draft,
                           const struct mf_card_request *request,
                           struct mf_card_names *names);

/* The name of the folder that the model's first file is in, as it was given;
 * empty for "." and for none. */
struct mf_str mf_card_folder(const struct mf_model *model);

/* Base models and datasets of a card at most. */
#define MF_CARD_ORIGINS 1024

/* ---- between card*.c ---- */

enum mf_card_text {
#define SAMPLING(ID, key, type, word, other)
#define TEXT(ID, key, set, word, other, third) MF_CARD_##ID,
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
    MF_CARD_TEXTS
};

enum mf_card_sampling {
#define SAMPLING(ID, key, type, word, other) MF_CARD_##ID,
#define TEXT(ID, key, set, word, other, third)
#include "lib/hf/card/card.def"
#undef TEXT
#undef SAMPLING
    MF_CARD_SAMPLINGS
};

struct mf_card_value {
    const struct mf_node *node; /* NULL: none */
    const char *file;           /* that has it, for messages */
};

/* A list that may come from two keys of a card. */
struct mf_card_list {
    struct mf_card_value part[2]; /* a text, or a list; others are nothing */
    bool is_set;                  /* also if it is empty */
    bool is_strict;               /* of the file of metadata: a list */
};

struct mf_card {
    struct mf_draft *draft;
    struct mf_env *env;
    struct mf_arena *arena; /* for what is not needed any more afterwards */
    int64_t total;          /* elements */
    struct mf_card_value sampling[MF_CARD_SAMPLINGS], text[MF_CARD_TEXTS];
    struct mf_card_list base_models, datasets, tags, languages;
};

extern const char *const mf_card_text_keys[MF_CARD_TEXTS];

enum mf_status mf_card_write(struct mf_card *card);

/* The front matter of README.md, as a mapping; NULL where there is none. */
enum mf_status mf_card_front(const struct mf_model *model,
                             struct mf_arena *arena, struct mf_node **root);

#endif
