/* SPDX-License-Identifier: MIT
 *
 * weights.h - the importance weights of the tensor that is being encoded
 */
#ifndef MF_LIB_WEIGHTS_H
#define MF_LIB_WEIGHTS_H

#include "lib/write/convert.h"

/* One buffer for all tensors, in turn: pieces that use the weights of one must
 * be done before the next tensor's are loaded. */
struct mf_weight_buffer {
    float *at;
    size_t count, room; /* weights in it, and that it has room for */
};

/* How many weights the tensor can have in all; 0: it has none. */
size_t mf_weights_count(const struct mf_weights *from,
                        const struct mf_draft_tensor *tensor,
                        bool fastest_first, const struct mf_recoding *recoding);

/* Reads so many weights of the tensor, and has the recoding use them.  Nothing
 * changes where the matrix has none for it. */
enum mf_status mf_weights_load(struct mf_weight_buffer *buffer,
                               struct mf_crew *crew,
                               const struct mf_weights *from,
                               const struct mf_draft_tensor *tensor,
                               size_t count, bool fastest_first,
                               struct mf_recoding *recoding);

void mf_weights_release(struct mf_weight_buffer *buffer, struct mf_env *env);

#endif
