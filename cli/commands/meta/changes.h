/* SPDX-License-Identifier: MIT
 *
 * changes.h - what edits change, and which of them look like a mistake
 */
#ifndef MF_CLI_META_CHANGES_H
#define MF_CLI_META_CHANGES_H

#include "cli/buffer.h"
#include "cli/commands/meta/edit_value.h"

/* Remarks on values that are the name of a file, and on new keys that are
 * nearly known ones. */
void changes_warn(const struct editing *editing);

/* With --json a member "changes".  Else lines "key: old → new" are put into
 * text, to be printed if the edits are made: the old values cannot be read any
 * more then.  False after a report. */
bool changes_show(const struct editing *editing, struct buffer *text);

#endif
