/* SPDX-License-Identifier: MIT
 *
 * hub.h - a folder of Hugging Face as a GGUF file
 *
 * A safetensors file from Hugging Face says nothing about the model: that is in
 * config.json and the files next to it.  This room makes of all of them what
 * llama.cpp's converter makes; in: an open model and the path of its folder,
 * out: keys and tensors of a draft.
 *
 *     hub              the steps, in the order of the file's keys
 *     families, recipe how the models of a family are converted: rows of text
 *     evaluate, operators, functions, value   the expressions in them
 *     hparams          config.json, or params.json of Mistral's own format, as
 *                      rows see it, and what transformers adds
 *     keys             rows `key`
 *     tensors, naming, compressed   rows about tensors, and their names
 *     outline          the file's header, in memory
 *
 * Invariants.
 *   - The file is the converter's, byte for byte.  What it refuses is
 *     refused; an unknown class, or a tensor that no row names, is never
 * guessed.
 *   - Rows decide.  A family with an oddity gets a row, not a branch.
 *   - A vocabulary stays in its file and is streamed from there each time it is
 *     needed.  So memory does not depend on it.
 *
 * It does not know which commands and formats exist, except that typed metadata
 * are written with GGUF's keys; nor does it write a file.
 */
#ifndef MF_LIB_HUB_H
#define MF_LIB_HUB_H

#include "lib/derive/derive.h"
#include "lib/draft/draft.h"
#include "lib/hub/recipe.h"
#include "lib/lora/lora.h"
#include "lib/model/model.h"

/* What the converter calls the file where nothing else names it; in the draft's
 * arena. */
struct mf_hub_file_name {
    const char *prefix; /* "mtp-", or "" */
    struct mf_str stem; /* after that, without a suffix */
    const char *type;   /* that matrices have, in upper case: "BF16" */
};

/* What the caller of a conversion wants.  Zero: what the converter does without
 * options. */
struct mf_hub_options {
    enum mf_type type;     /* of matrices, with `typed` */
    bool typed;            /* else bf16 or f16, as the folder's tensors are */
    bool own_type;         /* the first matrix's: f32, f16 or bf16 */
    bool tensors_only;     /* with the types that they have: for mf_hub_list */
    bool vocab_only;       /* no tensors */
    bool projector;        /* the image or audio encoder and projector, in
                              place of the model */
    bool no_mtp, mtp_only; /* without, or only, what predicts more tokens */
    bool fuse_qkv, fuse_gate_up, fp8_as_q8;
    bool decode;  /* weights in blocks of 4 bits become floats, too */
    bool mistral; /* Mistral's own format: params.json and its names of tensors
                   */
    bool no_community_template; /* of it: without llama.cpp's chat template */
    const char *model_name;     /* or NULL */
    const char *metadata;       /* path of a file; or NULL */
    struct mf_lora *lora;       /* is merged; or NULL */
    /* One for each tensor of the model, in place of its bytes; or NULL. */
    const struct mf_derived *const *given;
    const char *folder; /* the name of the model's folder; NULL: as it is */
    /* For mf_hub_outline, if not NULL: what the weights would be. */
    struct mf_hub_bare *bare;
    bool facts; /* of mf_hub_outline: no more than mf_model_fact knows, without
                   reading data of tensors or of the tokenizer */
    /* If not NULL, only the name is wanted: the draft lacks most keys. */
    struct mf_hub_file_name *name;
};

/* Whether the model becomes a file of that format as a recipe says: it is a
 * folder with a config.json, and its own metadata is not a GGUF file's.
 * False after mf_fail. */
bool mf_hub_applies(const struct mf_model *model,
                    const struct mf_format *format);

/* The same for Mistral's own format, whose params.json is asked for later. */
bool mf_hub_applies_mistral(const struct mf_model *model,
                            const struct mf_format *format);

/* Adds to the draft, an empty GGUF file, all metadata and tensors that the
 * model's folder becomes, as llama.cpp's converter has them. */
enum mf_status mf_hub_convert(struct mf_draft *draft, struct mf_model *model,
                              const struct mf_hub_options *options);

/* The same for an adapter of PEFT; of its model, `base`, config.json and the
 * tokenizer's files are enough. */
enum mf_status mf_hub_convert_adapter(struct mf_draft *draft,
                                      struct mf_lora *lora,
                                      struct mf_model *base,
                                      const struct mf_hub_options *options);

/* Steps of it: the recipe for the folder, and its keys.  `class`, `no_mtp` and
 * the like are given; the caller gives file_type before the keys. */
struct mf_hub {
    struct mf_env *env;
    struct mf_draft *draft; /* owns everything, in its arena */
    struct mf_model *model;
    const struct mf_hub_options *options;
    struct mf_recipe recipe;
    struct mf_node *file;  /* config.json, or one that is made of a GGUF file's
                              keys; recipe.config has text_config over it */
    struct mf_node *named; /* config.json, as far as it says where the model is
                              from; NULL: missing */
    struct mf_str class, arch; /* in config.json, and in GGUF */
    bool versioned;            /* general.quantization_version is there */
    bool outlined;             /* the vocabulary is left out */
};
enum mf_status mf_hub_open(struct mf_hub *hub);
enum mf_status mf_hub_keys(struct mf_hub *hub);

/* The same as mf_hub_convert without what does not compute: the card, and the
 * vocabulary, of which no more than its size is there.  With `facts` no more
 * than what mf_model_fact finds. */
enum mf_status mf_hub_outline(struct mf_draft *draft, struct mf_model *model,
                              const struct mf_hub_options *options);

/* The same for tensors alone: opens the recipe and adds them to the draft.
 * `file` may be given; then config.json is not read. */
enum mf_status mf_hub_list(struct mf_hub *hub);

#endif
