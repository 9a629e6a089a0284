/* SPDX-License-Identifier: MIT
 *
 * diff.h - metadata of one model against those of another
 */
#ifndef MF_LIB_DIFF_H
#define MF_LIB_DIFF_H

#include "lib/model.h"

/* Whether metadatum a of one model and b of the other have the same value;
 * where they have not, *first is the first element that differs (0 unless both
 * are arrays). */
enum mf_status mf_meta_equal(struct mf_model *of_a, size_t a,
                             struct mf_model *of_b, size_t b, bool *equal,
                             uint64_t *first);

#endif
