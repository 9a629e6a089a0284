/* SPDX-License-Identifier: MIT
 *
 * stats.c - statistics of tensors' numbers
 *
 * Integers are summed up exactly, doubles as doubles, and all others as the
 * floats that they decode to.  Tensors are cut into pieces of fixed size; a
 * thread sums up a piece in order, and the pieces' sums are joined in order:
 * the result is the same for any number of threads, as in diff_values.c.
 */
#include <math.h>
#include <string.h>

#include "lib/base/little.h"
#include "lib/base/timings.h"
#include "lib/compare/moments.h"
#include "lib/compare/wide.h"
#include "lib/model/steady.h"
#include "lib/write/convert.h"

#define PIECE  ((size_t)512 * 1024)
#define PIECES 256

/* Of one type: either the integers or the moments have numbers. */
struct sums {
    struct mf_integers integers;
    struct mf_moments moments;
};

#define NO_SUMS                                                                \
    (struct sums)                                                              \
    {                                                                          \
        .moments = MF_MOMENTS_NONE                                             \
    }

struct piece {
    const struct mf_record *record;
    size_t number; /* of the result */
    uint64_t at, size;
    bool last; /* of the tensor */
    struct mf_recoding recoding;
    struct sums sums;
};

struct measurement {
    struct mf_model *model;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct piece *piece;
    size_t count, room;
    /* Of the last tensor that was begun, and its number. */
    struct sums sums;
    size_t number;
    struct mf_tensor_stats *out;
};

/* The rows in the buffer, of which the first is row `row`. */
static enum mf_status add_rows(struct mf_worker *worker, struct piece *piece,
                               struct mf_moments_batch *batch, uint64_t row,
                               size_t rows)
{
    const struct mf_recoding *recoding = &piece->recoding;
    size_t numbers = mf_recoding_numbers(recoding, row, rows);
    const uint8_t *bytes = worker->buffer;
    void *floats = NULL;
    struct mf_timed timed;

    if (!mf_type_is_integer(recoding->from) && recoding->from != MF_TYPE_F64) {
        floats =
            mf_recode(&worker->env, recoding, worker->buffer, rows, row, NULL);
        if (!floats)
            return worker->env.error.status;
        mf_order_floats(floats, numbers);
    }
    timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
    if (floats)
        mf_moments_floats(&piece->sums.moments, batch, floats, numbers);
    else if (recoding->from == MF_TYPE_F64)
        mf_moments_doubles(&piece->sums.moments, batch, bytes, numbers);
    else
        mf_integers_add(&piece->sums.integers, recoding->from, bytes, numbers);
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
    piece->sums = NO_SUMS;
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

static void join_sums(struct sums *sums, const struct sums *more)
{
    mf_integers_join(&sums->integers, &more->integers);
    mf_moments_join(&sums->moments, &more->moments);
}

/* ---- results ---- */

/* The type of numbers in which the statistics of a tensor are exact. */
static enum mf_value_type kind_of(enum mf_type type)
{
    if (mf_type_is_integer(type))
        return mf_type_is_signed(type) ? MF_VALUE_I64 : MF_VALUE_U64;
    return type == MF_TYPE_F64 ? MF_VALUE_F64 : MF_VALUE_F32;
}

/* An integer of either kind, as mf_integer_at gives it. */
static union mf_number integer_number(uint64_t integer, bool is_signed)
{
    union mf_number number = { .u64 = integer };

    if (is_signed)
        memcpy(&number.i64, &integer, sizeof(number.i64));
    return number;
}

static double number_double(union mf_number number, bool is_signed)
{
    return is_signed ? (double)number.i64 : (double)number.u64;
}

static void finish_integers(const struct mf_integers *sums, enum mf_type type,
                            struct mf_tensor_stats *out)
{
    bool is_signed = mf_type_is_signed(type);

    out->count = sums->count;
    out->zeros = sums->zeros;
    out->least = integer_number(mf_integers_min(sums, type), is_signed);
    out->greatest = integer_number(mf_integers_max(sums, type), is_signed);
    out->min = number_double(out->least, is_signed);
    out->max = number_double(out->greatest, is_signed);
    if (sums->count == 0)
        return;
    out->mean = mf_integers_mean(sums);
    out->std = mf_integers_deviation(sums);
    out->l2 = mf_integers_norm(sums);
}

static void finish_floats(const struct mf_moments *moments,
                          struct mf_tensor_stats *out)
{
    out->count = moments->count;
    out->zeros = moments->zeros;
    out->nans = moments->nans;
    out->infinities = moments->infinities;
    if (moments->count == 0)
        return;
    out->min = out->least.f64 = moments->min;
    out->max = out->greatest.f64 = moments->max;
    out->mean = mf_moments_mean(moments);
    out->std = mf_moments_deviation(moments);
    out->l2 = mf_moments_norm(moments);
}

/* Puts the sums of a tensor into its result, and begins another one. */
static void finish(struct measurement *measurement,
                   const struct mf_record *record)
{
    struct mf_tensor_stats *out = &measurement->out[measurement->number];
    enum mf_type type = record->type;

    if (mf_type_is_integer(type))
        finish_integers(&measurement->sums.integers, type, out);
    else
        finish_floats(&measurement->sums.moments, out);
}

static void join_piece(struct measurement *measurement,
                       const struct piece *piece)
{
    struct sums *sums = &measurement->sums;

    if (piece->at == 0) {
        measurement->number = piece->number;
        *sums = NO_SUMS;
    }
    join_sums(sums, &piece->sums);
    if (piece->last)
        finish(measurement, piece->record);
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
        join_piece(measurement, &measurement->piece[i]);
    return status;
}

/* How the tensor is decoded; false after mf_fail. */
static bool decoding_of(const struct measurement *measurement,
                        const struct mf_record *record, struct mf_recoding *out)
{
    const struct mf_model *model = measurement->model;
    uint64_t in, floats;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry, "tensor '%s' %s",
                mf_record_name(record).text,
                record->type == MF_TYPE_UNKNOWN ? "has an unknown type"
                                                : "is damaged");
        return false;
    }
    if (!mf_numbers_recoding(model, measurement->isa, record, out))
        return false;
    if (record->size > 0 && /* as aprender's scalars may not be */
        (!mf_recoding_sizes(out, &in, &floats) ||
         in + out->prefix != record->size)) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                "tensor '%s': its size, %" PRIu64
                " bytes, does not match its shape",
                mf_record_name(record).text, record->size);
        return false;
    }
    return true;
}

static enum mf_status add_pieces(struct measurement *measurement,
                                 const struct mf_record *record, size_t number)
{
    struct mf_recoding recoding;
    uint64_t size;
    size_t most;

    if (!decoding_of(measurement, record, &recoding))
        return measurement->model->env->error.status;
    if (record->size == 0)
        return MF_OK;
    size = record->size - recoding.prefix;
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
            .last = some == size - at,
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

static enum mf_status measure(struct measurement *measurement,
                              const size_t *index, size_t count)
{
    const struct mf_record *tensor = measurement->model->index.tensor;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && status == MF_OK; i++) {
        measurement->out[i] =
            (struct mf_tensor_stats){ .kind = kind_of(tensor[index[i]].type) };
        status = add_pieces(measurement, &tensor[index[i]], i);
    }
    return status == MF_OK ? run(measurement) : status;
}

/* What keeps all tensors from being measured. */
static enum mf_status begin(struct measurement *measurement)
{
    struct mf_model *model = measurement->model;

    if (mf_table_refuse(model) != MF_OK)
        return model->env->error.status;
    measurement->isa = mf_isa_choose(model->env);
    return measurement->isa ? MF_OK : model->env->error.status;
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
    if (begin(&measurement) != MF_OK)
        return env->error.status;
    timed = mf_timed_begin(env, MF_PHASE_REST);
    status = prepare(&measurement, index, count);
    for (unsigned round = 0;
         status == MF_OK && mf_steady_next(env, &model, 1, &round);)
        status = measure(&measurement, index, count);
    status = env->error.status;
    mf_release(env, measurement.piece,
               measurement.room * sizeof(*measurement.piece));
    mf_crew_release(&measurement.crew);
    mf_timed_end(env, timed);
    return status;
}

/* A reason, for "'name' is not read: ...". */
static void miss(const struct measurement *measurement, size_t index)
{
    struct mf_model *model = measurement->model;
    const struct mf_record *record = &model->index.tensor[index];
    enum mf_type type = (enum mf_type)record->type;
    struct mf_error error = model->env->error;
    struct mf_tensor tensor;
    const char *reason = error.message;

    mf_clear_error(model->env);
    mf_tensor_at(model, index, &tensor);
    if (record->flags & MF_TENSOR_DAMAGED)
        reason = "its data is damaged";
    else if (type == MF_TYPE_UNKNOWN ||
             (type != MF_TYPE_BOOL &&
              !mf_env_codec(model->env, measurement->isa, type)))
        reason = tensor.type;
    mf_index_miss(&model->index, record->shard, tensor.name, "%s", reason);
}

enum mf_status mf_tensor_stats_miss(struct mf_model *model, bool *fits)
{
    struct measurement measurement = { .model = model };
    struct mf_index *index = &model->index;
    struct mf_recoding recoding;

    mf_clear_error(model->env);
    if (begin(&measurement) != MF_OK)
        return model->env->error.status;
    for (size_t i = 0; i < index->tensor_count && index->status == MF_OK; i++) {
        fits[i] = decoding_of(&measurement, &index->tensor[i], &recoding);
        if (!fits[i])
            miss(&measurement, i);
    }
    model->info.missing_count = index->missing.count;
    return index->status;
}
