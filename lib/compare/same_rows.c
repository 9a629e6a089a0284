/* SPDX-License-Identifier: MIT
 *
 * same_rows.c - which rows have numbers that are all equal
 */
#include "lib/compare/same_rows.h"

#include <assert.h>
#include <string.h>

#include "lib/base/little.h"

static uint64_t double_bits(double number)
{
    uint64_t bits;

    number += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static struct mf_same same_floats(const float *at, size_t count)
{
    struct mf_same same = { .any = count > 0 };

    /* From 0 on: a NaN differs from itself. */
    for (size_t i = 0; i < count && !same.differ; i++)
        same.differ = !(at[i] == at[0]);
    if (same.any && !same.differ)
        same.bits = double_bits((double)at[0]);
    return same;
}

static struct mf_same same_doubles(const uint8_t *bytes, size_t count)
{
    struct mf_same same = { .any = count > 0 };
    double first = count > 0 ? mf_little_double(bytes) : 0;

    for (size_t i = 0; i < count && !same.differ; i++)
        same.differ = !(mf_little_double(bytes + i * sizeof(first)) == first);
    if (!same.differ)
        same.bits = double_bits(first);
    return same;
}

static struct mf_same same_integers(enum mf_type type, const uint8_t *bytes,
                                    size_t count)
{
    struct mf_same same = { .any = count > 0 };

    if (count > 0)
        same.bits = mf_integer_at(type, bytes);
    for (size_t i = 1; i < count && !same.differ; i++)
        same.differ =
            mf_integer_at(type, bytes + i * mf_types[type].bytes) != same.bits;
    return same;
}

/* Of count numbers from `at` on. */
static struct mf_same same_of(const struct mf_numbers *numbers, size_t at,
                              size_t count)
{
    enum mf_type type = numbers->type;

    if (numbers->floats)
        return same_floats(numbers->floats + at, count);
    if (type == MF_TYPE_F64)
        return same_doubles(numbers->bytes + at * sizeof(double), count);
    return same_integers(type, numbers->bytes + at * mf_types[type].bytes,
                         count);
}

static void extend(struct mf_same *same, const struct mf_same *more)
{
    if (!more->any)
        return;
    if (!same->any)
        *same = *more;
    else if (more->differ || same->bits != more->bits)
        same->differ = true;
}

static void count_row(struct mf_same_rows *rows, const struct mf_same *row)
{
    rows->zero += !row->differ && row->bits == 0;
    rows->constant += !row->differ && row->bits != 0;
}

struct mf_same_rows mf_same_rows_from(uint64_t columns, uint64_t number)
{
    assert(columns > 0);
    return (struct mf_same_rows){ .columns = columns,
                                  .left = columns - number % columns };
}

void mf_same_rows_add(struct mf_same_rows *rows,
                      const struct mf_numbers *numbers)
{
    for (size_t i = 0, some; i < numbers->count; i += some) {
        struct mf_same same;

        some = numbers->count - i;
        some = rows->left < some ? (size_t)rows->left : some;
        same = same_of(numbers, i, some);
        extend(&rows->tail, &same);
        rows->left -= some;
        if (rows->left > 0)
            continue;
        if (rows->ends)
            count_row(rows, &rows->tail);
        else
            rows->head = rows->tail;
        rows->ends = true;
        rows->tail = (struct mf_same){ 0 };
        rows->left = rows->columns;
    }
}

void mf_same_rows_join(struct mf_same_rows *tensor,
                       const struct mf_same_rows *piece)
{
    extend(&tensor->tail, piece->ends ? &piece->head : &piece->tail);
    if (!piece->ends)
        return;
    count_row(tensor, &tensor->tail);
    tensor->zero += piece->zero;
    tensor->constant += piece->constant;
    tensor->tail = piece->tail;
}
