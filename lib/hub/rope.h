/* SPDX-License-Identifier: MIT
 *
 * rope.h - how a model stretches positions, as config.json says it
 */
#ifndef MF_LIB_ROPE_H
#define MF_LIB_ROPE_H

#include "lib/hub/config.h"
#include "lib/hub/rename.h"

/* "linear", "yarn" and so on; "": not at all. */
const char *mf_rope_type(const struct mf_config *config);

/* Whether GGUF has a tensor for it. */
bool mf_rope_is_tensor(const struct mf_config *config);

/* Whether GGUF can say all of it. */
enum mf_status mf_rope_check(struct mf_env *env, const struct mf_config *config,
                             const struct mf_class *class);

/* What Llama 3 does is a tensor in GGUF, rope_freqs.weight: adds it to the
 * draft where the model lacks it, and one to *tensors. */
enum mf_status mf_rope_add(struct mf_draft *draft, const struct mf_model *model,
                           const struct mf_config *config, size_t *tensors);

#endif
