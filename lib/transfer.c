/* SPDX-License-Identifier: MIT
 *
 * transfer.c - moving the bytes of tensors from files to files
 *
 * Bytes go from their place in the one to their place in the other in pieces;
 * where the kernel can, it copies them itself.  No byte is written that was not
 * read: a piece is held once more against the bounds of its source, its tensor
 * and its target before it moves.
 */
#include "lib/convert.h"

/* Large enough for the kernel to copy at full speed, small enough to be shared
 * and stopped. */
#define PIECE  ((uint64_t)8 * 1024 * 1024)
#define PIECES 256

struct piece {
    struct mf_output *output;
    const struct mf_source *source; /* NULL: zeros */
    uint64_t from, to, size;
    /* A piece of a tensor whose rows change places: `from` is where the tensor
     * starts, whole its bytes, and the piece goes from byte `at` of it on as
     * it will be. */
    const struct mf_rows *rows;
    uint64_t at, whole;
};

struct transfer {
    struct mf_outputs *outputs;
    struct mf_crew *crew;
    struct piece *piece;
    size_t count;
};

/* ---- one piece ---- */

static enum mf_status out_of_bounds(struct mf_env *env,
                                    const struct piece *piece)
{
    return mf_fail(env, MF_ERR_IO, piece->from,
                   "%" PRIu64 " bytes are to be copied from here, which the "
                   "file does not have",
                   piece->size);
}

static enum mf_status move_buffer(struct mf_worker *worker,
                                  const struct piece *piece, uint64_t done)
{
    uint64_t left = piece->size - done;
    size_t size =
        left < worker->buffer_size ? (size_t)left : worker->buffer_size;
    uint8_t *buffer = mf_worker_room(worker, piece->from + done);

    if (!piece->source)
        memset(buffer, 0, size);
    else if (mf_source_read(&worker->env, piece->source, piece->from + done,
                            buffer, size) != MF_OK)
        return worker->env.error.status;
    return mf_target_write(&worker->env, &piece->output->target,
                           piece->to + done, buffer, size);
}

/* The number that the row at a place of the new order had in the old one. */
static uint64_t old_row(const struct mf_rows *rows, uint64_t row)
{
    uint64_t place = row % (2 * rows->half), head = row - place;

    if (rows->apart) /* the i-th of half j was the j-th of pair i */
        return head + place % rows->half * 2 + place / rows->half;
    return head + place % 2 * rows->half + place / 2;
}

/* Fills the worker's buffer with rows, or parts of a long one, as they follow
 * in the new order. */
static enum mf_status gather(struct mf_worker *worker,
                             const struct piece *piece, uint64_t at,
                             size_t size)
{
    uint64_t row_size = piece->rows->size;

    for (size_t filled = 0, part; filled < size; filled += part, at += part) {
        uint64_t within = at % row_size;
        uint64_t from = old_row(piece->rows, at / row_size) * row_size + within;

        part = row_size - within < size - filled ? (size_t)(row_size - within)
                                                 : size - filled;
        if (from > piece->whole || part > piece->whole - from)
            return out_of_bounds(&worker->env, piece);
        if (mf_source_read(&worker->env, piece->source, piece->from + from,
                           worker->buffer + filled, part) != MF_OK)
            return worker->env.error.status;
    }
    return MF_OK;
}

static enum mf_status move_rows(struct mf_worker *worker,
                                const struct piece *piece)
{
    if (piece->from > piece->source->size ||
        piece->whole > piece->source->size - piece->from)
        return out_of_bounds(&worker->env, piece);
    for (uint64_t done = 0; done < piece->size;) {
        uint64_t left = piece->size - done;
        size_t size =
            left < worker->buffer_size ? (size_t)left : worker->buffer_size;

        if (gather(worker, piece, piece->at + done, size) != MF_OK ||
            mf_target_write(&worker->env, &piece->output->target,
                            piece->to + done, worker->buffer, size) != MF_OK)
            return worker->env.error.status;
        done += size;
        mf_worker_done(worker, size);
    }
    return MF_OK;
}

static enum mf_status move_piece(struct mf_worker *worker, void *context,
                                 size_t task)
{
    const struct transfer *transfer = context;
    const struct piece *piece = &transfer->piece[task];
    bool by_kernel = piece->source != NULL;

    if (piece->rows)
        return move_rows(worker, piece);
    if (piece->source && (piece->from > piece->source->size ||
                          piece->size > piece->source->size - piece->from))
        return out_of_bounds(&worker->env, piece);
    for (uint64_t done = 0; done < piece->size;) {
        size_t moved = 0;

        if (by_kernel)
            moved = mf_target_copy(&worker->env, &piece->output->target,
                                   piece->to + done, piece->source,
                                   piece->from + done,
                                   (size_t)(piece->size - done));
        by_kernel = moved > 0;
        if (moved == 0) {
            uint64_t left = piece->size - done;

            if (move_buffer(worker, piece, done) != MF_OK)
                return worker->env.error.status;
            moved =
                left < worker->buffer_size ? (size_t)left : worker->buffer_size;
        }
        done += moved;
        mf_worker_done(worker, moved);
    }
    return MF_OK;
}

/* ---- all pieces ---- */

static enum mf_status run(struct transfer *transfer)
{
    size_t count = transfer->count;

    transfer->count = 0;
    return mf_crew_run(transfer->crew, move_piece, transfer, count);
}

static enum mf_status add(struct transfer *transfer, struct piece piece)
{
    for (uint64_t left = piece.size; left > 0;) {
        piece.size = left < PIECE ? left : PIECE;
        if (transfer->count == PIECES && run(transfer) != MF_OK)
            return transfer->crew->env->error.status;
        transfer->piece[transfer->count++] = piece;
        if (piece.rows)
            piece.at += piece.size;
        else
            piece.from += piece.size;
        piece.to += piece.size;
        left -= piece.size;
    }
    return MF_OK;
}

/* A file's gaps are zeros of themselves; a pipe's are not. */
static enum mf_status fill(struct transfer *transfer, struct mf_output *output,
                           uint64_t from, uint64_t to)
{
    struct piece piece = { .output = output, .to = from, .size = to - from };

    return output->target.stream ? add(transfer, piece) : MF_OK;
}

static enum mf_status transfer_tensor(struct transfer *transfer,
                                      struct mf_output *output,
                                      const struct mf_draft_tensor *tensor)
{
    const struct mf_model *model = transfer->outputs->model;
    const struct mf_record *record = &model->index.tensor[tensor->record];
    struct piece piece = { .output = output,
                           .source = &model->file[record->shard].source,
                           .from = record->offset,
                           .to = output->draft.data_offset + tensor->offset,
                           .size = tensor->size,
                           .rows = tensor->rows.size > 0 ? &tensor->rows : NULL,
                           .whole = record->size };

    if (tensor->size != record->size)
        return out_of_bounds(model->env, &piece);
    return add(transfer, piece);
}

static enum mf_status transfer_output(struct transfer *transfer,
                                      struct mf_output *output)
{
    const struct mf_draft *draft = &output->draft;
    uint64_t at = draft->data_offset;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < draft->tensor_count && status == MF_OK; i++) {
        const struct mf_draft_tensor *tensor = mf_draft_in_order(draft, i);
        uint64_t start = draft->data_offset + tensor->offset;

        status = fill(transfer, output, at, start);
        if (status == MF_OK)
            status = transfer_tensor(transfer, output, tensor);
        at = start + tensor->size;
    }
    if (status == MF_OK)
        status =
            fill(transfer, output, at, draft->data_offset + draft->data_size);
    return status;
}

static enum mf_status transfer_file(struct transfer *transfer)
{
    struct mf_output *output = transfer->outputs->output;
    const struct mf_source *source = &transfer->outputs->model->file[0].source;
    struct piece piece = { .output = output,
                           .source = source,
                           .size = source->size };

    return add(transfer, piece);
}

enum mf_status mf_outputs_transfer(struct mf_outputs *outputs,
                                   struct mf_crew *crew)
{
    struct transfer transfer = { .outputs = outputs, .crew = crew };
    enum mf_status status = MF_OK;

    transfer.piece = mf_alloc(outputs->env, PIECES * sizeof(*transfer.piece));
    if (!transfer.piece)
        return outputs->env->error.status;
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = outputs->verbatim
                     ? transfer_file(&transfer)
                     : transfer_output(&transfer, &outputs->output[i]);
    if (status == MF_OK)
        status = run(&transfer);
    mf_release(outputs->env, transfer.piece, PIECES * sizeof(*transfer.piece));
    return status;
}
