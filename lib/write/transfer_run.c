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

static void *result_of(void *context, size_t task)
{
    struct mf_transfer *transfer = context;

    return &transfer->piece[task].result;
}

static const struct mf_yields results = { result_of,
                                          sizeof(struct mf_piece_result) };

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

/* Ranks write to one file, and each has its own part of it to sync: before the
 * run, at whose end all know that all have. */
static enum mf_status run_pieces(struct mf_transfer *transfer, bool flush_due)
{
    struct mf_env *env = transfer->outputs->env;

    transfer->flushes = flush_due && !env->ranks;
    if (flush_due && env->ranks &&
        mf_resume_flush(transfer->outputs->resume, env) != MF_OK)
        return env->error.status;
    return mf_crew_share(transfer->crew, move_piece, follows, transfer,
                         transfer->count + transfer->flushes, &results);
}

enum mf_status mf_transfer_run(struct mf_transfer *transfer)
{
    struct mf_resume *resume = transfer->outputs->resume;
    size_t count = transfer->count;
    bool flush_due = resume && count > 0 && mf_resume_flush_due(resume);
    enum mf_status status;

    expect(transfer);
    status = run_pieces(transfer, flush_due);
    transfer->count = 0;
    if (flush_due)
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
