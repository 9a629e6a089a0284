/* SPDX-License-Identifier: MIT
 *
 * value.h - a metadata value as text or JSON
 *
 * full: print arrays and strings in full instead of their beginning.
 */
#ifndef MF_CLI_VALUE_H
#define MF_CLI_VALUE_H

#include "cli/cli.h"

/* In one line, strings in quotes. */
void value_text(struct run *run, struct mf_model *model, size_t index,
                bool full);

/* The value itself, without quotes, for a script or a pager. */
void value_plain(struct run *run, struct mf_model *model, size_t index,
                 bool full);

/* Members of an object: type, value and what describes them. */
void value_json(struct run *run, struct mf_model *model, size_t index,
                bool full);

/* An object with the key and these members. */
void value_entry_json(struct run *run, struct mf_model *model, size_t index,
                      bool full);

/* What an edit sets: as value_text, and as value_json. */
void value_edit_text(struct run *run, const struct mf_edit *edit);
void value_edit_json(struct run *run, const struct mf_edit *edit);

/* Only the value, in full. */
void value_json_whole(struct run *run, struct mf_model *model, size_t index);

#endif
