/* SPDX-License-Identifier: MIT
 *
 * hf.h - the door to what knows models of Hugging Face
 *
 * The rooms behind make GGUF files of folders, and folders of GGUF
 * files: hub, restore, card, tokenizer, encode.  For the rest of the library
 * they are a maker of drafts, of which it knows this header only:
 *
 *     applies    whether a model is one that it makes a file of
 *     options    what the caller wants
 *     convert    lists the file's keys and tensors in a draft
 *     outline    the same without what does not compute
 *     renaming   the tensors alone, under the names of the other side
 *     restore    the way back: a draft, and what else is in its folder
 *
 * What it leaves undone it says: a name for the file, tensors and keys that are
 * lost.  It writes no tensor, and never learns who asks.
 *
 * A library can be built without the rooms (WITHOUT=hub): hf.c stays, which
 * tells what they would do, and lib/without refuses to do it.
 */
#ifndef MF_LIB_HF_H
#define MF_LIB_HF_H

#include "lib/draft/draft.h"
#include "lib/io/stage.h"
#include "lib/model/model.h"

struct mf_derived;  /* lib/derive/derive.h */
struct mf_hub_bare; /* lib/hf/hub/bare.h */
struct mf_lora;     /* lib/lora/lora.h */

/* ---- a folder as a GGUF file ---- */

/* The name that the converter gives a file without one; in the draft's arena.
 */
struct mf_hf_name {
    const char *prefix; /* "mtp-", or "" */
    struct mf_str stem; /* after that, without a suffix */
    const char *type;   /* that matrices have, in upper case: "BF16" */
};

/* What the caller of a conversion wants.  Zero: what the converter does without
 * options. */
struct mf_hf_options {
    enum mf_type type;     /* of matrices, with `typed` */
    bool typed;            /* else bf16 or f16, as the folder's tensors are */
    bool own_type;         /* the first matrix's: f32, f16 or bf16 */
    bool tensors_only;     /* with the types that they have: for mf_hub_list */
    bool vocab_only;       /* no tensors */
    bool projector;        /* the image or audio encoder and projector, not the
                              model */
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
    /* For mf_hf_outline, if not NULL: what the weights would be. */
    struct mf_hub_bare *bare;
    bool facts; /* of mf_hf_outline: no more than mf_model_fact knows, without
                   reading data of tensors or of the tokenizer */
    /* If not NULL, only the name is wanted: the draft lacks most keys. */
    struct mf_hf_name *name;
};

/* Whether the model becomes a file of that format as a recipe says: it is a
 * folder with a config.json, and has no metadata of a GGUF file.
 * False after mf_fail. */
bool mf_hf_applies(const struct mf_model *model,
                   const struct mf_format *format);

/* The same for Mistral's own format, whose params.json is asked for later. */
bool mf_hf_applies_mistral(const struct mf_model *model,
                           const struct mf_format *format);

/* Adds to the draft, an empty GGUF file, all metadata and tensors that the
 * model's folder becomes, as llama.cpp's converter has them. */
enum mf_status mf_hf_convert(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options);

/* The same for an adapter of PEFT; of its model, `base`, config.json and the
 * tokenizer's files are enough. */
enum mf_status mf_hf_convert_adapter(struct mf_draft *draft,
                                     struct mf_lora *lora,
                                     struct mf_model *base,
                                     const struct mf_hf_options *options);

/* The same as mf_hf_convert without what does not compute: the card, and the
 * vocabulary, of which no more than its size is there.  With `facts` no more
 * than what mf_model_fact finds. */
enum mf_status mf_hf_outline(struct mf_draft *draft, struct mf_model *model,
                             const struct mf_hf_options *options);

/* The outline of a bare model (model.h), whose tensors are those that the rows
 * of lib/arch demand; *unsure: some may be there, or not. */
enum mf_status mf_hf_outline_bare(struct mf_model *model, struct mf_model **out,
                                  bool *unsure);

/* The types that can be asked for; MF_TYPE_UNKNOWN for another name, and for
 * "auto". */
enum mf_type mf_hf_type(const char *name);

/* general.file_type of a file whose matrices have such a type. */
uint32_t mf_hf_file_type(enum mf_type type);

/* ---- the names of tensors ---- */

/* Tensors under llama.cpp's names, or under Hugging Face's, for a file that is
 * not a folder of Hugging Face, and does not become one. */
struct mf_renaming {
    enum mf_naming to; /* MF_NAMING_KEEP: names stay */
    bool made;    /* the draft has the tensors; else they are the model's */
    bool decoded; /* they came from a compressed checkpoint */
    /* The tensors under their new names, with the types that they have.  It is
     * never written. */
    struct mf_draft draft;
    size_t lost; /* tensors that are computed on the other side, of what its
                    config.json says and the file does not */
};

/* Options other than the names. */
struct mf_renaming_options {
    bool lossy;  /* tensors may be lost */
    bool decode; /* weights of a compressed checkpoint become floats, also where
                    names stay */
};

/* Prepares the renaming of a model's tensors, so that nothing fails later.
 * Where it has such names already, they stay.  Must be released even after a
 * failure. */
enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, enum mf_naming to,
                                struct mf_renaming_options how);
void mf_renaming_release(struct mf_renaming *renaming);

/* Whether a tensor has one of llama.cpp's names. */
bool mf_is_named_for_gguf(const struct mf_index *index);

/* ---- a GGUF file as a folder ---- */

struct mf_restore_options {
    const char *type; /* of matrices: "f32", "f16", "bf16"; NULL: theirs */
    bool lossy;       /* what does not come back is left out */
};

/* What a conversion of the new folder would give in another way. */
struct mf_hf_restored {
    size_t lost, gained; /* keys */
    bool reordered;
    bool without_mtp; /* it becomes the file with --no-mtp only */
    /* Paths in config.json of values that the file does not hold; rows have
     * them. */
    struct mf_str assumed[MF_ASSUMED_MAX];
    size_t assumed_count;
};

/* Adds the tensors to the draft, which owns what is made, writes all files but
 * theirs into the stage, and proves that all of it becomes the file again. */
enum mf_status mf_hf_restore(struct mf_model *model, struct mf_draft *draft,
                             const struct mf_restore_options *options,
                             struct mf_stage *stage,
                             struct mf_hf_restored *out);

#endif
