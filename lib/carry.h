/* SPDX-License-Identifier: MIT
 *
 * carry.h - the metadata of one format in another
 */
#ifndef MF_LIB_CARRY_H
#define MF_LIB_CARRY_H

#include "lib/draft.h"
#include "lib/model.h"

/* Makes an entry's key tell its type: KEY:TYPE or KEY:TYPE[]; KEY:json for what
 * only JSON has. */
enum mf_status mf_entry_tell_type(struct mf_draft *draft,
                                  struct mf_entry *entry);

/* Lists the model's metadata in the draft, under the keys and with the types
 * that the draft's format has for them.  What cannot be carried is an error, or
 * with draft->lossy left out and counted in *left_out. */
enum mf_status mf_carry_metadata(struct mf_draft *draft, struct mf_model *model,
                                 size_t *left_out);

#endif
