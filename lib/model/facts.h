/* SPDX-License-Identifier: MIT
 *
 * facts.h - architecture, layers, heads: wherever a format keeps them
 */
#ifndef MF_LIB_FACTS_H
#define MF_LIB_FACTS_H

#include "lib/model/format.h"

/* What mf_model_fact returns, and also for enum mf_detail.  *at, if not NULL,
 * is the index of the metadata row. */
bool mf_model_detail(const struct mf_model *model, int fact,
                     struct mf_meta *out, size_t *at);

/* The name of an enum mf_fact or enum mf_detail, as GGUF spells it. */
const char *mf_detail_name(int fact);

/* Whether the model's format has a key for the fact. */
bool mf_model_has_fact(const struct mf_model *model, int fact);

/* The fact that GGUF has under "*." and this key, or under the key itself; -1:
 * it is not a fact. */
int mf_fact_of_key(const struct mf_model *model, struct mf_str key);

/* The key that should have the fact in a file of this format and
 * architecture, for a message. */
struct mf_key_text {
    char text[200];
};
struct mf_key_text mf_detail_key(const struct mf_model *model, int fact);

#endif
