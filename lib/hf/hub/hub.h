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
 *   - The file equals the converter's, byte for byte.  What it refuses is
 *     refused; an unknown class, or a tensor that no row names, is never
 *     guessed.
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
#include "lib/hf/hf.h"
#include "lib/hf/hub/recipe.h"
#include "lib/lora/lora.h"
#include "lib/model/model.h"

/* Steps of a conversion: the recipe for the folder, and its keys.  `class`,
 * `no_mtp` and the like are given; the caller gives file_type before the keys.
 */
struct mf_hub {
    struct mf_env *env;
    struct mf_draft *draft; /* owns everything, in its arena */
    struct mf_model *model;
    const struct mf_hf_options *options;
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

/* The same for tensors alone: opens the recipe and adds them to the draft.
 * `file` may be given; then config.json is not read. */
enum mf_status mf_hub_list(struct mf_hub *hub);

#endif
