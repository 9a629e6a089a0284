/* SPDX-License-Identifier: MIT
 *
 * rope.h - how a model stretches positions (rope scaling)
 */
#ifndef MF_LIB_ROPE_H
#define MF_LIB_ROPE_H

#include "lib/draft/draft.h"
#include "lib/hub/config.h"
#include "lib/hub/rename_table.h"

/* "linear", "yarn" and so on; "" without scaling. */
const char *mf_rope_type(const struct mf_config *config);

/* Whether GGUF expresses it by a tensor. */
bool mf_rope_needs_tensor(const struct mf_config *config);

/* Refuses what GGUF cannot express in full. */
enum mf_status mf_rope_check(struct mf_env *env, const struct mf_config *config,
                             const struct mf_hub_class *class);

/* Adds Llama 3's rope_freqs.weight to the draft where the model has no such
 * tensor, and 1 to *tensors. */
enum mf_status mf_rope_add_factors(struct mf_draft *draft,
                                   const struct mf_model *model,
                                   const struct mf_config *config,
                                   size_t *tensors);

#endif
