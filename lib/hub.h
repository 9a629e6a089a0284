/* SPDX-License-Identifier: MIT
 *
 * hub.h - what lies beside a Hugging Face model, as metadata of GGUF
 */
#ifndef MF_LIB_HUB_H
#define MF_LIB_HUB_H

#include "lib/draft.h"
#include "lib/model.h"

/* Adds to the draft, a GGUF file, what the files beside the model say and the
 * draft does not: general.architecture, and what it needs.  What a reader of
 * the GGUF file would not be told in full is refused; a tokenizer is left out
 * and counted where draft->lossy says so.  left_out NULL: no tokenizer. */
enum mf_status mf_hub_read(struct mf_draft *draft, const struct mf_model *model,
                           size_t *left_out);

#endif
