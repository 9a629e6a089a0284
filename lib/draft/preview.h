/* SPDX-License-Identifier: MIT
 *
 * preview.h - the file that an edit would leave, before it is written
 */
#ifndef MF_LIB_PREVIEW_H
#define MF_LIB_PREVIEW_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* Holds the planned draft of the model's file, as a header without data,
 * against all that mf_model_validate asks of a header.  MF_ERR_UNSUPPORTED
 * where it has more errors of a kind than the file has now: an edit may leave
 * errors and mend them, and it makes none. */
enum mf_status mf_preview_check(const struct mf_draft *draft,
                                const struct mf_model *model);

#endif
