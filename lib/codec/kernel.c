/* SPDX-License-Identifier: MIT
 *
 * kernel.c - codecs for programs that have rows of their own, and threads
 */
#include <string.h>

#include "lib/base/kept.h"
#include "lib/base/parallel.h"
#include "lib/base/timings.h"
#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"

static const struct mf_isa *isa_named(const char *name)
{
    const struct mf_isa *best = NULL;

    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa) && (!name || strcmp(isa->name, name) == 0))
            best = isa;
    return best;
}

static enum mf_type type_named(const char *name)
{
    int row = 0;

    while (row < MF_TYPE_COUNT && strcmp(mf_types[row].name, name) != 0)
        row++;
    return (enum mf_type)row;
}

bool mf_kernel_find(const char *type, const char *isa, struct mf_kernel *out)
{
    if (!type || !out)
        return false;

    const struct mf_isa *set = isa_named(isa);
    enum mf_type row = type_named(type);
    const struct mf_codec *codec = set ? mf_codec_of(set, row) : NULL;

    if (!codec)
        return false;
    *out = (struct mf_kernel){
        .type = mf_types[row].name,
        .isa = set->name,
        .block = mf_types[row].block,
        .size = mf_types[row].bytes,
        .prefix = (unsigned)mf_type_head(row),
        .decode = codec->decode,
        .encode = codec->encode,
    };
    return true;
}

/* Of a kernel that was found: the processor, which takes its time to answer, is
 * not asked again. */
static const struct mf_codec *codec_of(const struct mf_kernel *kernel)
{
    const struct mf_isa *isa = mf_isas;

    if (!kernel->type || !kernel->isa)
        return NULL;
    while (isa->name && strcmp(isa->name, kernel->isa) != 0)
        isa++;
    return isa->name ? mf_codec_of(isa, type_named(kernel->type)) : NULL;
}

bool mf_kernel_encodes(const struct mf_kernel *kernel, bool *weights_needed)
{
    const struct mf_codec *codec = kernel ? codec_of(kernel) : NULL;

    if (weights_needed)
        *weights_needed = codec && codec->needs_weights;
    return mf_codec_encodes(codec);
}

/* Ends a call of one of several threads. */
static enum mf_status fail_row(struct mf_env *env, enum mf_status status,
                               const char *format, const char *type)
{
    mf_kept_lock(env);
    mf_clear_error(env);
    mf_fail(env, status, MF_NO_OFFSET, format, type);
    mf_kept_unlock(env);
    return status;
}

/* The caller's struct may be changed, or of another type: the codec would read
 * and write blocks of its own size. */
static enum mf_status
check_blocks(struct mf_env *env, const struct mf_kernel *kernel, size_t columns)
{
    size_t block = mf_types[type_named(kernel->type)].block;

    if (kernel->block != block)
        return fail_row(
            env, MF_ERR_ARGUMENT,
            "the kernel has another block size than %s: take it from "
            "mf_kernel_find",
            kernel->type);
    if (columns % block != 0)
        return fail_row(env, MF_ERR_ARGUMENT,
                        "columns are not whole blocks of %s", kernel->type);
    return MF_OK;
}

/* What encodes rows of a type. */
struct encoder {
    const struct mf_codec *codec;
    const struct mf_grid_map *map; /* for a type on a grid; else NULL */
};

static enum mf_status encoder_init(struct mf_env *env,
                                   const struct mf_kernel *kernel,
                                   bool weighted, size_t columns,
                                   struct encoder *out)
{
    const struct mf_codec *codec = codec_of(kernel);
    enum mf_status status;

    *out = (struct encoder){ .codec = codec };
    if (!mf_codec_encodes(codec))
        return fail_row(env, MF_ERR_UNSUPPORTED, "%s cannot be encoded",
                        kernel->type);
    status = check_blocks(env, kernel, columns);
    if (status != MF_OK || codec->encode)
        return status;
    if (codec->needs_weights && !weighted)
        return fail_row(env, MF_ERR_ARGUMENT,
                        "%s is not encoded without weights", kernel->type);
    out->map = mf_grid_map_of(env, codec->grid);
    return out->map ? MF_OK : env->error.status;
}

/* False where the row has no codes. */
static bool encode_row(const struct encoder *encoder, const float *row,
                       const float *weights, uint8_t *blocks, size_t columns)
{
    if (encoder->map)
        return mf_encode_on_grid(encoder->codec, encoder->map, row, weights,
                                 blocks, columns);
    encoder->codec->encode(row, weights, blocks, columns);
    return true;
}

enum mf_status mf_env_encode(struct mf_env *env, const struct mf_kernel *kernel,
                             const float *row, const float *weights,
                             uint8_t *blocks, size_t columns)
{
    MF_NEED(NULL, env);
    MF_NEED(env, kernel);
    MF_NEED(env, row);
    MF_NEED(env, blocks);

    struct encoder encoder;
    enum mf_status status =
        encoder_init(env, kernel, weights != NULL, columns, &encoder);

    if (status != MF_OK)
        return status;
    if (!encode_row(&encoder, row, weights, blocks, columns))
        return fail_row(env, MF_ERR_UNSUPPORTED,
                        "the row cannot be encoded as %s: its numbers, or "
                        "their weights, are too large",
                        kernel->type);
    return MF_OK;
}

/* ---- many rows ---- */

/* Numbers of a task, after each of which the progress function is asked: 256
 * KiB of floats, for which codecs take 10 microseconds to 30 milliseconds.  As
 * many times that, up to a limit, as take LASTS ns: in Python, asking takes a
 * microsecond. */
#define PIECE      ((size_t)64 * 1024)
#define PIECES_MAX 64
#define LASTS      ((uint64_t)200 * 1000)

/* Numbers from whose time it follows whether threads pay for the others. */
#define SAMPLE ((size_t)16 * 1024)

/* The work in ns that pays for a thread.  Starting and ending one takes 200
 * microseconds, and twice that while the processors have other work. */
#define PAYS ((uint64_t)2 * 1000 * 1000)

/* All their floats, and their blocks, have a size: no number takes more bytes
 * than one of f64. */
#define NUMBERS_MAX ((size_t)PTRDIFF_MAX / sizeof(double))

struct rows;

/* Does the numbers from first up to end. */
typedef enum mf_status do_numbers(struct mf_env *env, const struct rows *rows,
                                  size_t first, size_t end);

struct rows {
    enum mf_type type;
    do_numbers *work;
    struct encoder encoder; /* to decode, only its codec */
    const float *floats, *weights;
    uint8_t *encoded;
    const uint8_t *blocks;
    float *decoded;
    size_t total, columns; /* numbers */
    size_t sample, piece;  /* numbers of the first part, and of a task */
};

static enum mf_status count_numbers(struct mf_env *env, size_t count,
                                    size_t columns, size_t *out)
{
    if (columns > 0 && count > NUMBERS_MAX / columns)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu rows of %zu columns have more than %zu numbers",
                       count, columns, NUMBERS_MAX);
    *out = count * columns;
    return MF_OK;
}

/* About so many numbers, in whole rows or blocks. */
static size_t about(size_t numbers, size_t whole)
{
    return numbers > whole ? numbers - numbers % whole : whole;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where the block that begins with that number is. */
static size_t block_at(const struct rows *rows, size_t number)
{
    return number / mf_types[rows->type].block * mf_types[rows->type].bytes;
}

static enum mf_status encode_numbers(struct mf_env *env,
                                     const struct rows *rows, size_t first,
                                     size_t end)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_ENCODE);
    size_t columns;

    for (; first < end; first += columns) {
        columns = least(rows->columns, end - first);
        if (!encode_row(&rows->encoder, rows->floats + first, rows->weights,
                        rows->encoded + block_at(rows, first), columns))
            break;
    }
    mf_timed_end(env, timed);
    if (first == end)
        return MF_OK;
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "row %zu cannot be encoded as %s: its numbers, or their "
                   "weights, are too large",
                   first / rows->columns, mf_types[rows->type].name);
}

static enum mf_status decode_numbers(struct mf_env *env,
                                     const struct rows *rows, size_t first,
                                     size_t end)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_DECODE);

    rows->encoder.codec->decode(rows->blocks + block_at(rows, first),
                                rows->decoded + first, end - first);
    mf_timed_end(env, timed);
    return MF_OK;
}

static enum mf_status run_piece(struct mf_worker *worker, void *context,
                                size_t task)
{
    const struct rows *rows = context;
    size_t first = rows->sample + task * rows->piece;
    size_t count = least(rows->piece, rows->total - first);
    enum mf_status status =
        rows->work(&worker->env, rows, first, first + count);

    if (status == MF_OK)
        mf_worker_done(worker, count * sizeof(float));
    return status;
}

/* Makes tasks longer, after a sample that took so many ns. */
static void lengthen(struct rows *rows, uint64_t ns)
{
    uint64_t task = ns * (rows->piece / rows->sample) + 1;

    if (task < LASTS)
        rows->piece *= least((size_t)(LASTS / task) + 1, PIECES_MAX);
}

/* What is after the sample, which took so many ns. */
static enum mf_status run_rest(struct mf_env *env, struct rows *rows,
                               uint64_t ns)
{
    size_t rest = rows->total - rows->sample, tasks;
    struct mf_crew crew;
    enum mf_status status;

    lengthen(rows, ns);
    tasks = rest / rows->piece + (rest % rows->piece > 0);
    if (!mf_mul(ns, rest / rows->sample, &ns))
        ns = UINT64_MAX;
    status = mf_crew_init_paid(&crew, env, ns, PAYS, 1, 0);
    if (status != MF_OK)
        return status;
    crew.work = (uint64_t)rows->total * sizeof(float);
    atomic_store(&crew.done, (uint64_t)rows->sample * sizeof(float));
    status = mf_crew_run(&crew, run_piece, rows, tasks);
    mf_crew_release(&crew);
    return status;
}

static enum mf_status run_rows(struct mf_env *env, struct rows *rows)
{
    uint64_t start = mf_timings_now();
    enum mf_status status;

    rows->sample = least(rows->sample, rows->total);
    status = rows->work(env, rows, 0, rows->sample);
    if (status != MF_OK || rows->sample == rows->total)
        return status;
    return run_rest(env, rows, mf_timings_now() - start);
}

enum mf_status mf_env_encode_rows(struct mf_env *env,
                                  const struct mf_kernel *kernel,
                                  const float *rows, size_t count,
                                  size_t columns, const float *weights,
                                  uint8_t *blocks)
{
    MF_NEED(NULL, env);
    MF_NEED(env, kernel);
    MF_NEED(env, rows);
    MF_NEED(env, blocks);

    struct rows all = { .work = encode_numbers,
                        .floats = rows,
                        .encoded = blocks };

    mf_clear_error(env);
    if (encoder_init(env, kernel, weights != NULL, columns, &all.encoder) !=
            MF_OK ||
        count_numbers(env, count, columns, &all.total) != MF_OK ||
        all.total == 0)
        return env->error.status;
    all.type = type_named(kernel->type);
    all.columns = columns;
    all.weights = weights;
    if (kernel->block == 1) { /* no weights: as one row, or in any parts */
        all.columns = mf_type_head(all.type) > 0 ? all.total : SAMPLE;
        all.weights = NULL;
    }
    all.piece = about(PIECE, all.columns);
    all.sample = about(SAMPLE, all.columns);
    return run_rows(env, &all);
}

enum mf_status mf_env_decode_rows(struct mf_env *env,
                                  const struct mf_kernel *kernel,
                                  const uint8_t *blocks, size_t count,
                                  size_t columns, float *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, kernel);
    MF_NEED(env, blocks);
    MF_NEED(env, out);

    struct rows all = { .work = decode_numbers,
                        .encoder.codec = codec_of(kernel),
                        .blocks = blocks,
                        .decoded = out };

    mf_clear_error(env);
    if (!all.encoder.codec)
        return fail_row(env, MF_ERR_UNSUPPORTED, "%s cannot be decoded",
                        kernel->type);
    if (check_blocks(env, kernel, columns) != MF_OK ||
        count_numbers(env, count, columns, &all.total) != MF_OK ||
        all.total == 0)
        return env->error.status;
    all.type = type_named(kernel->type);
    all.piece = about(PIECE, kernel->block);
    all.sample =
        mf_type_head(all.type) > 0 ? all.total : about(SAMPLE, kernel->block);
    return run_rows(env, &all);
}

/* ---- tasks of the program ---- */

struct share {
    void (*task)(void *user, size_t index);
    void *user;
};

static enum mf_status run_task(struct mf_worker *worker, void *context,
                               size_t index)
{
    const struct share *share = context;

    share->task(share->user, index);
    mf_worker_done(worker, 1);
    return MF_OK;
}

enum mf_status mf_env_share(struct mf_env *env, size_t count,
                            void (*task)(void *user, size_t index), void *user)
{
    MF_NEED(NULL, env);
    MF_NEED(env, task);

    struct share share = { task, user };
    struct mf_crew crew;
    enum mf_status status;

    mf_clear_error(env);
    /* How long a task takes is unknown: all threads, and no buffers. */
    status = mf_crew_init_slow(&crew, env, UINT64_MAX, 1, 0);
    if (status != MF_OK)
        return status;
    crew.work = count;
    status = mf_crew_run(&crew, run_task, &share, count);
    mf_crew_release(&crew);
    return status;
}
