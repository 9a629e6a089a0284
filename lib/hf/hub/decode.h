/* SPDX-License-Identifier: MIT
 *
 * decode.h - a compressed checkpoint's weights as floats, under their own names
 *
 * For a folder whose tensors keep Hugging Face's names and become floats:
 * what belongs to the weights, such as their scales, is gone then.
 */
#ifndef MF_LIB_HUB_DECODE_H
#define MF_LIB_HUB_DECODE_H

#include "lib/draft/draft.h"
#include "lib/hf/hub/compressed.h"
#include "lib/model/model.h"

/* Lists all tensors of the model in the draft, whose arena owns what is made,
 * as floats where they are weights of a method that config.json names.  *found:
 * whether there are any; else the draft stays empty.  Refuses methods that are
 * not known, and weights that have scales which nothing explains. */
enum mf_status mf_hub_decode(struct mf_draft *draft,
                             const struct mf_model *model, bool *found);

/* Weights, also in blocks of 4 bits, as a node of floats; for those that
 * mf_compressed_use does not call plain or gone.  NULL after mf_fail. */
const struct mf_derived *
mf_compressed_floats(const struct mf_compressed *compressed,
                     const struct mf_derivation *derivation, size_t record);

#endif
