/* SPDX-License-Identifier: MIT
 *
 * hub.h - what lies beside a Hugging Face model, as metadata of GGUF
 */
#ifndef MF_LIB_HUB_H
#define MF_LIB_HUB_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

struct mf_hub_result {
    size_t left_out;     /* metadata that could not be had, with lossy */
    size_t tensors;      /* that were added to the draft */
    uint64_t predicting; /* layers behind the others that only predict more
                            tokens at once, and are no part of the model */
};

/* Adds to the draft, a GGUF file, what the files beside the model say and the
 * draft does not: general.architecture, and what it needs.  What a reader of
 * the GGUF file would not be told in full is refused, a tokenizer only where
 * draft->lossy does not say otherwise.  result NULL: no tokenizer and no
 * tensors are wanted. */
enum mf_status mf_hub_read(struct mf_draft *draft, const struct mf_model *model,
                           struct mf_hub_result *result);

/* The same where the metadata are known already: only the tensor that holds
 * what config.json says of positions, and is not among Hugging Face's.  A
 * model without a config.json has none. */
enum mf_status mf_hub_positions(struct mf_draft *draft,
                                const struct mf_model *model,
                                struct mf_hub_result *result);

#endif
