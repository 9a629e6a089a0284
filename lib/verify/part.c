/* SPDX-License-Identifier: MIT
 *
 * part.c - a thread compares a part of a tensor
 *
 * A worker's buffer has rows of the source at its start, then their floats and
 * blocks (recode.c), and the model's bytes at its end.
 */
#include "lib/base/timings.h"
#include "lib/verify/verify.h"

/* ours and theirs: bytes from the part's byte `at` on, a multiple of a block.
 */
static void compare_blocks(struct mf_comparison *comparison,
                           struct mf_verify_part *part, uint64_t at,
                           const uint8_t *ours, const uint8_t *theirs,
                           size_t size)
{
    size_t block = mf_verify_block(part->piece.tensor);

    if (memcmp(ours, theirs, size) == 0)
        return;
    atomic_store(&comparison->refuted, true);
    for (size_t i = 0; i < size; i += block) {
        size_t some = size - i < block ? size - i : block;

        if (memcmp(ours + i, theirs + i, some) == 0)
            continue;
        if (part->found.differ++ == 0)
            part->found.first = part->block + (at + i) / block;
    }
}

static enum mf_status read_model(struct mf_worker *worker,
                                 const struct mf_verify_part *part, uint64_t at,
                                 uint8_t *into, size_t size)
{
    return mf_source_read(&worker->env, part->file, part->place + at, into,
                          size) == MF_OK
               ? MF_OK
               : worker->env.error.status;
}

/* Further attempts are not part of the work that is reported. */
static void report_done(struct mf_worker *worker,
                        const struct mf_comparison *comparison, uint64_t bytes)
{
    mf_worker_done(worker, comparison->tries ? 0 : bytes);
}

/* No open question is left. */
static bool is_decided(const struct mf_comparison *comparison)
{
    return comparison->tries && atomic_load(&comparison->refuted);
}

static enum mf_status compare_copied(struct mf_worker *worker,
                                     struct mf_comparison *comparison,
                                     struct mf_verify_part *part)
{
    size_t block = mf_verify_block(part->piece.tensor);
    size_t half = worker->buffer_size / 2 / block * block, some;
    uint8_t *theirs = worker->buffer + worker->buffer_size / 2;

    for (uint64_t done = 0; done < part->piece.size; done += some) {
        some = mf_next_part(&worker->env, part->piece.size - done, half);
        if (some == 0 ||
            mf_piece_read(worker, &part->piece, part->piece.at + done,
                          worker->buffer, some) != MF_OK ||
            read_model(worker, part, done, theirs, some) != MF_OK)
            return worker->env.error.status;
        compare_blocks(comparison, part, done, worker->buffer, theirs, some);
        report_done(worker, comparison, some);
    }
    return MF_OK;
}

/* Rows for which a buffer has room, with the model's bytes after all else. */
static size_t rows_in(const struct mf_recoding *recoding, size_t buffer_size)
{
    size_t each =
        recoding->in + recoding->columns * sizeof(float) + recoding->out;

    uint64_t rows = (uint64_t)mf_recoding_rows(recoding, buffer_size) * each /
                    (each + recoding->out);

    return rows > 0 ? (size_t)rows : 1; /* buffers have room for one */
}

/* ours: rows of the source, encoded. */
static enum mf_status compare_rows(struct mf_worker *worker,
                                   struct mf_comparison *comparison,
                                   struct mf_verify_part *part, uint64_t done,
                                   size_t rows, const uint8_t *ours)
{
    const struct mf_recoding *recoding = &part->piece.recoding;
    uint64_t first = part->piece.at / recoding->in + done;
    size_t numbers = mf_recoding_numbers(recoding, first, rows);
    size_t size = (size_t)mf_numbers_size(recoding->to, numbers);
    uint8_t *theirs = worker->buffer + worker->buffer_size - size;

    if (read_model(worker, part, done * recoding->out, theirs, size) != MF_OK)
        return worker->env.error.status;
    compare_blocks(comparison, part, done * recoding->out, ours, theirs, size);
    report_done(worker, comparison, mf_numbers_size(recoding->from, numbers));
    return MF_OK;
}

/* A row that has no encoding, which only this tensor suffers from.  The error
 * is kept where it is wanted. */
static enum mf_status refuse(struct mf_worker *worker,
                             struct mf_comparison *comparison,
                             struct mf_verify_part *part)
{
    enum mf_status status = worker->env.error.status;

    if (comparison->explains ||
        (status != MF_ERR_UNSUPPORTED && status != MF_ERR_ARGUMENT))
        return status;
    mf_clear_error(&worker->env);
    part->found.refused = true;
    atomic_store(&comparison->refuted, true);
    return MF_OK;
}

static enum mf_status compare_encoded(struct mf_worker *worker,
                                      struct mf_comparison *comparison,
                                      struct mf_verify_part *part)
{
    struct mf_piece *piece = &part->piece;
    const struct mf_recoding *recoding = &piece->recoding;
    size_t most = rows_in(recoding, worker->buffer_size), some;
    uint64_t first = piece->at / recoding->in;
    uint64_t count = mf_recoding_count(recoding, piece->size);
    const uint8_t *ours;

    for (uint64_t done = 0; done < count && !is_decided(comparison);
         done += some) {
        some = mf_next_part(&worker->env, count - done, most);
        if (some == 0 ||
            mf_piece_read_rows(worker, piece, first + done, some) != MF_OK)
            return worker->env.error.status;
        if (piece->measured) {
            part->found.largest =
                mf_recode_largest(&worker->env, recoding, worker->buffer, some,
                                  first + done, part->found.largest);
            continue;
        }
        ours = mf_recode(&worker->env, recoding, worker->buffer, some,
                         first + done, NULL);
        if (!ours)
            return refuse(worker, comparison, part);
        if (compare_rows(worker, comparison, part, done, some, ours) != MF_OK)
            return worker->env.error.status;
    }
    return MF_OK;
}

enum mf_status mf_verify_compare_part(struct mf_worker *worker, void *context,
                                      size_t task)
{
    struct mf_comparison *comparison = context;
    struct mf_verify_part *part = &comparison->part[task];

    if (is_decided(comparison))
        return MF_OK;
    mf_worker_at(worker, mf_claim_record(comparison->work, part->claim)->name);
    return part->piece.recoding.decode
               ? compare_encoded(worker, comparison, part)
               : compare_copied(worker, comparison, part);
}
