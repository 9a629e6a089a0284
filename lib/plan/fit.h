/* SPDX-License-Identifier: MIT
 *
 * fit.h - what fits into memory of a given size
 *
 *     fit          the public function, and the answer for one plan
 *     fit_context  the longest context
 *     fit_mixes    the mixes
 */
#ifndef MF_LIB_PLAN_FIT_H
#define MF_LIB_PLAN_FIT_H

#include "lib/plan/plan.h"

struct mf_fitting {
    struct mf_planner *planner;
    struct mf_plan_options options;
    uint64_t margin;
    uint64_t host_limit; /* 0: none; devices have theirs in the options */
};

/* Whether every memory that has a limit is large enough.  weights: of each
 * device, in place of the plan's; or NULL. */
enum mf_fit_answer mf_fits(const struct mf_fitting *fitting,
                           const struct mf_plan *plan, const uint64_t *weights);

/* Bytes that are free in the memory that has least of it left, or missing if
 * negative; of a plan that is known.  Not exact above 2^53. */
double mf_fit_spare(const struct mf_fitting *fitting,
                    const struct mf_plan *plan);

/* The longest context that fits, with everything else as in the options. */
enum mf_status mf_fit_longest(const struct mf_fitting *fitting,
                              const struct mf_plan_options *options,
                              uint64_t *out);

/* ---- fit_mixes.c ---- */

/* plan: as the options of fitting have it. */
enum mf_status mf_fit_mixes(const struct mf_fitting *fitting,
                            const struct mf_plan *plan, struct mf_fit *out);

#endif
