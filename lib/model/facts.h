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

/* The same, whatever the type of the value. */
bool mf_model_detail_any(const struct mf_model *model, int fact,
                         struct mf_meta *out);

/* The key that should have the fact in a file of this format and
 * architecture, for a message. */
struct mf_key_text {
    char text[200];
};
struct mf_key_text mf_detail_key(const struct mf_model *model, int fact);

#endif
