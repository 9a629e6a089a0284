/* SPDX-License-Identifier: MIT
 *
 * piece_together.c - pieces of several outputs are made of rows that are read
 * once
 *
 * Rows of the source are in the worker's buffer, and each output in turn makes
 * its floats and its result after them, so that the rows stay as they are.
 * Floats are decoded again for each: that costs a hundredth of encoding them.
 */
#include "lib/write/resume.h"

/* How many bytes of the source fit into the buffer, with what the most
 * demanding output makes of them: whole units of the first piece. */
static size_t most_of(const struct mf_piece *piece, size_t room)
{
    const struct mf_recoding *first = &piece->recoding;
    size_t unit = first->decode ? first->in : mf_piece_stride(piece);
    size_t most = room;

    for (size_t i = 0; i <= piece->riders; i++) {
        const struct mf_recoding *recoding = &piece[i].recoding;
        size_t fits = recoding->decode
                          ? mf_recoding_rows(recoding, room) * recoding->in
                          : room;

        most = fits < most ? fits : most;
    }
    return most - most % unit;
}

static enum mf_status recode(struct mf_worker *worker, struct mf_piece *piece,
                             uint64_t done, size_t size)
{
    const struct mf_recoding *recoding = &piece->recoding;
    uint64_t first = (piece->at + done) / recoding->in;
    size_t rows = (size_t)mf_recoding_count(recoding, size), written;
    uint8_t *result = mf_recode(&worker->env, recoding, worker->buffer, rows,
                                first, &piece->result.deviation);

    if (!result || mf_piece_finish_rows(worker, piece, first, rows, result,
                                        &written) != MF_OK)
        return worker->env.error.status;
    return mf_target_write(&worker->env, &piece->output->target,
                           piece->to + done / recoding->in * recoding->out,
                           result, written);
}

/* swaps: the bytes are little-endian, though the target may not be. */
static enum mf_status copy(struct mf_worker *worker,
                           const struct mf_piece *piece, uint64_t done,
                           size_t size, bool swaps)
{
    enum mf_status status;

    if (swaps)
        mf_piece_swap(piece, worker->buffer, size);
    status = mf_target_write(&worker->env, &piece->output->target,
                             piece->to + done, worker->buffer, size);
    if (swaps) /* for the next output */
        mf_piece_swap(piece, worker->buffer, size);
    return status;
}

static enum mf_status read_part(struct mf_worker *worker,
                                const struct mf_piece *piece, uint64_t at,
                                size_t size)
{
    if (mf_piece_read(worker, piece, at, worker->buffer, size) != MF_OK)
        return worker->env.error.status;
    return mf_piece_check(worker, piece, (enum mf_type)piece->tensor->from, at,
                          worker->buffer, size);
}

/* All outputs are made of the same bytes.  What each got is read back: digests
 * of all of them at once would need memory for each. */
static enum mf_status digest_all(struct mf_worker *worker,
                                 struct mf_piece *piece,
                                 const struct mf_piece_digest *input)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i <= piece->riders && status == MF_OK; i++) {
        mf_piece_digest_end(input, piece[i].result.input);
        if (mf_piece_is_digested(&piece[i]))
            status = mf_piece_digest_written(worker, &piece[i]);
    }
    return status;
}

enum mf_status mf_piece_move_together(struct mf_worker *worker,
                                      struct mf_piece *piece)
{
    bool recodes = piece->recoding.decode;
    size_t most = most_of(piece, worker->buffer_size), some;
    enum mf_status status = MF_OK;
    struct mf_piece_digest input;

    if (piece->hasher)
        mf_piece_digest_begin(&input);
    for (uint64_t done = 0; done < piece->size; done += some) {
        some = mf_next_part(&worker->env, piece->size - done, most);
        if (some == 0 ||
            read_part(worker, piece, piece->at + done, some) != MF_OK)
            return worker->env.error.status;
        if (piece->hasher)
            mf_piece_digest_add(&input, piece->hasher, worker->buffer, some);
        for (size_t i = 0; i <= piece->riders && status == MF_OK; i++)
            status = piece[i].recoding.decode
                         ? recode(worker, &piece[i], done, some)
                         : copy(worker, &piece[i], done, some, recodes);
        if (status != MF_OK)
            return status;
        mf_worker_done(worker, some * (piece->riders + 1));
    }
    return piece->hasher ? digest_all(worker, piece, &input) : MF_OK;
}
