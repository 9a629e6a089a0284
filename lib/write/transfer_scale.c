/* SPDX-License-Identifier: MIT
 *
 * transfer_scale.c - types with one scale for the whole tensor, before its data
 */
#include <string.h>

#include "lib/base/little.h"
#include "lib/write/part.h"
#include "lib/write/resume.h"
#include "lib/write/transfer.h"

/* One scale for the whole tensor: all of it is read before any of it is
 * written. */
static enum mf_status measure(struct mf_transfer *transfer,
                              struct mf_piece piece)
{
    piece.measured = true;
    piece.kept = false;
    transfer->largest = 0;
    return mf_transfer_add(transfer, piece) == MF_OK
               ? mf_transfer_run(transfer)
               : transfer->crew->env->error.status;
}

/* Bytes of the one scale of a tensor. */
#define SCALE sizeof(float)

/* Whether the scale that was written is the one that would be now. */
static enum mf_status compare_scale(struct mf_transfer *transfer,
                                    struct mf_piece *piece,
                                    const uint8_t scale[SCALE])
{
    uint8_t there[SCALE];

    if (mf_target_read(transfer->crew->env, &piece->output->target, piece->to,
                       there, SCALE) != MF_OK)
        return transfer->crew->env->error.status;
    piece->to += SCALE;
    return memcmp(scale, there, SCALE) == 0
               ? MF_OK
               : mf_outputs_input_changed(transfer->outputs);
}

enum mf_status mf_transfer_scale(struct mf_transfer *transfer,
                                 struct mf_piece *piece)
{
    struct mf_env *env = transfer->crew->env;
    struct mf_resume *resume = transfer->outputs->resume;
    uint8_t scale[SCALE];
    bool taken;

    if (mf_transfer_run(transfer) != MF_OK ||
        mf_transfer_place(transfer, piece) != MF_OK)
        return env->error.status;
    if (piece->kept)
        transfer->largest = resume->largest;
    else if (measure(transfer, *piece) != MF_OK)
        return env->error.status;
    mf_put_little_float(scale,
                        transfer->largest > 0 ? transfer->largest / 127 : 1);
    piece->recoding.largest = transfer->largest;
    if (mf_part_place(transfer, piece, &taken) != MF_OK)
        return env->error.status;
    if (transfer->outputs->again && taken)
        return compare_scale(transfer, piece, scale);
    if (taken && !piece->kept &&
        mf_target_write(env, &piece->output->target, piece->to, scale, SCALE) !=
            MF_OK)
        return env->error.status;
    if (resume && mf_resume_scale(resume, piece, scale, SCALE) != MF_OK)
        return env->error.status;
    piece->to += SCALE;
    if (taken)
        mf_part_added(transfer, piece->to);
    return MF_OK;
}
