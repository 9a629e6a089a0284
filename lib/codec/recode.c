/* SPDX-License-Identifier: MIT
 *
 * recode.c - converts rows of one type to rows of another, through floats
 *
 * A buffer holds, in this order: the prefix and the rows, their floats, the
 * result, and one more row of floats where the result is measured.  Types whose
 * blocks cross rows (apr_q4) or that have one scale for the whole tensor
 * (apr_q8) make this more than two calls: see columns_of and encode_part.
 */
#include "lib/codec/recode.h"

#include <assert.h>

#include "lib/base/decimal.h"
#include "lib/base/little.h"
#include "lib/base/timings.h"

/* Parts of the buffer begin on a cache line, so each of three may take up to a
 * line less one byte more; the fourth line is for apr_q8's number and scale. */
#define LINE  ((size_t)64)
#define SLACK (4 * LINE)

/* A row has at most 8 bytes a number before and after, and 8 of floats: their
 * sum is a number. */
#define COLUMNS_MAX (SIZE_MAX / 64)

static size_t up(size_t size)
{
    return (size + LINE - 1) / LINE * LINE;
}

static enum mf_status no_codec(struct mf_env *env,
                               const struct mf_draft_tensor *tensor,
                               enum mf_type type, const char *what)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s': %s %s is not supported",
                   mf_quote(tensor->name).text, what, mf_types[type].name);
}

/* A number above this has a square that is infinite, together with 255 like it.
 */
#define SQUARED_MAX 1e18f

/* The first number that is farthest from 0; NaN is farther. */
static size_t farthest(const float *numbers, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count && !isnan(numbers[best]); i++)
        if (!(fabsf(numbers[i]) <= fabsf(numbers[best])))
            best = i;
    return best;
}

/* Numbers of a row; 0 where rows are not whole blocks. */
static uint64_t columns_of(enum mf_type from, enum mf_type to, uint64_t row)
{
    size_t in = mf_types[from].block, out = mf_types[to].block;

    if (in == 1 && out == 1)
        return 1;
    if (row == 0) /* the tensor is empty */
        return in > out ? in : out;
    if (row % in == 0 && row % out == 0 && row <= COLUMNS_MAX)
        return row;
    /* One type's blocks cross rows, the other has no blocks. */
    if ((mf_type_flows(from) && out == 1) || (mf_type_flows(to) && in == 1))
        return in > out ? in : out;
    return 0;
}

bool mf_recoding_init(struct mf_env *env, const struct mf_isa *isa,
                      const struct mf_draft_tensor *tensor, bool fastest_first,
                      struct mf_recoding *out)
{
    enum mf_type from = (enum mf_type)tensor->from;
    enum mf_type to = (enum mf_type)tensor->type;
    uint64_t row = 1;

    *out = (struct mf_recoding){ .from = from,
                                 .to = to,
                                 .name = tensor->name,
                                 .decode = mf_env_codec(env, isa, from),
                                 .encode = mf_env_codec(env, isa, to),
                                 .prefix = mf_type_head(from),
                                 .head = mf_type_head(to),
                                 .matrix = UINT64_MAX };
    if (!out->decode) {
        no_codec(env, tensor, from, "decoding");
        return false;
    }
    if (!mf_codec_encodes(out->encode)) {
        no_codec(env, tensor, to, "quantizing to");
        return false;
    }
    out->makeup = mf_env_codec(env, mf_isas, to)->makeup;
    if (out->encode->encode_on_grid)
        out->map = mf_grid_map_of(env, out->encode->grid);
    if (out->encode->encode_on_grid && !out->map)
        return false;
    if (tensor->rank > 0)
        row = tensor->dim[fastest_first ? 0 : tensor->rank - 1];
    out->columns = (size_t)columns_of(from, to, row);
    if (out->columns == 0) {
        mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s': rows of %" PRIu64 " are not whole blocks of %s",
                mf_quote(tensor->name).text, row,
                mf_types[row % mf_types[to].block ? to : from].name);
        return false;
    }
    out->in = (size_t)mf_numbers_size(from, out->columns);
    out->out = (size_t)mf_numbers_size(to, out->columns);
    return mf_elements(tensor->dim, tensor->rank, &out->count);
}

bool mf_recoding_to_floats(const struct mf_model *model,
                           const struct mf_isa *isa,
                           const struct mf_record *record,
                           struct mf_recoding *out)
{
    struct mf_draft_tensor tensor = {
        .name = { record->name, record->name_size },
        .dim = record->dim,
        .rank = record->rank,
        .from = record->type,
        .type = MF_TYPE_F32,
    };

    return mf_recoding_init(model->env, isa, &tensor, model->info.fastest_first,
                            out);
}

uint64_t mf_numbers_size(enum mf_type type, uint64_t numbers)
{
    uint64_t block = mf_types[type].block;

    return (numbers / block + (numbers % block != 0)) * mf_types[type].bytes;
}

bool mf_recoding_sizes(const struct mf_recoding *recoding, uint64_t *in,
                       uint64_t *out)
{
    if (!mf_type_size(recoding->from, recoding->count, in) ||
        !mf_type_size(recoding->to, recoding->count, out))
        return false;
    *in -= *in > 0 ? recoding->prefix : 0;
    *out -= *out > 0 ? recoding->head : 0;
    return true;
}

size_t mf_recoding_numbers(const struct mf_recoding *recoding, uint64_t first,
                           size_t rows)
{
    uint64_t left = recoding->count - first * recoding->columns;

    assert(recoding->columns > 0 &&
           first <= recoding->count / recoding->columns);
    return rows > left / recoding->columns ? (size_t)left
                                           : rows * recoding->columns;
}

size_t mf_recoding_need(const struct mf_recoding *recoding)
{
    return recoding->in + recoding->columns * 2 * sizeof(float) +
           recoding->out + recoding->prefix + SLACK;
}

size_t mf_recoding_rows(const struct mf_recoding *recoding, size_t buffer_size)
{
    size_t fixed = recoding->prefix + recoding->columns * sizeof(float) + SLACK;
    size_t each =
        recoding->in + recoding->columns * sizeof(float) + recoding->out;

    return buffer_size > fixed ? (buffer_size - fixed) / each : 0;
}

/* In the order of the numbers, so that the sum does not depend on how they were
 * cut into parts. */
static void compare(const float *before, const float *after, size_t count,
                    struct mf_deviation *deviation)
{
    for (size_t i = 0; i < count; i++)
        mf_deviation_count(deviation, before[i], after[i]);
}

void mf_deviation_add(struct mf_deviation *sum, const struct mf_deviation *more)
{
    sum->error2 += more->error2;
    sum->before2 += more->before2;
    sum->after2 += more->after2;
    sum->product += more->product;
    sum->worst = more->worst > sum->worst ? more->worst : sum->worst;
    sum->count += more->count;
}

void mf_deviation_sum(const struct mf_deviation *found,
                      struct mf_quantized *out)
{
    if (found->count == 0)
        return;
    out->measured = found->count;
    out->rmse = sqrt(found->error2 / (double)found->count);
    out->worst = (double)found->worst;
    out->cosine =
        found->before2 > 0 && found->after2 > 0
            ? found->product / sqrt(found->before2) / sqrt(found->after2)
            : 1;
}

static float *decode(struct mf_env *env, const struct mf_recoding *recoding,
                     uint8_t *buffer, size_t rows, size_t numbers)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_DECODE);
    float *floats =
        (void *)(buffer + up(recoding->prefix + rows * recoding->in));

    assert(recoding->decode && rows > 0);
    assert(numbers % mf_types[recoding->from].block == 0 ||
           mf_type_flows(recoding->from));
    recoding->decode->decode(buffer, floats, numbers);
    mf_timed_end(env, timed);
    return floats;
}

/* For a tensor with one scale: the codec computes the scale from the largest
 * magnitude it sees, so the whole tensor's largest magnitude is appended to the
 * part, and its encoding is dropped. */
static uint8_t *encode_part(struct mf_env *env,
                            const struct mf_recoding *recoding, float *floats,
                            size_t numbers, uint8_t *out,
                            struct mf_deviation *deviation)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_ENCODE);
    float scale;

    assert(numbers > 0 && recoding->head == sizeof(scale));
    floats[numbers] = recoding->largest;
    recoding->encode->encode(floats, NULL, out, numbers + 1);
    scale = mf_little_float(out);
    out += sizeof(scale);
    mf_timed_end(env, timed);
    if (!recoding->check)
        return out;
    timed = mf_timed_begin(env, MF_PHASE_MEASURE);
    for (size_t i = 0; i < numbers; i++)
        mf_deviation_count(deviation, floats[i], (float)(int8_t)out[i] * scale);
    mf_timed_end(env, timed);
    return out;
}

/* Why a row has no codes: a number, or a weight, that is NaN or whose square is
 * infinite. */
static void refuse_row(struct mf_env *env, const struct mf_recoding *recoding,
                       const float *row, const float *weights, uint64_t place)
{
    struct mf_quoted name = mf_quote(recoding->name);
    const char *type = mf_types[recoding->to].name;
    size_t columns = mf_recoding_numbers(recoding, place, 1);
    size_t number = farthest(row, columns);

    if (recoding->encode->needs_weights && !weights)
        mf_decline(env, MF_REASON_IMATRIX_REQUIRED, MF_NO_OFFSET,
                   "tensor '%s': rows cannot be encoded as %s without an "
                   "importance matrix",
                   name.text, type);
    else if (weights && fabsf(row[number]) <= SQUARED_MAX)
        mf_fail(
            env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
            "tensor '%s': row %" PRIu64
            " cannot be encoded as %s with such importance weights: the weight "
            "of column %zu is %s",
            name.text, place, type, farthest(weights, columns),
            mf_number_text((double)weights[farthest(weights, columns)], 6).at);
    else
        mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s': row %" PRIu64 " cannot be encoded as %s: column "
                "%zu is %s in %s",
                name.text, place, type, number,
                mf_number_text((double)row[number], 6).at,
                mf_types[recoding->from].name);
}

/* False after mf_fail. */
static bool encode_row(struct mf_env *env, const struct mf_recoding *recoding,
                       const float *row, const float *weights, uint64_t place,
                       uint8_t *out)
{
    const struct mf_codec *codec = recoding->encode;
    size_t columns = mf_recoding_numbers(recoding, place, 1);

    if (!recoding->map) {
        codec->encode(row, weights, out, columns);
    } else if (!mf_encode_on_grid(codec, recoding->map, row, weights, out,
                                  columns)) {
        refuse_row(env, recoding, row, weights, place);
        return false;
    }
    if (recoding->effort > MF_EFFORT_LEAST && codec->further)
        codec->further(codec, recoding->makeup, recoding->effort, row, weights,
                       out, columns);
    return true;
}

/* False after mf_fail. */
static bool encode(struct mf_env *env, const struct mf_recoding *recoding,
                   const float *floats, size_t rows, uint64_t first,
                   uint8_t *out)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_ENCODE);
    size_t columns = recoding->columns;
    bool good = true;

    if (columns == 1) /* no blocks: all at once */
        recoding->encode->encode(floats, NULL, out,
                                 mf_recoding_numbers(recoding, first, rows));
    for (size_t i = 0; columns > 1 && i < rows && good; i++) {
        uint64_t matrix = (first + i) / recoding->matrix;
        const float *weights =
            recoding->weights ? recoding->weights + matrix * columns : NULL;

        good = encode_row(env, recoding, floats + i * columns, weights,
                          first + i, out + i * recoding->out);
    }
    mf_timed_end(env, timed);
    return good;
}

/* again: room for the floats of a row. */
static void check(struct mf_env *env, const struct mf_recoding *recoding,
                  const float *floats, size_t rows, uint64_t first,
                  const uint8_t *out, float *again,
                  struct mf_deviation *deviation)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_MEASURE);

    for (size_t i = 0; i < rows; i++) {
        size_t some = mf_recoding_numbers(recoding, first + i, 1);

        recoding->check->decode(out + i * recoding->out, again, some);
        compare(floats + i * recoding->columns, again, some, deviation);
    }
    mf_timed_end(env, timed);
}

uint8_t *mf_recode(struct mf_env *env, const struct mf_recoding *recoding,
                   uint8_t *buffer, size_t rows, uint64_t first,
                   struct mf_deviation *deviation)
{
    size_t numbers = mf_recoding_numbers(recoding, first, rows);
    float *floats = decode(env, recoding, buffer, rows, numbers);
    uint8_t *out = (uint8_t *)floats + up((numbers + 1) * sizeof(float));

    if (recoding->head > 0)
        return encode_part(env, recoding, floats, numbers, out, deviation);
    if (!encode(env, recoding, floats, rows, first, out))
        return NULL;
    if (recoding->check)
        check(env, recoding, floats, rows, first, out,
              (void *)(out + up(rows * recoding->out)), deviation);
    return out;
}

float mf_recode_largest(struct mf_env *env, const struct mf_recoding *recoding,
                        uint8_t *buffer, size_t rows, uint64_t first,
                        float most)
{
    size_t numbers = mf_recoding_numbers(recoding, first, rows);
    const float *floats = decode(env, recoding, buffer, rows, numbers);
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_MEASURE);

    for (size_t i = 0; i < numbers; i++) {
        float size = fabsf(floats[i]);

        most = size > most ? size : most;
    }
    mf_timed_end(env, timed);
    return most;
}
