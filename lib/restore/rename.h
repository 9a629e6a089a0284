/* SPDX-License-Identifier: MIT
 *
 * rename.h - tensors under llama.cpp's names, or under Hugging Face's
 *
 * For a file that is not a folder of Hugging Face, and does not become one.
 * What becomes of its tensors, the rows of lib/families say, as for folders:
 * `restore` rows to Hugging Face's names, and the family's rows
 * to llama.cpp's.  Rows need config.json: the one next to the file, or what
 * `restore` makes of the file's own metadata.
 */
#ifndef MF_LIB_RESTORE_RENAME_H
#define MF_LIB_RESTORE_RENAME_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

struct mf_renaming {
    enum mf_naming to; /* MF_NAMING_KEEP: names stay */
    bool made;    /* the draft has the tensors; else they are the model's */
    bool decoded; /* they come from a compressed checkpoint */
    /* The tensors under their new names, with the types that they have.  It is
     * never written. */
    struct mf_draft draft;
    size_t lost; /* tensors that are computed on the other side, of what its
                    config.json says and the file does not */
};

/* What is requested in addition to the names. */
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

#endif
