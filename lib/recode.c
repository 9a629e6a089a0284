/* SPDX-License-Identifier: MIT
 *
 * recode.c - rows of one type as rows of another, by way of floats
 *
 * A buffer holds, one behind the other: the prefix and the rows, their floats,
 * the result, and where it is checked one row of floats more.
 */
#include "lib/recode.h"

#include <assert.h>

/* Parts of the buffer begin on a cache line, so three of them may take as many
 * bytes less one more. */
#define LINE  ((size_t)64)
#define SLACK (4 * LINE)

static size_t up(size_t size)
{
    return (size + LINE - 1) / LINE * LINE;
}

static enum mf_status no_codec(struct mf_env *env,
                               const struct mf_draft_tensor *tensor,
                               enum mf_type type, const char *what)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s': %s cannot be %s here",
                   mf_quote(tensor->name).text, mf_types[type].name, what);
}

/* Bytes of a row of that many numbers. */
static size_t row_size(enum mf_type type, size_t columns)
{
    return columns / mf_types[type].block * mf_types[type].bytes;
}

bool mf_recoding_init(struct mf_env *env, const struct mf_isa *isa,
                      const struct mf_draft_tensor *tensor, bool fastest_first,
                      struct mf_recoding *out)
{
    enum mf_type from = (enum mf_type)tensor->from;
    enum mf_type to = (enum mf_type)tensor->type;
    uint64_t columns = 1;

    *out = (struct mf_recoding){ .decode = mf_codec_of(isa, from),
                                 .encode = mf_codec_of(isa, to),
                                 .matrix = UINT64_MAX };
    if (!out->decode) {
        no_codec(env, tensor, from, "decoded");
        return false;
    }
    if (!out->encode || !out->encode->encode) {
        no_codec(env, tensor, to, "encoded");
        return false;
    }
    if (tensor->rank > 0 &&
        (mf_types[from].block > 1 || mf_types[to].block > 1))
        columns = tensor->dim[fastest_first ? 0 : tensor->rank - 1];
    if (columns % mf_types[from].block != 0 ||
        columns % mf_types[to].block != 0 || columns > SIZE_MAX / 16) {
        mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "rows of tensor '%s' have %" PRIu64
                " numbers, no whole blocks of %s",
                mf_quote(tensor->name).text, columns,
                mf_types[columns % mf_types[to].block ? to : from].name);
        return false;
    }
    out->columns = (size_t)columns;
    out->in = row_size(from, out->columns);
    out->out = row_size(to, out->columns);
    out->prefix = from == MF_TYPE_APR_Q8 ? sizeof(float) : 0;
    return true;
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

/* In the order of the numbers, so that a sum does not tell how they came. */
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

const uint8_t *mf_recode(const struct mf_recoding *recoding, uint8_t *buffer,
                         size_t rows, uint64_t first,
                         struct mf_deviation *deviation)
{
    size_t columns = recoding->columns;
    float *floats =
        (void *)(buffer + up(recoding->prefix + rows * recoding->in));
    uint8_t *out = (uint8_t *)floats + up(rows * columns * sizeof(float));
    float *again = (void *)(out + up(rows * recoding->out));

    recoding->decode->decode(buffer, floats, rows * columns);
    if (columns == 1) { /* numbers that stand for themselves */
        recoding->encode->encode(floats, NULL, out, rows);
    } else {
        for (size_t i = 0; i < rows; i++) {
            uint64_t matrix = (first + i) / recoding->matrix;
            const float *weights =
                recoding->weights ? recoding->weights + matrix * columns : NULL;

            recoding->encode->encode(floats + i * columns, weights,
                                     out + i * recoding->out, columns);
        }
    }
    for (size_t i = 0; recoding->check && i < rows; i++) {
        recoding->check->decode(out + i * recoding->out, again, columns);
        compare(floats + i * columns, again, columns, deviation);
    }
    return out;
}
