/* SPDX-License-Identifier: MIT
 *
 * foreign.h - naming files that are not models
 */
#ifndef MF_LIB_FOREIGN_H
#define MF_LIB_FOREIGN_H

#include "lib/model/format.h"

/* True if the head belongs to a known foreign format: sets out->format and
 * out->note, and leaves the rest. */
bool mf_foreign_detect(const struct mf_head *head, struct mf_detection *out);

#endif
