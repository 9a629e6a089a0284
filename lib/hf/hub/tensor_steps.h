/* SPDX-License-Identifier: MIT
 *
 * tensor_steps.h - steps of a row that change tensors
 */
#ifndef MF_LIB_TENSOR_STEPS_H
#define MF_LIB_TENSOR_STEPS_H

#include "lib/derive/derive.h"
#include "lib/hf/hub/tensor_rows.h"

#define MF_TENSOR_LIST 6 /* tensors that a row works on at once */

struct mf_tensor_list {
    const struct mf_derived *node[MF_TENSOR_LIST];
    size_t count;
};

/* Does a step that works on the list alone; others (as, stack, drop ...) are
 * the caller's, and the list stays. */
enum mf_status mf_tensor_step_run(struct mf_derivation *derive,
                                  const struct mf_tensor_step *step,
                                  struct mf_tensor_list *list);

/* Whether the step is one of those. */
bool mf_tensor_step_is_local(const struct mf_tensor_step *step);

#endif
