/* SPDX-License-Identifier: MIT
 *
 * restore.h - a GGUF file as a folder that transformers loads
 *
 * The room restore goes the way of lib/hf/hub back.  In: a GGUF file of a
 * family that has a paragraph `restore` in lib/families.  Out: config.json,
 * generation_config.json, the tokenizer's files and README.md in a folder, and
 * the tensors with their names and orders in Hugging Face's models, in a draft.
 *
 *     restore    the steps
 *     keys       the keys of the file as names of expressions
 *     config     rows `field`: config.json
 *     card       who made the model: README.md, generation_config.json
 *     tokenizer  the vocabulary: the tokenizer's files
 *     prove      the folder is converted again, and compared with the file
 *
 * Invariants.
 *   - Rows decide, as in lib/hf/hub.
 *   - Nothing is believed: before a byte of a tensor is written, lib/hf/hub
 *     makes a GGUF file of what the folder will have.  A key or tensor that
 *     does not come back is named, and refused unless the caller allows losses.
 */
#ifndef MF_LIB_RESTORE_H
#define MF_LIB_RESTORE_H

#include "lib/hf/hub/hub.h"

/* A file that is being restored.  Must not move. */
struct mf_restore {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_draft *draft; /* its arena owns what is made */
    struct mf_draft facts;  /* the file's keys */
    struct mf_restore_options options;
    struct mf_recipe recipe;
    struct mf_str arch;              /* at NULL: the file does not say it */
    const struct mf_rows_part *part; /* the family's paragraph */
    struct mf_node *config;          /* config.json */
    const struct mf_derived **node;  /* of each tensor of the draft */
    size_t room;                     /* of `node` */
    struct mf_hf_restored made;      /* what the caller learns */
};

/* Reads the file's keys. */
enum mf_status mf_restore_open(struct mf_restore *restore,
                               struct mf_model *model, struct mf_draft *draft,
                               const struct mf_restore_options *options);

/* After that: whether the file can be restored.  Finds its family and makes
 * config.json. */
enum mf_status mf_restore_begin(struct mf_restore *restore);

void mf_restore_end(struct mf_restore *restore); /* after a failure, too */

/* Adds the tensors to the draft. */
enum mf_status mf_restore_tensors(struct mf_restore *restore);

/* ---- between the files of this room ---- */

/* config.json as nodes; and as a file. */
enum mf_status mf_restore_config(struct mf_restore *restore);
enum mf_status mf_restore_put_config(const struct mf_restore *restore,
                                     struct mf_stage *stage);

/* README.md and generation_config.json. */
enum mf_status mf_restore_put_card(const struct mf_restore *restore,
                                   struct mf_stage *stage);

/* modules.json and 1_Pooling, of a model that makes one vector of a text. */
enum mf_status mf_restore_put_pooling(const struct mf_restore *restore,
                                      struct mf_stage *stage);

/* The proof. */
enum mf_status mf_restore_prove(struct mf_restore *restore,
                                struct mf_stage *stage);

/* Writes nodes as JSON, with a line for each member of an object. */
void mf_restore_put_json(struct mf_sink *sink, const struct mf_node *node);

#endif
