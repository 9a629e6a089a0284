/* SPDX-License-Identifier: MIT
 *
 * outline.h - a folder of Hugging Face as the GGUF file that is made of it
 */
#ifndef MF_LIB_HUB_OUTLINE_H
#define MF_LIB_HUB_OUTLINE_H

#include "lib/hub/hub.h"

/* mf_model_outline is in modelfile.h. */

/* The outline of a bare model (model.h), whose tensors are those that the rows
 * of lib/arch demand; *unsure: some may be there, or not. */
enum mf_status mf_outline_bare(struct mf_model *model, struct mf_model **out,
                               bool *unsure);

#endif
