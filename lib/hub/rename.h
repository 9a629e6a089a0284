/* SPDX-License-Identifier: MIT
 *
 * rename.h - tensors under llama.cpp's names and under Hugging Face's
 *
 * A name says how the rows lie, too: what llama.cpp calls attn_q holds them in
 * its order, what Hugging Face calls q_proj in that of transformers.
 */
#ifndef MF_LIB_RENAME_H
#define MF_LIB_RENAME_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* An architecture whose names are known, a row of rename.def. */
struct mf_class {
    const char *hf, *type, *gguf;
    unsigned family;
    bool kv_is_heads;
};

/* What config.json says that a model is, either at NULL where it does not say;
 * NULL where there is no row for it. */
const struct mf_class *mf_class_find(struct mf_str hf, struct mf_str type);

/* That there is no row for it, as an error. */
enum mf_status mf_class_refuse(struct mf_env *env, struct mf_str name);

struct mf_renaming {
    enum mf_naming to; /* MF_NAMING_KEEP: nothing changes its name */
    unsigned family;
    uint64_t heads, heads_kv; /* 0: not known, and not needed */
    bool lossy;
    size_t dropped; /* tensors that have no place under the other names */
    size_t lost;    /* those of them that stand nowhere else */
    size_t made;    /* tensors that the model does not have */
    /* Layers that the metadata speak of, and those behind them that are left
     * out; rows of an embedding.  0: not known. */
    uint64_t layers, predicting, vocabulary;
};

/* What it takes to give the model's tensors other names.  draft holds the
 * model's metadata already; what it lacks is read from the files beside the
 * model, and put into it where that is a GGUF file; metadata that cannot be had
 * from there is counted in *left_out.  All names are checked. */
enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, struct mf_draft *draft,
                                enum mf_naming to, size_t *left_out);

/* Gives the draft's last tensor its name and its rows their order, or takes it
 * out of the draft. */
enum mf_status mf_rename(const struct mf_renaming *renaming,
                         struct mf_draft *draft);

#endif
