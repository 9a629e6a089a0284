/* SPDX-License-Identifier: MIT
 *
 * tensors_made.h - tensors that a folder does not have
 */
#ifndef MF_LIB_HUB_TENSORS_MADE_H
#define MF_LIB_HUB_TENSORS_MADE_H

#include "lib/hf/hub/tensors_work.h"

/* The tensors of all `extra` rows, under their names. */
enum mf_status mf_tensor_extras(struct mf_tensor_work *work);

/* Refuses a tensor whose numbers are not all 0; reads it. */
enum mf_status mf_tensor_check_zero(struct mf_tensor_work *work,
                                    const struct mf_tensor_name *name,
                                    const struct mf_derived *node);

/* Each number becomes -1, 0 or 1, times the mean of all without their signs;
 * reads the tensor. */
enum mf_status mf_tensor_ternary(struct mf_tensor_work *work,
                                 const struct mf_tensor_name *name,
                                 const struct mf_derived **node);

#endif
