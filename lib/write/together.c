/* SPDX-License-Identifier: MIT
 *
 * together.c - several outputs of the same tensors: what they are made of is
 * read once
 *
 * Each output has the whole model, with types of its own.  Pieces of a tensor
 * are listed in groups: the first of a group reads rows of the source, and all
 * of its outputs are made of them while they are in memory (piece_together.c).
 * What a group needs:
 *
 * - Pieces are cut at the same numbers for all outputs.  Units differ: a row
 *   where blocks are encoded, a number where f16 becomes f32.  The one with the
 *   largest unit leads, and the others' must divide it.
 * - Types with one scale for the whole tensor (apr_q8) are left out: they are
 *   read twice in any case, and their parts do not begin with the tensor's.
 * - A batch that a stop may lose ends at the end of a group: all of it is kept,
 *   or nothing.
 * - A list of pieces that is shorter than a group, because memory is, makes
 *   smaller groups: then some bytes are read again.
 */
#include "lib/model/swap.h"
#include "lib/write/resume.h"
#include "lib/write/transfer.h"

/* Whether a tensor can be read together with other outputs' at all. */
static bool can_share(const struct mf_piece *piece)
{
    uint32_t from = piece->tensor->from;

    return piece->source && piece->recoding.head == 0 &&
           (from >= MF_TYPE_COUNT || mf_type_head((enum mf_type)from) == 0);
}

/* Bytes of the source that are read as a whole. */
static size_t unit_of(const struct mf_piece *piece)
{
    return piece->recoding.decode ? piece->recoding.in : mf_piece_stride(piece);
}

/* Those that recode lead those that copy. */
static bool leads(const struct mf_piece *a, const struct mf_piece *b)
{
    bool recodes_a = a->recoding.decode, recodes_b = b->recoding.decode;

    return recodes_a != recodes_b ? recodes_a : unit_of(a) > unit_of(b);
}

static void swap_pieces(struct mf_piece *a, struct mf_piece *b)
{
    struct mf_piece piece = *a;

    *a = *b;
    *b = piece;
}

/* Whether the piece can be made of what the leader reads.  A copy from a
 * big-endian file to another one is made of little-endian bytes, if the leader
 * reads those. */
static bool follows(const struct mf_piece *leader, struct mf_piece *piece)
{
    if (piece->source != leader->source ||
        piece->span.size != leader->span.size ||
        (piece->span.offset & ~MF_SWAPPED_BIT) !=
            (leader->span.offset & ~MF_SWAPPED_BIT) ||
        unit_of(leader) % unit_of(piece) != 0)
        return false;
    piece->span.offset = leader->span.offset;
    piece->big_endian = leader->big_endian;
    return true;
}

/* The leader becomes the first, those that it reads for come next: how many
 * they are together. */
static size_t group(struct mf_piece *all, size_t count)
{
    size_t together = 1;

    for (size_t i = 1; i < count; i++)
        if (leads(&all[i], &all[0]))
            swap_pieces(&all[0], &all[i]);
    for (size_t i = 1; i < count; i++)
        if (follows(&all[0], &all[i]))
            swap_pieces(&all[together++], &all[i]);
    return together;
}

/* One piece of each: the bytes from `at` on. */
static enum mf_status add_part(struct mf_transfer *transfer,
                               const struct mf_piece *all, size_t count,
                               struct mf_span part)
{
    struct mf_resume *resume = transfer->outputs->resume;
    bool due = false;

    if (transfer->count + count > transfer->room &&
        mf_transfer_run(transfer) != MF_OK)
        return transfer->crew->env->error.status;
    for (size_t i = 0; i < count; i++) {
        const struct mf_recoding *recoding = &all[i].recoding;
        struct mf_piece *piece = &transfer->piece[transfer->count++];

        *piece = all[i];
        piece->at = part.offset;
        piece->size = part.size;
        piece->to += recoding->decode
                         ? part.offset / recoding->in * recoding->out
                         : part.offset;
        piece->rides = i > 0;
        piece->riders = i > 0 ? 0 : count - 1;
        piece->follows =
            i > 0 || (part.offset > 0 && mf_transfer_is_serial(piece));
        if (mf_transfer_place(transfer, piece) != MF_OK)
            return transfer->crew->env->error.status;
        transfer->listed++;
        due |= resume && mf_resume_added(resume, piece);
    }
    return due ? mf_transfer_run(transfer) : MF_OK;
}

static enum mf_status add_group(struct mf_transfer *transfer,
                                struct mf_piece *all, size_t count)
{
    struct mf_env *env = transfer->crew->env;
    size_t most = mf_transfer_most(transfer, all);
    struct mf_span part = { 0 };

    if (count == 1)
        return mf_transfer_add_whole(transfer, all);
    for (; part.offset < all->span.size; part.offset += part.size) {
        part.size = mf_next_part(env, all->span.size - part.offset, most);
        if (part.size == 0 || add_part(transfer, all, count, part) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

static enum mf_status add_groups(struct mf_transfer *transfer,
                                 struct mf_piece *all, size_t count)
{
    enum mf_status status = MF_OK;

    for (size_t some; count > 0 && status == MF_OK; all += some) {
        some = group(all, count < transfer->room ? count : transfer->room);
        status = add_group(transfer, all, some);
        count -= some;
    }
    return status;
}

/* The tensor of that number, in the order of data, for all outputs.  all: room
 * for a piece of each. */
static enum mf_status add_tensor(struct mf_transfer *transfer, size_t number,
                                 struct mf_piece *all)
{
    struct mf_outputs *outputs = transfer->outputs;
    size_t count = 0;

    for (size_t i = 0; i < outputs->count; i++) {
        struct mf_output *output = &outputs->output[i];
        const struct mf_draft_tensor *tensor =
            mf_draft_in_order(&output->draft, number);
        struct mf_piece *piece = &all[count];

        if (mf_transfer_gap(transfer, output, number) != MF_OK ||
            mf_transfer_prepare(transfer, output, tensor, piece) != MF_OK)
            return outputs->env->error.status;
        if (tensor->size == 0 && piece->span.size == 0)
            continue;
        if (can_share(piece))
            count++;
        else if (mf_transfer_add_whole(transfer, piece) != MF_OK)
            return outputs->env->error.status;
    }
    return add_groups(transfer, all, count);
}

enum mf_status mf_transfer_together(struct mf_transfer *transfer)
{
    struct mf_outputs *outputs = transfer->outputs;
    size_t tensors = outputs->output->draft.tensor_count;
    size_t size = outputs->count * sizeof(struct mf_piece);
    struct mf_piece *all = mf_alloc(outputs->env, size);
    enum mf_status status = all ? MF_OK : outputs->env->error.status;

    for (size_t i = 0; i < tensors && status == MF_OK; i++)
        status = add_tensor(transfer, i, all);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = mf_transfer_gap(transfer, &outputs->output[i], tensors);
    mf_release(outputs->env, all, size);
    return status;
}
