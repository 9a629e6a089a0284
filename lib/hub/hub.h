/* SPDX-License-Identifier: MIT
 *
 * hub.h - sidecars of a Hugging Face model as metadata of GGUF
 *
 * A safetensors file from Hugging Face says nothing about the model: that is in
 * config.json, tokenizer.json, tokenizer_config.json and the chat templates
 * next to it.  This room reads them and gives tensors their other name; in: an
 * open model and the path of its folder, out: entries and tensors of a draft.
 *
 *     sidecar          opening these files, and the list of their names
 *     config           config.json, by the table config.def
 *     hub, rope        its fields as metadata, and rope_freqs.weight
 *     fields           the same file as numbers for the rows of lib/arch
 *     rename           names of tensors, and the order of rows
 *
 * Invariants.
 *   - What a reader of the GGUF file would take for another model is refused,
 *     never guessed: an unknown class, a key of rope_scaling without a row, a
 *     pre-tokenizer that llama.cpp has no name for.  A file that loads and
 *     answers a little worse is the one fault that nobody finds.
 *   - Tables decide (rename.def, config.def).  A class or a field is a row.
 *   - A vocabulary stays in tokenizer.json and is streamed from there each time
 *     it is needed; only its place is kept.  So memory does not depend on it.
 *   - Keys, their types and all tensors are those of llama.cpp's converter,
 * with whose files the result was compared for each architecture.
 *
 * It does not know which commands and formats exist, except that typed metadata
 * are written with GGUF's keys; nor does it write a file.
 *
 * Not done on purpose: writing a config.json for the other direction (GGUF
 * lacks fields that transformers needs, so it would be a guess), and
 * SentencePiece tokenizers (their scores are not in tokenizer.json).
 */
#ifndef MF_LIB_HUB_H
#define MF_LIB_HUB_H

#include "lib/draft/draft.h"
#include "lib/hub/recipe.h"
#include "lib/lora/lora.h"
#include "lib/model/model.h"

/* What the caller of a conversion wants.  Zero: what the converter does without
 * options. */
struct mf_hub_options {
    enum mf_type type;     /* of matrices, with `typed` */
    bool typed;            /* else bf16 or f16, as the folder's tensors are */
    bool own_type;         /* that of the first matrix: f32, f16 or bf16 */
    bool vocab_only;       /* no tensors */
    bool no_mtp, mtp_only; /* without, or only, what predicts more tokens */
    bool fuse_qkv, fuse_gate_up, fp8_as_q8;
    const char *model_name; /* or NULL */
    const char *metadata;   /* path of a file; or NULL */
    struct mf_lora *lora;   /* is merged; or NULL */
};

/* Whether the model becomes a file of that format as a recipe says: it is a
 * folder with a config.json, and its own metadata is not that of a GGUF file.
 * False after mf_fail. */
bool mf_hub_applies(const struct mf_model *model,
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
    struct mf_node *file; /* config.json; recipe.config has text_config over it
                           */
    struct mf_str class, arch; /* in config.json, and in GGUF */
    bool versioned;            /* general.quantization_version is there */
};
enum mf_status mf_hub_open(struct mf_hub *hub);
enum mf_status mf_hub_keys(struct mf_hub *hub);

struct mf_hub_result {
    size_t left_out;     /* metadata that could not be converted, with lossy */
    size_t tensors;      /* that were added to the draft */
    uint64_t predicting; /* layers after the others that predict further tokens
                            at once, and are not part of the model */
};

/* Adds to the draft, a GGUF file, what the model's sidecars say and the draft
 * does not: general.architecture, and what that architecture needs.  What GGUF
 * cannot express is refused; a tokenizer is left out instead where
 * draft->lossy is set.  result NULL: without tokenizer and tensors. */
enum mf_status mf_hub_read(struct mf_draft *draft, const struct mf_model *model,
                           struct mf_hub_result *result);

/* Where the draft has all metadata already: only the tensor that config.json's
 * rope scaling becomes, which Hugging Face's models lack.  Nothing is added
 * where the model has no config.json. */
enum mf_status mf_hub_add_rope_factors(struct mf_draft *draft,
                                       const struct mf_model *model,
                                       struct mf_hub_result *result);

#endif
