/* SPDX-License-Identifier: MIT
 *
 * hash.h - digests of tensors' bytes
 */
#ifndef MF_LIB_HASH_H
#define MF_LIB_HASH_H

#include "lib/model/model.h"

/* MF_ERR_CORRUPT for a tensor whose place or size is wrong. */
enum mf_status mf_tensor_readable(struct mf_model *model, size_t tensor);

/* The digests of count tensors, which should come largest first: that of tensor
 * i goes to digests + i times the kind's size, the rest is left as it is. */
enum mf_status mf_hash_some(struct mf_model *model, enum mf_digest_kind kind,
                            const uint32_t *tensor, size_t count,
                            uint8_t *digests);

#endif
