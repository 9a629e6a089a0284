/* SPDX-License-Identifier: MIT
 *
 * stats.c - statistics of tensors' numbers
 *
 * Tensors are cut into pieces of fixed size; a thread sums up a piece in order,
 * and the pieces' sums are added in order: the result is the same for any
 * number of threads, as in diff_values.c.
 */
#include <math.h>

#include "lib/base/timings.h"
#include "lib/write/convert.h"

#define PIECE  ((size_t)512 * 1024)
#define PIECES 256

struct sums {
    uint64_t count, zeros, nans, infinities;
    double sum, sum2;
    float min, max;
};

struct piece {
    const struct mf_record *record;
    size_t number; /* of the result */
    uint64_t at, size;
    struct mf_recoding recoding;
    struct sums sums;
};

struct measurement {
    struct mf_model *model;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct piece *piece;
    size_t count, room;
    struct mf_tensor_stats *out;
};

static void add_numbers(struct sums *sums, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value = values[i];

        sums->zeros += value == 0;
        if (isnan(value)) {
            sums->nans++;
            continue;
        }
        if (isinf(value)) {
            sums->infinities++;
            continue;
        }
        sums->count++;
        sums->sum += (double)value;
        sums->sum2 += (double)value * (double)value;
        sums->min = value < sums->min ? value : sums->min;
        sums->max = value > sums->max ? value : sums->max;
    }
}

static enum mf_status measure_piece(struct mf_worker *worker, void *context,
                                    size_t task)
{
    const struct measurement *measurement = context;
    struct piece *piece = &measurement->piece[task];
    const struct mf_recoding *recoding = &piece->recoding;
    const struct mf_source *source =
        &measurement->model->file[piece->record->shard].source;
    uint64_t start = piece->record->offset + recoding->prefix;
    size_t most = mf_recoding_rows(recoding, worker->buffer_size), some;

    mf_worker_at(worker, piece->record->name);
    piece->sums = (struct sums){ .min = INFINITY, .max = -INFINITY };
    for (uint64_t done = 0; done < piece->size; done += some * recoding->in) {
        uint64_t rows = mf_recoding_count(recoding, piece->size - done);
        uint64_t row = (piece->at + done) / recoding->in;
        struct mf_timed timed;
        const void *floats;
        size_t numbers;

        some = mf_next_part(&worker->env, rows, most);
        numbers = mf_recoding_numbers(recoding, row, some);
        if (some == 0 ||
            mf_source_read(&worker->env, source, piece->record->offset,
                           worker->buffer, recoding->prefix) != MF_OK ||
            mf_source_read(&worker->env, source, start + piece->at + done,
                           mf_recoding_room(recoding, worker->buffer),
                           (size_t)mf_numbers_size(recoding->from, numbers)) !=
                MF_OK)
            return worker->env.error.status;
        floats =
            mf_recode(&worker->env, recoding, worker->buffer, some, row, NULL);
        if (!floats)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
        add_numbers(&piece->sums, floats, numbers);
        mf_timed_end(&worker->env, timed);
    }
    mf_worker_done(worker, piece->size);
    return MF_OK;
}

/* Adds a piece's sums to its tensor's.  Until finish, mean is the sum of
 * numbers and l2 that of their squares. */
static void add_sums(struct mf_tensor_stats *stats, const struct sums *sums)
{
    stats->count += sums->count;
    stats->zeros += sums->zeros;
    stats->nans += sums->nans;
    stats->infinities += sums->infinities;
    stats->mean += sums->sum;
    stats->l2 += sums->sum2;
    if ((double)sums->min < stats->min)
        stats->min = (double)sums->min;
    if ((double)sums->max > stats->max)
        stats->max = (double)sums->max;
}

static void finish(struct mf_tensor_stats *stats)
{
    double count = (double)stats->count, variance;

    if (stats->count == 0) {
        *stats = (struct mf_tensor_stats){ .zeros = stats->zeros,
                                           .nans = stats->nans,
                                           .infinities = stats->infinities };
        return;
    }
    stats->mean /= count;
    variance = stats->l2 / count - stats->mean * stats->mean;
    stats->std = variance > 0 ? sqrt(variance) : 0;
    stats->l2 = sqrt(stats->l2);
}

/* Pieces of a compressed tensor are unpacked one after the other. */
static bool follows(const void *context, size_t task)
{
    const struct measurement *measurement = context;
    const struct piece *piece = &measurement->piece[task];

    return task > 0 && piece->at > 0 &&
           mf_record_is_packed(&measurement->model->index, piece->record);
}

static enum mf_status run(struct measurement *measurement)
{
    size_t count = measurement->count;
    enum mf_status status = mf_crew_run_rows(&measurement->crew, measure_piece,
                                             follows, measurement, count);

    measurement->count = 0;
    for (size_t i = 0; i < count && status == MF_OK; i++)
        add_sums(&measurement->out[measurement->piece[i].number],
                 &measurement->piece[i].sums);
    return status;
}

/* How the tensor is decoded; false after mf_fail. */
static bool decoding_of(const struct measurement *measurement,
                        const struct mf_record *record, struct mf_recoding *out)
{
    const struct mf_model *model = measurement->model;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry, "tensor '%s' %s",
                mf_record_name(record).text,
                record->type == MF_TYPE_UNKNOWN ? "has an unknown type"
                                                : "is damaged");
        return false;
    }
    return mf_recoding_to_floats(model, measurement->isa, record, out);
}

static enum mf_status add_pieces(struct measurement *measurement,
                                 const struct mf_record *record, size_t number)
{
    struct mf_recoding recoding;
    uint64_t size, out;
    size_t most;

    if (!decoding_of(measurement, record, &recoding))
        return measurement->model->env->error.status;
    if (record->size == 0) /* as aprender's scalars may be */
        return MF_OK;
    if (!mf_recoding_sizes(&recoding, &size, &out) ||
        size + recoding.prefix != record->size)
        return mf_fail(measurement->model->env, MF_ERR_UNSUPPORTED,
                       record->entry,
                       "tensor '%s': its size, %" PRIu64
                       " bytes, does not match its shape",
                       mf_record_name(record).text, record->size);
    most =
        recoding.in < PIECE ? PIECE / recoding.in * recoding.in : recoding.in;
    for (uint64_t at = 0, some; at < size; at += some) {
        some = mf_next_part(measurement->model->env, size - at, most);
        if (some == 0 || (measurement->count == measurement->room &&
                          run(measurement) != MF_OK))
            return measurement->model->env->error.status;
        measurement->piece[measurement->count++] = (struct piece){
            .record = record,
            .number = number,
            .at = at,
            .size = some,
            .recoding = recoding,
        };
    }
    return MF_OK;
}

/* Room for the widest row, and threads for all bytes. */
static enum mf_status prepare(struct measurement *measurement,
                              const size_t *index, size_t count)
{
    struct mf_env *env = measurement->model->env;
    uint64_t work = 0;
    size_t least = 0;

    for (size_t i = 0; i < count; i++) {
        const struct mf_record *record =
            &measurement->model->index.tensor[index[i]];
        struct mf_recoding recoding;

        if (!decoding_of(measurement, record, &recoding))
            return env->error.status;
        work += record->size;
        if (mf_recoding_need(&recoding) > least)
            least = mf_recoding_need(&recoding);
    }
    measurement->piece = mf_chunk_table(
        env, PIECES, sizeof(*measurement->piece), &measurement->room);
    if (!measurement->piece)
        return env->error.status;
    return mf_crew_init(&measurement->crew, env, work, UINT64_MAX, least);
}

enum mf_status mf_tensor_stats(struct mf_model *model, const size_t *index,
                               size_t count, struct mf_tensor_stats *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, index || count == 0);
    MF_NEED(model->env, out || count == 0);

    struct measurement measurement = { .model = model, .out = out };
    struct mf_env *env = model->env;
    struct mf_timed timed;
    enum mf_status status;

    mf_clear_error(env);
    for (size_t i = 0; i < count; i++)
        if (index[i] >= model->index.tensor_count)
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "tensor index %zu is out of range", index[i]);
    if (mf_table_refuse(model) != MF_OK)
        return env->error.status;
    if (model->info.byte_order == MF_BIG_ENDIAN)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "decoding a big-endian model is not supported");
    measurement.isa = mf_isa_choose(env);
    if (!measurement.isa)
        return env->error.status;
    timed = mf_timed_begin(env, MF_PHASE_REST);
    status = prepare(&measurement, index, count);
    for (size_t i = 0; i < count && status == MF_OK; i++) {
        out[i] = (struct mf_tensor_stats){ .min = INFINITY, .max = -INFINITY };
        status = add_pieces(&measurement, &model->index.tensor[index[i]], i);
    }
    if (status == MF_OK)
        status = run(&measurement);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        finish(&out[i]);
    mf_release(env, measurement.piece,
               measurement.room * sizeof(*measurement.piece));
    mf_crew_release(&measurement.crew);
    mf_timed_end(env, timed);
    return status;
}
