/* SPDX-License-Identifier: MIT
 *
 * weights.c - the importance weights of tensors that are being encoded
 *
 * A tensor of more than two dimensions is several matrices, each with weights
 * of its own.
 */
#include "lib/write/piece.h"

/* Where memory has no limit, the weights of some small tensors are there
 * together, so that these are encoded at once. */
#define SEVERAL ((size_t)32 * 1024)

/* Rows of one matrix. */
static uint64_t rows_of(const struct mf_draft_tensor *tensor,
                        bool fastest_first)
{
    return tensor->dim[fastest_first ? 1 : tensor->rank - 2];
}

size_t mf_weights_count(const struct mf_weights *from,
                        const struct mf_draft_tensor *tensor,
                        bool fastest_first, const struct mf_recoding *recoding)
{
    uint64_t elements = 0, rows, count;

    if (!from->read || !tensor->weights.at || tensor->rank < 2 ||
        recoding->columns < 2)
        return 0;
    mf_elements(tensor->dim, tensor->rank, &elements);
    rows = rows_of(tensor, fastest_first);
    count = rows > 0 ? elements / rows : 0;
    return count <= SIZE_MAX / sizeof(float) ? (size_t)count : 0;
}

bool mf_weights_again(const struct mf_weight_buffer *buffer,
                      const struct mf_draft_tensor *tensor, bool fastest_first,
                      struct mf_recoding *recoding)
{
    if (buffer->count == 0 || buffer->of != tensor->weights.at)
        return false;
    recoding->weights = buffer->at + buffer->first;
    recoding->matrix = rows_of(tensor, fastest_first);
    return true;
}

bool mf_weights_fit(const struct mf_weight_buffer *buffer, size_t count)
{
    return count <= buffer->room - (buffer->first + buffer->count);
}

/* After the last ones, or in place of all. */
static enum mf_status make_room(struct mf_weight_buffer *buffer,
                                struct mf_crew *crew, size_t count)
{
    float *moved;

    buffer->first =
        mf_weights_fit(buffer, count) ? buffer->first + buffer->count : 0;
    buffer->count = 0;
    if (count <= buffer->room)
        return MF_OK;
    if (count < SEVERAL && mf_heap_left(crew->env) == SIZE_MAX)
        count = SEVERAL;
    moved = mf_crew_resize(crew, buffer->at, buffer->room * sizeof(*moved),
                           count * sizeof(*moved));
    if (!moved)
        return crew->env->error.status;
    buffer->at = moved;
    buffer->room = count;
    return MF_OK;
}

enum mf_status mf_weights_load(struct mf_weight_buffer *buffer,
                               struct mf_crew *crew,
                               const struct mf_weights *from,
                               const struct mf_draft_tensor *tensor,
                               size_t count, bool fastest_first,
                               struct mf_recoding *recoding)
{
    bool found;

    if (make_room(buffer, crew, count) != MF_OK ||
        from->read(from->user, tensor->weights, buffer->at + buffer->first,
                   count, &found) != MF_OK)
        return crew->env->error.status;
    if (!found)
        return MF_OK;
    buffer->count = count;
    buffer->of = tensor->weights.at;
    mf_weights_again(buffer, tensor, fastest_first, recoding);
    return MF_OK;
}

void mf_weights_release(struct mf_weight_buffer *buffer, struct mf_env *env)
{
    mf_release(env, buffer->at, buffer->room * sizeof(*buffer->at));
    *buffer = (struct mf_weight_buffer){ 0 };
}
