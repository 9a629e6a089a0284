/* SPDX-License-Identifier: MIT
 *
 * keys.h - rows `key` of recipes, and config.json as recipes see it
 */
#ifndef MF_LIB_HUB_KEYS_H
#define MF_LIB_HUB_KEYS_H

#include "lib/draft/draft.h"
#include "lib/hf/hub/recipe.h"

/* "TYPE KEY EXPRESSION", what follows `key`, into the draft. */
enum mf_status mf_hub_key(struct mf_recipe *recipe, struct mf_draft *draft,
                          struct mf_code row);

/* Reads config.json, which must be there; or takes *file for it, unless that is
 * NULL.  Then *file is the whole, with what transformers fills in;
 * recipe->config has text_config over it.  *class is the class that the model
 * is converted as. */
enum mf_status mf_hub_config(struct mf_recipe *recipe, struct mf_node **file,
                             struct mf_str *class);

/* The same for the model's projector: recipe->config is vision_config, or
 * audio_config where there is no other. */
enum mf_status mf_hub_projector_config(struct mf_recipe *recipe,
                                       struct mf_node **file,
                                       struct mf_str *class);

/* Reads params.json, which Mistral's own format has in place of config.json and
 * which nothing is filled in; *class is the name of the paragraph for it.
 * recipe->config is all of it, or its vision_encoder. */
enum mf_status mf_hub_params(struct mf_recipe *recipe, bool projector,
                             struct mf_node **file, struct mf_str *class);

#endif
