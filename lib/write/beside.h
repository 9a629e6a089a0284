/* SPDX-License-Identifier: MIT
 *
 * beside.h - what is next to a model, for a folder that gets its tensors
 */
#ifndef MF_LIB_BESIDE_H
#define MF_LIB_BESIDE_H

#include "lib/io/stage.h"
#include "lib/model/model.h"

struct mf_beside {
    const char *dtype; /* that config.json names for the tensors: "bfloat16";
                          NULL: as it is */
    bool decoded;      /* nothing is compressed any more */
};

/* Copies the files that describe the model and its tokenizer from the model's
 * folder to the new one.  Only config.json is changed. */
enum mf_status mf_beside_copy(const struct mf_model *model,
                              struct mf_stage *stage,
                              const struct mf_beside *how);

#endif
