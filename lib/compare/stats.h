/* SPDX-License-Identifier: MIT
 *
 * stats.h - whether tensors have numbers that can be measured
 */
#ifndef MF_LIB_STATS_H
#define MF_LIB_STATS_H

#include "lib/codec/recode.h"

/* The instruction set to decode with; NULL after mf_fail, if the model cannot
 * be measured at all. */
const struct mf_isa *mf_stats_isa(struct mf_model *model);

/* How the tensor is decoded; false after mf_fail. */
bool mf_stats_decoding(const struct mf_model *model, const struct mf_isa *isa,
                       const struct mf_record *record, struct mf_recoding *out);

/* Sets fits[i] for all tensors that can be measured. */
enum mf_status mf_tensor_stats_fit(struct mf_model *model, bool *fits);

#endif
