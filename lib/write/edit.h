/* SPDX-License-Identifier: MIT
 *
 * edit.h - changing the metadata of a file that is open and locked
 */
#ifndef MF_LIB_EDIT_H
#define MF_LIB_EDIT_H

#include "lib/io/journal.h"
#include "lib/write/convert.h"

/* Makes the edits in place where the new header fits into the old one's space,
 * else by writing the file again.  lock: of the model's only file; of a dry run
 * only its status and its place's name are set. */
enum mf_status mf_edit_model(struct mf_model *model, const struct mf_lock *lock,
                             const struct mf_edit *edits, size_t count,
                             const struct mf_edit_options *options,
                             struct mf_edit_result *out);

#endif
