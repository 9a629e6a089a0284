/* SPDX-License-Identifier: MIT
 *
 * transfer_run.c - threads share the pieces that were collected
 */
#include "lib/write/transfer.h"

#include "lib/write/resume.h"

static enum mf_status move_piece(struct mf_worker *worker, void *context,
                                 size_t task)
{
    const struct mf_transfer *transfer = context;

    if (transfer->flushes && task-- == 0)
        return mf_resume_flush(transfer->outputs->resume, &worker->env);
    return mf_piece_move(worker, &transfer->piece[task]);
}

static bool follows(const void *context, size_t task)
{
    const struct mf_transfer *transfer = context;

    return task > transfer->flushes &&
           transfer->piece[task - transfer->flushes].follows;
}

static void add_sums(struct mf_transfer *transfer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mf_piece *piece = &transfer->piece[i];

        if (piece->measured)
            transfer->largest = fmaxf(transfer->largest, piece->result.largest);
        else if (piece->recoding.check && !piece->kept && !piece->again)
            mf_deviation_add(&piece->output->deviation[piece->tensor->type],
                             &piece->result.deviation);
    }
}

/* Sources that fetch get to know what will be read: of the last piece the rest
 * of its tensor, too. */
static void expect(const struct mf_transfer *transfer)
{
    struct mf_expected expected = { 0 };

    for (size_t i = 0; i < transfer->count; i++) {
        const struct mf_piece *piece = &transfer->piece[i];
        struct mf_span span = { piece->span.offset + piece->at, piece->size };

        if (i + 1 == transfer->count)
            span.size = piece->span.size - piece->at;
        if (piece->source && !piece->kept && !piece->rides)
            mf_expect_add(&expected, piece->source, span);
    }
    mf_expect_end(&expected);
}

enum mf_status mf_transfer_run(struct mf_transfer *transfer)
{
    struct mf_resume *resume = transfer->outputs->resume;
    size_t count = transfer->count;
    enum mf_status status;

    expect(transfer);
    transfer->flushes = resume && count > 0 && mf_resume_flush_due(resume);
    status = mf_crew_run_rows(transfer->crew, move_piece, follows, transfer,
                              count + transfer->flushes);
    transfer->count = 0;
    if (transfer->flushes)
        mf_resume_flushed(resume);
    if (status != MF_OK)
        return status;
    add_sums(transfer, count);
    for (size_t i = 0; i < count && transfer->outputs->again; i++)
        if (transfer->piece[i].result.differs)
            return mf_outputs_input_changed(transfer->outputs);
    return resume ? mf_resume_ran(resume, transfer->piece, count,
                                  transfer->largest)
                  : MF_OK;
}
