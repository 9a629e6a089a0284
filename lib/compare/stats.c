/* SPDX-License-Identifier: MIT
 *
 * stats.c - what the numbers of tensors are like
 *
 * Tensors are cut into pieces of fixed size, threads sum each of them up in its
 * order, and the sums are added in the order of the pieces: the result is the
 * same for any number of threads.
 */
#include <math.h>

#include "lib/write/convert.h"

#define PIECE  ((size_t)512 * 1024)
#define PIECES 256

struct sums {
    uint64_t count, zeros, nans, infinities;
    double sum, sum2;
    float least, most;
};

struct piece {
    const struct mf_record *record;
    size_t number; /* of the result */
    uint64_t at, size;
    struct mf_recoding recoding;
    struct sums sums;
};

struct looking {
    struct mf_model *model;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct piece *piece;
    size_t count;
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
        sums->least = value < sums->least ? value : sums->least;
        sums->most = value > sums->most ? value : sums->most;
    }
}

static enum mf_status look_at(struct mf_worker *worker, void *context,
                              size_t task)
{
    const struct looking *looking = context;
    struct piece *piece = &looking->piece[task];
    const struct mf_recoding *recoding = &piece->recoding;
    const struct mf_source *source =
        &looking->model->file[piece->record->shard].source;
    uint64_t start = piece->record->offset + recoding->prefix;
    size_t most = mf_recoding_rows(recoding, worker->buffer_size), some;

    mf_worker_at(worker, piece->record->name);
    piece->sums = (struct sums){ .least = INFINITY, .most = -INFINITY };
    for (uint64_t done = 0; done < piece->size; done += some * recoding->in) {
        uint64_t rows = mf_recoding_count(recoding, piece->size - done);
        uint64_t row = (piece->at + done) / recoding->in;
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
        floats = mf_recode(recoding, worker->buffer, some, row, NULL);
        add_numbers(&piece->sums, floats, numbers);
    }
    mf_worker_done(worker, piece->size);
    return MF_OK;
}

/* The sums of one piece more into what is known of its tensor, of which std
 * and l2 hold the sum of squares until the end. */
static void take(struct mf_tensor_stats *stats, const struct sums *sums)
{
    stats->count += sums->count;
    stats->zeros += sums->zeros;
    stats->nans += sums->nans;
    stats->infinities += sums->infinities;
    stats->mean += sums->sum;
    stats->l2 += sums->sum2;
    if ((double)sums->least < stats->least)
        stats->least = (double)sums->least;
    if ((double)sums->most > stats->most)
        stats->most = (double)sums->most;
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

static enum mf_status run(struct looking *looking)
{
    size_t count = looking->count;
    enum mf_status status =
        mf_crew_run(&looking->crew, look_at, looking, count);

    looking->count = 0;
    for (size_t i = 0; i < count && status == MF_OK; i++)
        take(&looking->out[looking->piece[i].number], &looking->piece[i].sums);
    return status;
}

/* How the tensor becomes floats; false after mf_fail. */
static bool decoding_of(const struct looking *looking,
                        const struct mf_record *record, struct mf_recoding *out)
{
    const struct mf_model *model = looking->model;

    if (record->flags & MF_TENSOR_DAMAGED || record->type == MF_TYPE_UNKNOWN) {
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                "tensor '%s' is %s", mf_record_name(record).text,
                record->type == MF_TYPE_UNKNOWN
                    ? "of a type that is not known here"
                    : "damaged");
        return false;
    }
    return mf_recoding_to_floats(model, looking->isa, record, out);
}

static enum mf_status cut(struct looking *looking,
                          const struct mf_record *record, size_t number)
{
    struct mf_recoding recoding;
    uint64_t size, out;
    size_t most;

    if (!decoding_of(looking, record, &recoding))
        return looking->model->env->error.status;
    if (record->size == 0) /* aprender's scalars may have none */
        return MF_OK;
    if (!mf_recoding_sizes(&recoding, &size, &out) ||
        size + recoding.prefix != record->size)
        return mf_fail(looking->model->env, MF_ERR_UNSUPPORTED, record->entry,
                       "tensor '%s': its %" PRIu64
                       " bytes are not those of its shape",
                       mf_record_name(record).text, record->size);
    most =
        recoding.in < PIECE ? PIECE / recoding.in * recoding.in : recoding.in;
    for (uint64_t at = 0, some; at < size; at += some) {
        some = mf_next_part(looking->model->env, size - at, most);
        if (some == 0 || (looking->count == PIECES && run(looking) != MF_OK))
            return looking->model->env->error.status;
        looking->piece[looking->count++] = (struct piece){
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
static enum mf_status prepare(struct looking *looking, const size_t *index,
                              size_t count)
{
    struct mf_env *env = looking->model->env;
    uint64_t work = 0;
    size_t least = 0;

    for (size_t i = 0; i < count; i++) {
        const struct mf_record *record =
            &looking->model->index.tensor[index[i]];
        struct mf_recoding recoding;

        if (!decoding_of(looking, record, &recoding))
            return env->error.status;
        work += record->size;
        if (mf_recoding_need(&recoding) > least)
            least = mf_recoding_need(&recoding);
    }
    if (mf_crew_init(&looking->crew, env, work, UINT64_MAX, least) != MF_OK)
        return env->error.status;
    looking->piece = mf_alloc(env, PIECES * sizeof(*looking->piece));
    return looking->piece ? MF_OK : env->error.status;
}

enum mf_status mf_tensor_stats(struct mf_model *model, const size_t *index,
                               size_t count, struct mf_tensor_stats *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, index || count == 0);
    MF_NEED(model->env, out || count == 0);

    struct looking looking = { .model = model, .out = out };
    struct mf_env *env = model->env;
    enum mf_status status;

    mf_clear_error(env);
    for (size_t i = 0; i < count; i++)
        if (index[i] >= model->index.tensor_count)
            return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "there is no tensor number %zu", index[i]);
    if (model->info.byte_order == MF_BIG_ENDIAN)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model is big-endian: its numbers are not "
                       "converted");
    looking.isa = mf_isa_choose(env);
    if (!looking.isa)
        return env->error.status;
    status = prepare(&looking, index, count);
    for (size_t i = 0; i < count && status == MF_OK; i++) {
        out[i] =
            (struct mf_tensor_stats){ .least = INFINITY, .most = -INFINITY };
        status = cut(&looking, &model->index.tensor[index[i]], i);
    }
    if (status == MF_OK)
        status = run(&looking);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        finish(&out[i]);
    mf_release(env, looking.piece, PIECES * sizeof(*looking.piece));
    mf_crew_release(&looking.crew);
    return status;
}
