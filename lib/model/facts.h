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

/* The key that has the fact in this file, and its value of whatever type.
 * False if the file has no such key: *key is then the one that it should
 * have. */
bool mf_model_detail_key(const struct mf_model *model, int fact,
                         struct mf_str *key, struct mf_meta *out);

#endif
