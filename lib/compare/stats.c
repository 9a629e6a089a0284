/* SPDX-License-Identifier: MIT
 *
 * stats.c - statistics of tensors' numbers
 *
 * Tensors are cut into pieces of fixed size; a thread sums up a piece in order,
 * and the pieces' sums are joined in order: the result is the same for any
 * number of threads, as in diff_values.c.
 */
#include "lib/compare/stats.h"
#include "lib/base/little.h"
#include "lib/base/timings.h"
#include "lib/compare/sums.h"
#include "lib/model/steady.h"
#include "lib/write/convert.h"

#define PIECE  ((size_t)512 * 1024)
#define PIECES 256

/* Counters of all pieces in work: a few of f64, which has 2098 exponents of
 * either sign, and enough of all others. */
#define COUNTERS       ((size_t)128 * 1024)
#define COUNTERS_SHARE 8 /* of the memory that is left */

struct piece {
    const struct mf_record *record;
    size_t number; /* of the result */
    uint64_t at, size;
    bool last; /* of the tensor */
    struct mf_recoding recoding;
    struct mf_tensor_sums sums;
};

struct measurement {
    struct mf_model *model;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct piece *piece;
    size_t count, room;
    struct mf_tensor_sums sums; /* of the last tensor that was begun */
    /* Of histograms, or NULL: its counters, then those of the pieces. */
    uint64_t *counter;
    size_t widest;                  /* counters of the tensor with the most */
    size_t counters, counters_used; /* of the pieces */
    struct mf_tensor_stats *out;    /* or: */
    void (*each)(void *user, size_t number,
                 const struct mf_tensor_histogram *histogram);
    void *user;
};

/* The rows in the buffer, of which the first is row `row`. */
static enum mf_status add_rows(struct mf_worker *worker, struct piece *piece,
                               struct mf_moments_batch *batch, uint64_t row,
                               size_t rows)
{
    const struct mf_recoding *recoding = &piece->recoding;
    struct mf_numbers numbers = { .bytes = worker->buffer,
                                  .type = recoding->from,
                                  .count = mf_recoding_numbers(recoding, row,
                                                               rows) };
    struct mf_timed timed;

    if (!mf_type_is_integer(recoding->from) && recoding->from != MF_TYPE_F64) {
        void *floats =
            mf_recode(&worker->env, recoding, worker->buffer, rows, row, NULL);

        if (!floats)
            return worker->env.error.status;
        mf_order_floats(floats, numbers.count);
        numbers.floats = floats;
    }
    timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
    mf_tensor_sums_add(&piece->sums, batch, &numbers);
    mf_timed_end(&worker->env, timed);
    return MF_OK;
}

static enum mf_status measure_piece(struct mf_worker *worker, void *context,
                                    size_t task)
{
    const struct measurement *measurement = context;
    struct piece *piece = &measurement->piece[task];
    const struct mf_recoding *recoding = &piece->recoding;
    const struct mf_source *source =
        &measurement->model->file[piece->record->shard].source;
    uint64_t head = mf_record_data(measurement->model, piece->record);
    uint64_t start = head + recoding->prefix;
    size_t most = mf_recoding_rows(recoding, worker->buffer_size), some;
    struct mf_moments_batch batch = { .count = 0 };

    mf_worker_at(worker, piece->record->name);
    for (uint64_t done = 0; done < piece->size; done += some * recoding->in) {
        uint64_t rows = mf_recoding_count(recoding, piece->size - done);
        uint64_t row = (piece->at + done) / recoding->in;
        size_t numbers;

        some = mf_next_part(&worker->env, rows, most);
        numbers = mf_recoding_numbers(recoding, row, some);
        if (some == 0 ||
            mf_source_read(&worker->env, source, head, worker->buffer,
                           recoding->prefix) != MF_OK ||
            mf_source_read(&worker->env, source, start + piece->at + done,
                           mf_recoding_room(recoding, worker->buffer),
                           (size_t)mf_numbers_size(recoding->from, numbers)) !=
                MF_OK ||
            add_rows(worker, piece, &batch, row, some) != MF_OK)
            return worker->env.error.status;
    }
    mf_moments_flush(&piece->sums.moments, &batch);
    mf_worker_done(worker, piece->size);
    return MF_OK;
}

/* The status is that of the env: each may call it. */
static enum mf_status join_piece(struct measurement *measurement,
                                 const struct piece *piece)
{
    struct mf_tensor_sums *sums = &measurement->sums;
    struct mf_tensor_histogram result;

    if (piece->at == 0)
        *sums = mf_tensor_sums_from(piece->recoding.from, measurement->counter,
                                    piece->sums.rows.columns, 0);
    mf_tensor_sums_join(sums, &piece->sums);
    if (!piece->last)
        return MF_OK;
    mf_tensor_sums_finish(sums, &result);
    if (!measurement->each) {
        measurement->out[piece->number] = result.stats;
        return MF_OK;
    }
    measurement->each(measurement->user, piece->number, &result);
    return measurement->model->env->error.status;
}

/* Pieces of a compressed tensor are unpacked one after the other. */
static bool follows(const void *context, size_t task)
{
    const struct measurement *measurement = context;
    const struct piece *piece = &measurement->piece[task];

    return task > 0 && piece->at > 0 &&
           mf_record_is_packed(&measurement->model->index, piece->record);
}

static void expect(const struct measurement *measurement)
{
    const struct mf_model *model = measurement->model;
    struct mf_expected expected = { 0 };

    for (size_t i = 0; i < measurement->count; i++) {
        const struct piece *piece = &measurement->piece[i];
        uint64_t at = mf_record_data(model, piece->record) +
                      piece->recoding.prefix + piece->at;

        mf_expect_add(&expected, &model->file[piece->record->shard].source,
                      (struct mf_span){ at, piece->size });
    }
    mf_expect_end(&expected);
}

static void *sums_of(void *context, size_t task)
{
    struct measurement *measurement = context;

    return &measurement->piece[task].sums;
}

/* Without counters, which are elsewhere. */
static const struct mf_yields results = { sums_of,
                                          sizeof(struct mf_tensor_sums) };

static enum mf_status run(struct measurement *measurement)
{
    size_t count = measurement->count;
    enum mf_status status;

    expect(measurement);
    status = measurement->counter
                 ? mf_crew_run_rows(&measurement->crew, measure_piece, follows,
                                    measurement, count)
                 : mf_crew_share(&measurement->crew, measure_piece, follows,
                                 measurement, count, &results);
    measurement->count = 0;
    measurement->counters_used = 0;
    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = join_piece(measurement, &measurement->piece[i]);
    return status;
}

/* Numbers of a row of the tensor, which need not be one of the recoding. */
static uint64_t columns_of(const struct mf_model *model,
                           const struct mf_record *record)
{
    uint64_t columns = 1;

    if (record->rank > 0)
        columns = record->dim[model->info.fastest_first ? 0 : record->rank - 1];
    return columns > 0 ? columns : 1;
}

/* Counters of one tensor, and likewise of a piece. */
static size_t counters_of(const struct mf_record *record)
{
    return mf_bins_count(mf_exponents_of((enum mf_type)record->type));
}

/* Adds a piece of a tensor; first runs those before where there is no room. */
static enum mf_status add_piece(struct measurement *measurement,
                                const struct piece *piece)
{
    const struct mf_record *record = piece->record;
    const struct mf_recoding *recoding = &piece->recoding;
    size_t counters = measurement->counter ? counters_of(record) : 0;
    struct piece *added;
    uint64_t *bins = NULL;

    if ((measurement->count == measurement->room ||
         measurement->counters - measurement->counters_used < counters) &&
        run(measurement) != MF_OK)
        return measurement->model->env->error.status;
    added = &measurement->piece[measurement->count++];
    if (measurement->counter)
        bins = measurement->counter + measurement->widest +
               measurement->counters_used;
    measurement->counters_used += counters;
    *added = *piece;
    added->sums =
        mf_tensor_sums_from((enum mf_type)record->type, bins,
                            columns_of(measurement->model, record),
                            piece->at / recoding->in * recoding->columns);
    return MF_OK;
}

static enum mf_status add_pieces(struct measurement *measurement,
                                 const struct mf_record *record, size_t number)
{
    struct piece piece = { .record = record, .number = number };
    uint64_t size = 0;
    size_t most;

    if (!mf_stats_decoding(measurement->model, measurement->isa, record,
                           &piece.recoding))
        return measurement->model->env->error.status;
    most = piece.recoding.in;
    if (most < PIECE)
        most = PIECE / most * most;
    if (record->size > 0)
        size = record->size - piece.recoding.prefix;
    do { /* once for a tensor without numbers */
        piece.size = size - piece.at < most ? size - piece.at : most;
        piece.last = piece.size == size - piece.at;
        if (add_piece(measurement, &piece) != MF_OK)
            return measurement->model->env->error.status;
        piece.at += piece.size;
    } while (!piece.last);
    return MF_OK;
}

/* For histograms of which the widest has `widest` counters. */
static enum mf_status take_counters(struct measurement *measurement,
                                    size_t widest)
{
    struct mf_env *env = measurement->model->env;
    struct mf_chunk_size size;

    if (widest == 0)
        return MF_OK;
    size = mf_chunk_size(env, 2 * widest, COUNTERS, sizeof(uint64_t),
                         COUNTERS_SHARE);
    measurement->counter = mf_chunk_alloc(env, &size, sizeof(uint64_t));
    if (!measurement->counter)
        return env->error.status;
    measurement->widest = widest;
    measurement->counters = size.now - widest;
    return MF_OK;
}

/* Room for the widest row, and threads for all bytes. */
static enum mf_status prepare(struct measurement *measurement,
                              const size_t *index, size_t count)
{
    struct mf_env *env = measurement->model->env;
    uint64_t work = 0;
    size_t least = 0, widest = 0;

    for (size_t i = 0; i < count; i++) {
        const struct mf_record *record =
            &measurement->model->index.tensor[index[i]];
        struct mf_recoding recoding;

        if (!mf_stats_decoding(measurement->model, measurement->isa, record,
                               &recoding))
            return env->error.status;
        work += record->size;
        if (mf_recoding_need(&recoding) > least)
            least = mf_recoding_need(&recoding);
        if (measurement->each && counters_of(record) > widest)
            widest = counters_of(record);
    }
    measurement->piece = mf_chunk_table(
        env, PIECES, sizeof(*measurement->piece), &measurement->room);
    if (!measurement->piece || take_counters(measurement, widest) != MF_OK)
        return env->error.status;
    return mf_crew_init(&measurement->crew, env, work, UINT64_MAX, least);
}

static enum mf_status measure(struct measurement *measurement,
                              const size_t *index, size_t count)
{
    const struct mf_record *tensor = measurement->model->index.tensor;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = add_pieces(measurement, &tensor[index[i]], i);
    return status == MF_OK ? run(measurement) : status;
}

static void release(struct measurement *measurement)
{
    struct mf_env *env = measurement->model->env;
    mf_release(env, measurement->piece,
               measurement->room * sizeof(*measurement->piece));
    mf_release(env, measurement->counter,
               (measurement->widest + measurement->counters) *
                   sizeof(uint64_t));
    mf_crew_release(&measurement->crew);
}

static enum mf_status measure_all(struct measurement *measurement,
                                  const size_t *index, size_t count)
{
    struct mf_model *model = measurement->model;
    struct mf_env *env = model->env;
    struct mf_timed timed;
    enum mf_status status;

    mf_clear_error(env);
    for (size_t i = 0; i < count; i++)
        if (index[i] >= model->index.tensor_count)
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor index %zu is out of range", index[i]);
    measurement->isa = mf_stats_isa(model);
    if (!measurement->isa)
        return env->error.status;
    timed = mf_timed_begin(env, MF_PHASE_REST);
    status = prepare(measurement, index, count);
    for (unsigned round = 0;
         status == MF_OK && mf_steady_next(env, &model, 1, &round);)
        status = measure(measurement, index, count);
    status = env->error.status;
    release(measurement);
    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_tensor_stats(struct mf_model *model, const size_t *index,
                               size_t count, struct mf_tensor_stats *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, index || count == 0);
    MF_NEED(model->env, out || count == 0);

    struct measurement measurement = { .model = model, .out = out };

    return measure_all(&measurement, index, count);
}

enum mf_status
mf_tensor_histograms(struct mf_model *model, const size_t *index, size_t count,
                     void (*each)(void *user, size_t number,
                                  const struct mf_tensor_histogram *histogram),
                     void *user)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, index || count == 0);
    MF_NEED(model->env, each);

    struct measurement measurement = { .model = model,
                                       .each = each,
                                       .user = user };

    return measure_all(&measurement, index, count);
}
