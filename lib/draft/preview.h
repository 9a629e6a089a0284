/* SPDX-License-Identifier: MIT
 *
 * preview.h - the file that an edit would leave, before it is written
 */
#ifndef MF_LIB_PREVIEW_H
#define MF_LIB_PREVIEW_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* Validates the header of the planned draft of the model's file.
 * MF_ERR_UNSUPPORTED where it has more errors of any rule than the file has
 * now: an edit may leave errors or repair them, and adds none. */
enum mf_status mf_preview_check(const struct mf_draft *draft,
                                const struct mf_model *model, bool force);

#endif
