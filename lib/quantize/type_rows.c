/* SPDX-License-Identifier: MIT
 *
 * type_rows.c - rows of each tensor are encoded in each type, and compared
 *
 * Which rows: each matrix of a tensor is cut into as many parts as it gets
 * rows, and one row is drawn from each by a hash of the tensor's name.  A task
 * is some of these rows; its sums are made in the order of rows, and the tasks'
 * sums are added in the order of tasks, whichever thread had which.
 */
#include "lib/quantize/type_errors.h"

#include <math.h>
#include <string.h>

#include "lib/base/timings.h"
#include "lib/codec/row_error.h"
#include "lib/write/transfer.h"

/* One of so many rows is measured, but so many of a tensor at least. */
#define ONE_OF     27
#define ROWS_LEAST 32

/* Rows of a task at least, and tasks of a tensor at most. */
#define TASK_ROWS  4
#define TASKS_MOST 1024

#define LINE ((size_t)64)

struct sums {
    double error, squares; /* of rows' errors */
};

struct measuring {
    struct mf_type_work *work;
    struct mf_crew crew;
    struct mf_transfer transfer; /* finds the data of tensors */
    struct mf_weight_buffer weights;
    struct sums *sums; /* of each task, in each type; then its squares */
    size_t types;
    /* of the tensor in work */
    size_t number;
    struct mf_piece piece;
    struct mf_draft_tensor as_floats;
    struct mf_recoding rows; /* its weights */
    uint64_t seed;
    uint64_t matrices, matrix_rows; /* rows of one */
    uint64_t each;                  /* rows that are drawn of a matrix */
    uint64_t task_rows, drawn;
    size_t row_bytes;
};

/* ---- which rows ---- */

static uint64_t mixed(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64, by S. Vigna */
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static uint64_t seed_of(struct mf_str name)
{
    uint64_t seed = 0;

    for (size_t i = 0; i < name.size; i++)
        seed = mixed(seed ^ (uint8_t)name.at[i]);
    return seed;
}

/* The first row of part `part` of a matrix; a product of both would overflow.
 */
static uint64_t part_begin(const struct measuring *measuring, uint64_t part)
{
    uint64_t whole = measuring->matrix_rows / measuring->each;
    uint64_t rest = measuring->matrix_rows % measuring->each;

    return part * whole + (part < rest ? part : rest);
}

static uint64_t row_at(const struct measuring *measuring, uint64_t draw)
{
    uint64_t matrix = draw / measuring->each, part = draw % measuring->each;
    uint64_t begin = part_begin(measuring, part);
    uint64_t rows = part_begin(measuring, part + 1) - begin;

    return matrix * measuring->matrix_rows + begin +
           mixed(measuring->seed ^ draw) % rows;
}

/* How many rows of each matrix. */
static void draw(struct measuring *measuring, struct mf_tensor_errors *tensor,
                 const struct mf_draft_tensor *from)
{
    uint64_t count = tensor->rows / ONE_OF + (tensor->rows % ONE_OF != 0);

    if (count < ROWS_LEAST)
        count = ROWS_LEAST;
    measuring->matrix_rows = from->dim[1];
    measuring->matrices = tensor->rows / from->dim[1];
    measuring->each =
        count / measuring->matrices + (count % measuring->matrices != 0);
    if (measuring->work->what.all || measuring->each > measuring->matrix_rows)
        measuring->each = measuring->matrix_rows;
    measuring->drawn = measuring->each * measuring->matrices;
    measuring->seed = seed_of(tensor->name);
    tensor->measured = measuring->drawn;
    measuring->task_rows = measuring->drawn / TASKS_MOST + 1;
    if (measuring->task_rows < TASK_ROWS)
        measuring->task_rows = TASK_ROWS;
}

/* ---- a row ---- */

static void *after(void *at, size_t size)
{
    return (uint8_t *)at + (size + LINE - 1) / LINE * LINE;
}

/* The row before, as floats, as blocks, and as floats again. */
static size_t room_for(size_t row_bytes, uint64_t columns)
{
    return row_bytes + 3 * (size_t)columns * sizeof(float) + 4 * LINE;
}

/* The error of a row that cannot be encoded is infinite. */
static double error_of(const struct mf_type_trial *trial, const float *row,
                       const float *weights, size_t columns, uint8_t *blocks,
                       float *again)
{
    double error = (double)INFINITY;

    if (!trial->map)
        trial->codec->encode(row, weights, blocks, columns);
    else if (!mf_encode_on_grid(trial->codec, trial->map, row, weights, blocks,
                                columns))
        return error;
    trial->codec->decode(blocks, again, columns);
    error = mf_row_error(row, again, weights, columns);
    return error >= 0 ? error : (double)INFINITY; /* not NaN */
}

static enum mf_status measure_row(struct mf_worker *worker,
                                  const struct measuring *measuring,
                                  uint64_t number, struct sums *sums)
{
    const struct mf_type_work *work = measuring->work;
    const struct mf_tensor_errors *tensor =
        &work->errors.tensor[measuring->number];
    const struct mf_piece *piece = &measuring->piece;
    uint64_t at = number * measuring->row_bytes;
    size_t columns = (size_t)tensor->row;
    const float *weights = measuring->rows.weights;
    float *row = after(worker->buffer, measuring->row_bytes);
    uint8_t *blocks = after(row, columns * sizeof(float));
    float *again = after(blocks, columns * sizeof(float));

    if (mf_piece_read(worker, piece, at, worker->buffer,
                      measuring->row_bytes) != MF_OK ||
        mf_piece_check(worker, piece, (enum mf_type)piece->tensor->from, at,
                       worker->buffer, measuring->row_bytes) != MF_OK)
        return worker->env.error.status;
    piece->recoding.decode->decode(worker->buffer, row, columns);
    if (weights)
        weights += number / measuring->rows.matrix * columns;
    memset(again, 0, columns * sizeof(float));
    sums[measuring->types].error += mf_row_error(row, again, weights, columns);
    for (size_t i = 0; i < measuring->types; i++) {
        double error;

        if (!(tensor->type[i].error < (double)INFINITY))
            continue;
        error = error_of(&work->trial[i], row, weights, columns, blocks, again);
        sums[i].error += error;
        sums[i].squares += error * error;
    }
    return MF_OK;
}

static struct sums *sums_of(const struct measuring *measuring, size_t task)
{
    return measuring->sums + task * (measuring->types + 1);
}

static enum mf_status measure_rows(struct mf_worker *worker, void *context,
                                   size_t task)
{
    const struct measuring *measuring = context;
    struct sums *sums = sums_of(measuring, task);
    uint64_t first = task * measuring->task_rows;
    struct mf_timed timed = mf_timed_begin(&worker->env, MF_PHASE_ENCODE);

    memset(sums, 0, (measuring->types + 1) * sizeof(*sums));
    mf_worker_at(worker, measuring->as_floats.name.at);
    for (uint64_t i = first;
         i < first + measuring->task_rows && i < measuring->drawn; i++) {
        if (measure_row(worker, measuring, row_at(measuring, i), sums) != MF_OK)
            break;
        if (!mf_worker_done(worker, measuring->row_bytes)) {
            mf_worker_stopped(worker);
            break;
        }
    }
    mf_timed_end(&worker->env, timed);
    return worker->env.error.status;
}

/* ---- a tensor ---- */

/* What all rows have, from those that were drawn, and how far that may be off:
 * the variance of a sum over a sample without repetitions. */
static void estimate(struct mf_type_error *out, struct sums sums, double drawn,
                     double rows)
{
    double spread = sums.squares - sums.error * sums.error / drawn;

    out->error = sums.error / drawn * rows;
    if (drawn > 1 && spread > 0)
        out->variance =
            spread / (drawn - 1) / drawn * rows * rows * (1 - drawn / rows);
}

static struct sums add_tasks(const struct measuring *measuring, size_t tasks,
                             size_t number)
{
    struct sums sums = { 0 };

    for (size_t task = 0; task < tasks; task++) {
        const struct sums *some = sums_of(measuring, task) + number;

        sums.error += some->error;
        sums.squares += some->squares;
    }
    return sums;
}

static void add_up(const struct measuring *measuring, size_t tasks)
{
    struct mf_tensor_errors *tensor =
        &measuring->work->errors.tensor[measuring->number];
    /* They are the work's own. */
    struct mf_type_error *type = (struct mf_type_error *)tensor->type;
    double drawn = (double)measuring->drawn, rows = (double)tensor->rows;

    for (size_t i = 0; i < measuring->types; i++)
        if (type[i].error < (double)INFINITY)
            estimate(&type[i], add_tasks(measuring, tasks, i), drawn, rows);
    tensor->squares =
        add_tasks(measuring, tasks, measuring->types).error / drawn * rows;
}

/* Types that are useless without importance values are for tensors that have
 * some. */
static void leave_out_unweighted(const struct measuring *measuring)
{
    const struct mf_tensor_errors *tensor =
        &measuring->work->errors.tensor[measuring->number];
    struct mf_type_error *type = (struct mf_type_error *)tensor->type;

    for (size_t i = 0; i < measuring->types && !measuring->rows.weights; i++) {
        const struct mf_type_trial *trial = &measuring->work->trial[i];

        if (trial->codec->needs_weights ||
            mf_mix_type_needs_imatrix(trial->type))
            type[i].error = (double)INFINITY;
    }
}

/* Finds its data, and its weights. */
static enum mf_status find(struct measuring *measuring, size_t number)
{
    struct mf_type_work *work = measuring->work;
    struct mf_tensor_errors *tensor = &work->errors.tensor[number];
    const struct mf_draft_tensor *from = work->tensor[number];
    struct mf_outputs *outputs = &work->quantizing.outputs;
    enum mf_type type = (enum mf_type)from->from;
    size_t count;

    measuring->number = number;
    measuring->as_floats = *from;
    measuring->as_floats.type = type == MF_TYPE_F32 ? MF_TYPE_F16 : MF_TYPE_F32;
    measuring->as_floats.weights.at = NULL;
    mf_type_size((enum mf_type)measuring->as_floats.type, tensor->elements,
                 &measuring->as_floats.size);
    if (mf_transfer_prepare(&measuring->transfer, &outputs->output[0],
                            &measuring->as_floats, &measuring->piece) != MF_OK)
        return work->env->error.status;
    draw(measuring, tensor, from);
    measuring->row_bytes = (size_t)mf_numbers_size(type, tensor->row);
    measuring->rows = (struct mf_recoding){ .columns = (size_t)tensor->row };
    count = mf_weights_count(&outputs->weights, from, true, &measuring->rows);
    if (count > 0 && mf_weights_load(&measuring->weights, &measuring->crew,
                                     &outputs->weights, from, count, true,
                                     &measuring->rows) != MF_OK)
        return work->env->error.status;
    tensor->weighted = measuring->rows.weights != NULL;
    leave_out_unweighted(measuring);
    return MF_OK;
}

static enum mf_status measure_tensor(struct measuring *measuring, size_t number)
{
    uint64_t tasks;
    enum mf_status status;

    if (measuring->work->errors.tensor[number].elements == 0)
        return MF_OK; /* no error in any type */
    status = find(measuring, number);
    if (status != MF_OK)
        return status;
    tasks = (measuring->drawn - 1) / measuring->task_rows + 1;
    status =
        mf_crew_run(&measuring->crew, measure_rows, measuring, (size_t)tasks);
    if (status == MF_OK)
        add_up(measuring, (size_t)tasks);
    return status;
}

/* ---- all of them ---- */

/* Rows must be whole blocks, one after the other. */
static enum mf_status check(struct mf_type_work *work, size_t number,
                            size_t *least)
{
    const struct mf_tensor_errors *tensor = &work->errors.tensor[number];
    enum mf_type from = (enum mf_type)work->tensor[number]->from;
    size_t size;

    if (mf_type_flows(from) || mf_type_head(from) > 0 ||
        tensor->row % mf_types[from].block != 0 || tensor->row > SIZE_MAX / 64)
        return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the errors of tensor '%s' cannot be measured: it is "
                       "%s with rows of %" PRIu64,
                       mf_quote(tensor->name).text, mf_types[from].name,
                       tensor->row);
    size = room_for((size_t)mf_numbers_size(from, tensor->row), tensor->row);
    *least = size > *least ? size : *least;
    return MF_OK;
}

static enum mf_status begin(struct measuring *measuring)
{
    struct mf_type_work *work = measuring->work;
    struct mf_env *env = work->env;
    size_t least = LINE;
    uint64_t bytes = 0;

    for (size_t i = 0; i < work->errors.count; i++) {
        const struct mf_tensor_errors *tensor = &work->errors.tensor[i];
        uint64_t row =
            mf_numbers_size((enum mf_type)work->tensor[i]->from, tensor->row);

        if (check(work, i, &least) != MF_OK)
            return env->error.status;
        if (i >= work->kept)
            bytes += tensor->rows / (work->what.all ? 1 : ONE_OF) * row;
    }
    measuring->sums =
        mf_arena_take(&work->arena, TASKS_MOST * (measuring->types + 1) *
                                        sizeof(struct sums));
    if (!measuring->sums)
        return env->error.status;
    measuring->transfer =
        (struct mf_transfer){ .outputs = &work->quantizing.outputs,
                              .crew = &measuring->crew,
                              .isa = work->isa };
    return mf_crew_init_slow(&measuring->crew, env, bytes, UINT64_MAX, least);
}

enum mf_status mf_type_rows(struct mf_type_work *work)
{
    struct measuring measuring = { .work = work, .types = work->errors.types };
    enum mf_status status = begin(&measuring);

    for (size_t i = work->kept; i < work->errors.count && status == MF_OK;
         i++) {
        status = measure_tensor(&measuring, i);
        if (status == MF_OK)
            status = mf_type_kept_add(work, i);
    }
    if (status == MF_OK)
        status = mf_type_kept_all(work);
    mf_weights_release(&measuring.weights, work->env);
    mf_crew_release(&measuring.crew);
    return status;
}
