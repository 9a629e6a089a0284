/* SPDX-License-Identifier: MIT
 *
 * keys.h - the keys of a GGUF file as names of expressions
 */
#ifndef MF_LIB_RESTORE_KEYS_H
#define MF_LIB_RESTORE_KEYS_H

#include "lib/draft/draft.h"
#include "lib/hf/hub/recipe.h"

/* Sets the member of an object at that path, whose parts have dots between;
 * what leads to it is made; nothing is set below a value.  False after mf_fail.
 */
bool mf_restore_set(struct mf_recipe *recipe, struct mf_node *object,
                    struct mf_str path, const struct mf_node *value);

/* What rows `field` see: the keys of the file's architecture without that, and
 * all others, by their parts; no vocabulary.  NULL after mf_fail. */
struct mf_node *mf_restore_keys(struct mf_recipe *recipe,
                                const struct mf_draft *facts,
                                struct mf_str arch);

#endif
