/* SPDX-License-Identifier: MIT
 *
 * data_rows.c - finding matrices whose rows are all the same
 *
 * All rows are the same if each byte equals the one a row later.  Nearly every
 * tensor shows in its first piece that they are not; then nothing more is
 * compared.  For the others, and where a row is longer than a piece, one thread
 * reads the tensor at two places a row apart, until they differ.  What it finds
 * depends neither on the size of pieces nor on the number of threads.
 */
#include "lib/check/data_parts.h"

#include <string.h>

#include "lib/base/timings.h"
#include "lib/check/scan.h"

/* The kernels of small convolutions may be the same by design. */
#define ROW_MIN 16

struct comparison {
    const struct mf_model *model;
    const struct mf_record *record;
    uint64_t row;
    bool same;
};

uint64_t mf_data_row(const struct mf_model *model,
                     const struct mf_record *record)
{
    enum mf_type type = (enum mf_type)record->type;
    uint64_t columns, row;

    if (record->rank < 2 || !mf_scan_is_weight(type))
        return 0;
    columns = record->dim[model->info.fastest_first ? 0 : record->rank - 1];
    if (columns < ROW_MIN || columns % mf_types[type].block != 0 ||
        !mf_type_size(type, columns, &row))
        return 0;
    row -= mf_type_head(type);
    return record->size - mf_type_head(type) >= 2 * row ? row : 0;
}

bool mf_data_row_differs(const uint8_t *bytes, size_t size, uint64_t row)
{
    return row < size && memcmp(bytes, bytes + row, size - (size_t)row) != 0;
}

static enum mf_status compare_rows(struct mf_worker *worker, void *context,
                                   size_t task)
{
    struct comparison *comparison = context;
    const struct mf_record *record = comparison->record;
    const struct mf_source *source =
        &comparison->model->file[record->shard].source;
    size_t half = worker->buffer_size / 2;
    uint64_t at = record->offset + mf_type_head((enum mf_type)record->type);
    uint64_t left = record->offset + record->size - at - comparison->row;

    (void)task;
    while (left > 0 && comparison->same) {
        size_t size = mf_next_part(&worker->env, left, half);
        struct mf_timed timed;

        if (size == 0 ||
            mf_source_read(&worker->env, source, at, worker->buffer, size) !=
                MF_OK ||
            mf_source_read(&worker->env, source, at + comparison->row,
                           worker->buffer + half, size) != MF_OK)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_SCAN);
        comparison->same =
            memcmp(worker->buffer, worker->buffer + half, size) == 0;
        mf_timed_end(&worker->env, timed);
        at += size;
        left -= size;
        if (!mf_worker_done(worker, 0))
            return mf_worker_stopped(worker);
    }
    return MF_OK;
}

enum mf_status mf_data_rows_same(struct mf_crew *crew,
                                 const struct mf_model *model,
                                 const struct mf_record *record, uint64_t row,
                                 uint64_t *out)
{
    struct comparison comparison = { model, record, row, true };
    enum mf_status status = mf_crew_run(crew, compare_rows, &comparison, 1);

    *out = comparison.same ? record->size / row : 0;
    return status;
}
