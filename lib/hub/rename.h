/* SPDX-License-Identifier: MIT
 *
 * rename.h - tensors under llama.cpp's names and under Hugging Face's
 *
 * A name also fixes the order of rows: what llama.cpp calls attn_q has them in
 * its own order, what Hugging Face calls q_proj in that of transformers (see
 * rename.c).  rename.def has a row for each tensor; a tensor without one is
 * refused, because passing it through under a guessed name would give a file
 * that loads and computes something else.
 */
#ifndef MF_LIB_RENAME_H
#define MF_LIB_RENAME_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

struct mf_renaming {
    enum mf_naming to; /* MF_NAMING_KEEP: names stay */
    unsigned family;
    uint64_t heads, heads_kv; /* 0: not known, and not needed */
    bool lossy;
    size_t dropped; /* tensors without a name on the other side */
    size_t lost;    /* those of them that cannot be computed again */
    size_t made;    /* tensors that the model does not have */
    /* Layers according to the metadata; prediction layers after them, which
     * are dropped; rows of an embedding.  0: not known. */
    uint64_t layers, predicting, vocabulary;
};

/* Prepares the renaming of a model's tensors.  draft has the model's metadata;
 * what is missing there is read from the model's sidecars, and added to the
 * draft where it is a GGUF file.  Counts metadata that could not be converted
 * in *left_out.  All names are checked here, so that nothing fails later. */
enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, struct mf_draft *draft,
                                enum mf_naming to, size_t *left_out);

/* Renames the last tensor of the draft and notes how its rows move, or removes
 * it from the draft. */
enum mf_status mf_renaming_apply(const struct mf_renaming *renaming,
                                 struct mf_draft *draft);

/* ---- rename_check.c ---- */

/* True for a tensor of a layer that predicts further tokens (MTP). */
bool mf_rename_is_prediction(const struct mf_renaming *renaming,
                             struct mf_str name);

/* Whether every tensor can be renamed, and where the result is for llama.cpp,
 * whether the model is complete.  Counts tensors that will be dropped. */
enum mf_status mf_renaming_check(struct mf_renaming *renaming,
                                 const struct mf_model *model);

#endif
