/* SPDX-License-Identifier: MIT
 *
 * diff_values.c - how far the numbers of two tensors are apart
 *
 * Tensors are cut into pieces of equal length; a thread sums up a piece in
 * order, and the pieces' sums are added in order.  Floating-point addition
 * depends on its order, so this makes the result the same for any number of
 * threads.
 */
#include <math.h>

#include "lib/base/parallel.h"
#include "lib/base/timings.h"
#include "lib/compare/compare.h"
#include "lib/compare/diff.h"
#include "lib/compare/wide.h"

/* A piece begins with a block of either type: blocks divide GROUP, and GROUP
 * divides PIECE. */
#define GROUP  256
#define PIECE  ((uint64_t)128 * 1024)
#define PIECES 256

#define TYPE(NAME, name, block, bytes)                                         \
    _Static_assert(GROUP % (block) == 0, "blocks do not meet");
#include "lib/model/types.def"
#undef TYPE
_Static_assert(PIECE % GROUP == 0, "pieces do not begin with a group");

_Static_assert(GROUP % MF_WIDE_GROUP == 0, "groups with an exponent are cut");

/* A worker's buffer: decoded numbers of both sides, and the bytes of one at a
 * time, of which a number has 8 at most and a tensor the prefix of apr_q8. */
#define PREFIX_MAX  sizeof(float)
#define LEAST(wide) (GROUP * (2 * mf_decoded_size(wide) + 8) + PREFIX_MAX)

enum { A, B, SIDES };

/* Where one side's numbers come from. */
struct side {
    const struct mf_file *file;
    bool packed; /* goes forward only */
    enum mf_type type;
    uint64_t offset;
    const struct mf_codec *codec;
    size_t prefix;  /* as in struct mf_recoding */
    uint64_t count; /* numbers */
};

struct piece {
    struct side side[SIDES];
    size_t number;        /* of the pair */
    bool wide;            /* floats cannot hold its numbers */
    uint64_t from, count; /* numbers */
    struct mf_apart apart;
};

struct comparison {
    struct mf_model *model[SIDES];
    const struct mf_isa *isa;
    struct mf_crew crew;
    struct mf_valued *pair;
    struct piece *piece;
    size_t count, room;
};

static uint64_t size_of(const struct side *side, uint64_t numbers)
{
    return mf_numbers_size(side->type, numbers);
}

/* ---- in a thread ---- */

void mf_apart_add(struct mf_apart *apart, const float *a, const float *b,
                  size_t count)
{
    struct mf_value_errors *errors = &apart->errors;

    for (size_t i = 0; i < count; i++) {
        if (isfinite(a[i]) && isfinite(b[i])) {
            double before = (double)a[i];
            double relative = fabs(((double)b[i] - before) / before);

            mf_deviation_count(&apart->deviation, a[i], b[i]);
            if (a[i] == 0)
                errors->from_zero += b[i] != 0;
            else if (relative > errors->max_relative)
                errors->max_relative = relative;
            continue;
        }
        errors->nan_a += isnan(a[i]) && !isnan(b[i]);
        errors->nan_b += isnan(b[i]) && !isnan(a[i]);
        errors->inf_a += isinf(a[i]) && a[i] != b[i];
        errors->inf_b += isinf(b[i]) && a[i] != b[i];
    }
}

/* Decodes numbers from `from` on; room has space for their bytes. */
static enum mf_status read_numbers(struct mf_worker *worker,
                                   const struct side *side, bool wide,
                                   uint64_t from, size_t count, uint8_t *room,
                                   void *out)
{
    const struct mf_source *source = &side->file->source;
    uint64_t start = side->offset + side->prefix + size_of(side, from);
    struct mf_timed timed;

    if (mf_source_read(&worker->env, source, side->offset, room,
                       side->prefix) != MF_OK ||
        mf_source_read(&worker->env, source, start, room + side->prefix,
                       (size_t)size_of(side, count)) != MF_OK)
        return mf_file_add_context(&worker->env, side->file);
    timed = mf_timed_begin(&worker->env, MF_PHASE_DECODE);
    mf_decode_numbers(side->codec, side->type, wide, room, out, count);
    mf_timed_end(&worker->env, timed);
    return MF_OK;
}

/* How many numbers, in whole groups, fit into a worker's buffer. */
static size_t numbers_in(const struct piece *piece, size_t buffer_size)
{
    size_t a = (size_t)size_of(&piece->side[A], GROUP);
    size_t b = (size_t)size_of(&piece->side[B], GROUP);

    return (buffer_size - PREFIX_MAX) /
           (GROUP * 2 * mf_decoded_size(piece->wide) + (a > b ? a : b)) * GROUP;
}

static enum mf_status compare_piece(struct mf_worker *worker, void *context,
                                    size_t task)
{
    const struct comparison *comparison = context;
    struct piece *piece = &comparison->piece[task];
    size_t most = numbers_in(piece, worker->buffer_size), some;
    size_t size = most * mf_decoded_size(piece->wide);
    uint8_t *a = worker->buffer, *b = a + size, *room = b + size;

    for (uint64_t done = 0; done < piece->count; done += some) {
        uint64_t left = piece->count - done;
        struct mf_timed timed;

        some = mf_next_part(&worker->env, left, most);
        if (some == 0 ||
            read_numbers(worker, &piece->side[A], piece->wide,
                         piece->from + done, some, room, a) != MF_OK ||
            read_numbers(worker, &piece->side[B], piece->wide,
                         piece->from + done, some, room, b) != MF_OK)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
        mf_apart_add_numbers(&piece->apart, piece->wide, a, b, some);
        mf_timed_end(&worker->env, timed);
    }
    mf_worker_done(worker, size_of(&piece->side[A], piece->count) +
                               size_of(&piece->side[B], piece->count));
    return MF_OK;
}

/* ---- sums of pieces ---- */

static void add_scaled(struct mf_scaled_sum *sum,
                       const struct mf_scaled_sum *more)
{
    mf_scaled_add(sum, more->value, more->exponent);
}

void mf_apart_join(struct mf_apart *sum, const struct mf_apart *more)
{
    const struct mf_value_errors *found = &more->errors;

    mf_deviation_add(&sum->deviation, &more->deviation);
    add_scaled(&sum->error2, &more->error2);
    add_scaled(&sum->before2, &more->before2);
    add_scaled(&sum->after2, &more->after2);
    add_scaled(&sum->product, &more->product);
    if (found->max_relative > sum->errors.max_relative)
        sum->errors.max_relative = found->max_relative;
    sum->errors.from_zero += found->from_zero;
    sum->errors.nan_a += found->nan_a;
    sum->errors.nan_b += found->nan_b;
    sum->errors.inf_a += found->inf_a;
    sum->errors.inf_b += found->inf_b;
}

/* Zeros alone have no angle: two such tensors count as alike, one as unlike. */
static double cosine(const struct mf_apart *apart)
{
    double before = apart->before2.value, after = apart->after2.value, cosine;
    int exponent = apart->product.exponent -
                   (apart->before2.exponent + apart->after2.exponent) / 2;

    if (before <= 0 || after <= 0)
        return before <= 0 && after <= 0 ? 1 : 0;
    cosine = apart->product.value / (sqrt(before) * sqrt(after));
    return fmax(-1, fmin(1, exponent == 0 ? cosine : ldexp(cosine, exponent)));
}

void mf_apart_finish(struct mf_apart *apart)
{
    const struct mf_deviation *sum = &apart->deviation;
    struct mf_value_errors *errors = &apart->errors;

    mf_scaled_add(&apart->error2, sum->error2, 0);
    mf_scaled_add(&apart->before2, sum->before2, 0);
    mf_scaled_add(&apart->after2, sum->after2, 0);
    mf_scaled_add(&apart->product, sum->product, 0);
    errors->count = sum->count;
    errors->max_absolute = sum->worst;
    errors->rmse =
        sum->count ? mf_scaled_root(&apart->error2, (double)sum->count) : 0;
    errors->cosine = cosine(apart);
}

/* Pieces of a compressed tensor are unpacked one after the other. */
static bool follows(const void *context, size_t task)
{
    const struct comparison *comparison = context;
    const struct piece *piece = &comparison->piece[task];

    return task > 0 && piece->from > 0 &&
           (piece->side[A].packed || piece->side[B].packed);
}

static void *apart_of(void *context, size_t task)
{
    struct comparison *comparison = context;

    return &comparison->piece[task].apart;
}

static const struct mf_yields results = { apart_of, sizeof(struct mf_apart) };

static enum mf_status run(struct comparison *comparison)
{
    size_t count = comparison->count;
    enum mf_status status = mf_crew_share(&comparison->crew, compare_piece,
                                          follows, comparison, count, &results);

    comparison->count = 0;
    for (size_t i = 0; i < count && status == MF_OK; i++)
        mf_apart_join(&comparison->pair[comparison->piece[i].number].apart,
                      &comparison->piece[i].apart);
    return status;
}

/* ---- pieces of tensors ---- */

/* How the tensor is decoded; false after mf_fail. */
static bool side_of(struct mf_model *model, size_t index,
                    const struct mf_isa *isa, struct side *out)
{
    const struct mf_record *record = &model->index.tensor[index];
    struct mf_recoding recoding;

    *out = (struct side){ .file = &model->file[record->shard],
                          .packed = mf_record_is_packed(&model->index, record),
                          .offset = mf_record_data(model, record) };
    if (record->type == MF_TYPE_UNKNOWN)
        mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                "tensor '%s' has an unknown type", mf_record_name(record).text);
    else if (mf_numbers_recoding(model, isa, record, &recoding)) {
        out->type = recoding.from;
        out->codec = recoding.decode;
        out->prefix = recoding.prefix;
        out->count = record->size > 0 ? recoding.count : 0;
        return true;
    }
    mf_file_add_context(model->env, out->file);
    return false;
}

/* The same for both.  Tensors of one shape may differ in the count of their
 * numbers: aprender writes scalars without data. */
static bool sides_of(const struct comparison *comparison,
                     const struct mf_valued *pair, struct side *out)
{
    struct mf_model *a = comparison->model[A], *b = comparison->model[B];

    if (!side_of(a, pair->a, comparison->isa, &out[A]) ||
        !side_of(b, pair->b, comparison->isa, &out[B]))
        return false;
    if (out[A].count == out[B].count)
        return true;
    mf_fail(a->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "it has %" PRIu64 " numbers, the other %" PRIu64, out[A].count,
            out[B].count);
    return false;
}

enum mf_status mf_values_decodable(struct mf_model *a, struct mf_model *b,
                                   const struct mf_valued *pair)
{
    struct comparison comparison = { .model = { a, b },
                                     .isa = mf_isa_choose(a->env) };
    struct side side[SIDES];

    return comparison.isa && sides_of(&comparison, pair, side)
               ? MF_OK
               : a->env->error.status;
}

/* Whether floats cannot hold the numbers of both. */
static bool is_wide(const struct comparison *comparison,
                    const struct mf_valued *pair)
{
    const struct mf_model *a = comparison->model[A], *b = comparison->model[B];

    return mf_type_is_wide(a->index.tensor[pair->a].type) ||
           mf_type_is_wide(b->index.tensor[pair->b].type);
}

static enum mf_status add_pieces(struct comparison *comparison, size_t number)
{
    struct mf_valued *pair = &comparison->pair[number];
    struct piece piece = { .number = number };
    uint64_t left;

    pair->decoded = sides_of(comparison, pair, piece.side);
    piece.wide = is_wide(comparison, pair);
    mf_clear_error(comparison->crew.env);
    for (left = pair->decoded ? piece.side[A].count : 0; left > 0;
         left -= piece.count, piece.from += piece.count) {
        piece.count = left < PIECE ? left : PIECE;
        if (comparison->count == comparison->room && run(comparison) != MF_OK)
            return comparison->crew.env->error.status;
        comparison->piece[comparison->count++] = piece;
    }
    return MF_OK;
}

/* Starts threads for all bytes; fails where a tensor cannot be read. */
static enum mf_status prepare(struct comparison *comparison, size_t count)
{
    struct mf_env *env = comparison->model[A]->env;
    uint64_t work = 0;
    bool wide = false;

    for (size_t i = 0; i < count; i++) {
        const struct mf_valued *pair = &comparison->pair[i];
        struct mf_model *a = comparison->model[A], *b = comparison->model[B];

        if (mf_compare_readable(a, pair->a) != MF_OK ||
            mf_compare_readable(b, pair->b) != MF_OK)
            return env->error.status;
        if (!mf_add(work, a->index.tensor[pair->a].size, &work) ||
            !mf_add(work, b->index.tensor[pair->b].size, &work))
            work = UINT64_MAX;
        wide = wide || is_wide(comparison, pair);
    }
    comparison->isa = mf_isa_choose(env);
    if (comparison->isa)
        comparison->piece = mf_chunk_table(
            env, PIECES, sizeof(*comparison->piece), &comparison->room);
    if (!comparison->piece)
        return env->error.status;
    return mf_crew_init(&comparison->crew, env, work, UINT64_MAX, LEAST(wide));
}

enum mf_status mf_diff_values(struct mf_model *a, struct mf_model *b,
                              struct mf_valued *pair, size_t count)
{
    struct comparison comparison = { .model = { a, b }, .pair = pair };
    struct mf_timed timed = mf_timed_begin(a->env, MF_PHASE_REST);
    enum mf_status status = prepare(&comparison, count);

    for (size_t i = 0; i < count && status == MF_OK; i++)
        status = add_pieces(&comparison, i);
    if (status == MF_OK)
        status = run(&comparison);
    for (size_t i = 0; i < count && status == MF_OK; i++)
        mf_apart_finish(&pair[i].apart);
    mf_release(a->env, comparison.piece,
               comparison.room * sizeof(*comparison.piece));
    mf_crew_release(&comparison.crew);
    mf_timed_end(a->env, timed);
    return status;
}
