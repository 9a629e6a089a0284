/* SPDX-License-Identifier: MIT
 *
 * centre.h - a vector whose numbers have the mean 0
 */
#ifndef MF_LIB_HUB_CENTRE_H
#define MF_LIB_HUB_CENTRE_H

#include "lib/derive/derive.h"

#define MF_CENTRE_MAX 16384 /* numbers */

/* The vector without its mean, which is read here; it has at most that many
 * numbers.  NULL after mf_fail. */
const struct mf_derived *mf_hub_centre(struct mf_derivation *derive,
                                       const struct mf_derived *node);

/* The sum of at least one number, in the order of PyTorch. */
float mf_hub_sum(const float *x, size_t count);

#endif
