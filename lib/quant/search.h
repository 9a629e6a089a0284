/* SPDX-License-Identifier: MIT
 *
 * search.h - the scale that fits 32 weighted numbers best, by trial
 *
 * ggml's searches sum floats in the order of the columns, and sums of floats
 * depend on their order.  So it is blocks that stand side by side here, one in
 * each lane; each lane does what the reference does, and in its order.
 */
#ifndef MF_LIB_QUANT_SEARCH_H
#define MF_LIB_QUANT_SEARCH_H

#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"

/* MF_LANES blocks of 32, a lane each. */
struct mf_blocks_32 {
    mf_floats value[32], weight[32], product[32];
};

/* The mean of the squares of a row. */
static inline float mf_mean_square(const float *row, size_t columns)
{
    float sum = 0;

    for (size_t i = 0; i < columns; i++)
        sum += row[i] * row[i];
    return mf_one_nan(sum / (float)columns);
}

static inline mf_floats mf_lanes_one_nan(mf_floats lanes)
{
    return mf_lanes_select(lanes == lanes, lanes,
                           (mf_floats)mf_ints_all((int32_t)MF_NAN_BITS));
}

/* So many blocks at most; lanes without one get zeros.  What a column weighs
 * grows with its number. */
static inline void mf_blocks_load(struct mf_blocks_32 *b, const float *row,
                                  const float *weights, size_t count,
                                  float mean_square)
{
    memset(b, 0, sizeof(*b));
    for (size_t i = 0; i < 32; i++)
        for (size_t lane = 0; lane < count && lane < MF_LANES; lane++) {
            b->value[i][lane] = row[32 * lane + i];
            b->weight[i][lane] = weights[32 * lane + i];
        }
    for (size_t i = 0; i < 32; i++) {
        mf_floats value = mf_lanes_one_nan(b->value[i]);
        mf_floats weight = mf_lanes_one_nan(b->weight[i]);

        b->value[i] = value;
        b->weight[i] = weight * mf_lanes_root(mean_square + value * value);
        b->product[i] = b->weight[i] * value;
    }
}

/* The numbers of one block. */
static inline void mf_blocks_numbers(const mf_ints *numbers, size_t lane,
                                     mf_ints *block)
{
    for (size_t i = 0; i < 32; i++)
        block[i / MF_LANES][i % MF_LANES] = numbers[i][lane];
}

/* The nearest integer, within bounds.  Where 2^23 * 1.5 is added, the last bit
 * of the sum is 1; an infinity comes out as 0 - 2^22, as in the reference. */
static inline mf_floats mf_lanes_nearest(mf_floats lanes, float low, float high)
{
    mf_ints bits = (mf_ints)(lanes + 0x1.8p23f) & 0x007fffff;

    lanes = mf_lanes_of(bits - 0x00400000);
    return mf_lanes_min(mf_lanes_max(lanes, mf_lanes_all(low)),
                        mf_lanes_all(high));
}

/* ---- a scale ---- */

/* Sum of weight * value * number, and of weight * number^2. */
static inline void mf_try_scale(const struct mf_blocks_32 *b, mf_floats inverse,
                                float most, mf_floats *products,
                                mf_floats *squares)
{
    mf_floats sum_products = mf_lanes_all(0), sum_squares = sum_products;

    for (size_t i = 0; i < 32; i++) {
        mf_floats number =
            mf_lanes_nearest(inverse * b->value[i], -most, most - 1);

        sum_products += b->product[i] * number;
        sum_squares += b->weight[i] * number * number;
    }
    *products = sum_products;
    *squares = sum_squares;
}

/* In which lanes any number is above 1e-15, and the farthest from 0. */
static inline mf_ints mf_blocks_farthest(const struct mf_blocks_32 *b,
                                         mf_floats *farthest)
{
    mf_floats most = mf_lanes_all(0);

    *farthest = most;
    for (size_t i = 0; i < 32; i++) {
        mf_floats magnitude = (mf_floats)((mf_ints)b->value[i] & 0x7fffffff);
        mf_ints above = magnitude > most;

        most = mf_lanes_select(above, magnitude, most);
        *farthest = mf_lanes_select(above, b->value[i], *farthest);
    }
    return most >= 1e-15f;
}

/* The scale for numbers of -most to most - 1, which are stored with most added:
 * of 19 scales around that of the farthest number the one with the least
 * weighted error. */
static inline mf_floats mf_search_scale(const struct mf_blocks_32 *b,
                                        float most, mf_ints *numbers)
{
    const mf_floats zero = mf_lanes_all(0);
    mf_floats farthest, products, squares, scale, best, best_inverse;
    mf_ints any = mf_blocks_farthest(b, &farthest);

    best_inverse = -most / farthest;
    mf_try_scale(b, best_inverse, most, &products, &squares);
    scale = mf_lanes_select(squares != zero, products / squares, zero);
    best = scale * products;
    for (int step = -9; step <= 9; step++) {
        mf_floats inverse = -(most + 0.1f * (float)step) / farthest;
        mf_ints better;

        if (step == 0)
            continue;
        mf_try_scale(b, inverse, most, &products, &squares);
        better = (squares > zero) & (products * products > best * squares);
        scale = mf_lanes_select(better, products / squares, scale);
        best = mf_lanes_select(better, scale * products, best);
        best_inverse = mf_lanes_select(better, inverse, best_inverse);
    }
    for (size_t i = 0; i < 32; i++)
        numbers[i] =
            mf_lanes_truncate(
                mf_lanes_nearest(best_inverse * b->value[i], -most, most - 1) +
                most) &
            any;
    return (mf_floats)((mf_ints)scale & any);
}

/* ---- a scale and a minimum ---- */

struct mf_line { /* number * scale + minimum */
    mf_floats scale, minimum;
};

/* Sums over a block. */
struct mf_sums {
    mf_floats weight, value;           /* weight, weight * value */
    mf_floats number, square, product; /* weight * number, its square, ... */
};

/* The weighted squares of what the line misses. */
static inline mf_floats mf_line_error(const struct mf_blocks_32 *b,
                                      const mf_floats *numbers,
                                      struct mf_line line)
{
    mf_floats sum = mf_lanes_all(0);

    for (size_t i = 0; i < 32; i++) {
        mf_floats miss = line.scale * numbers[i] + line.minimum - b->value[i];

        sum += b->weight[i] * (miss * miss);
    }
    return sum;
}

/* Numbers for a trial, and their sums. */
static inline void mf_try_numbers(const struct mf_blocks_32 *b,
                                  mf_floats inverse, mf_floats minimum,
                                  float most, mf_floats *numbers,
                                  struct mf_sums *sums)
{
    mf_floats number = mf_lanes_all(0), square = number, product = number;

    for (size_t i = 0; i < 32; i++) {
        mf_floats weighted;

        numbers[i] =
            mf_lanes_nearest(inverse * (b->value[i] - minimum), 0, most);
        weighted = b->weight[i] * numbers[i];
        number += weighted;
        square += weighted * numbers[i];
        product += weighted * b->value[i];
    }
    sums->number = number;
    sums->square = square;
    sums->product = product;
}

/* The line through value over number with the least squares, which must not
 * begin above zero. */
static inline struct mf_line mf_fit_line(const struct mf_sums *sums,
                                         mf_floats determinant)
{
    const mf_floats zero = mf_lanes_all(0);
    struct mf_line line;
    mf_ints above;

    line.scale = (sums->weight * sums->product - sums->value * sums->number) /
                 determinant;
    line.minimum = (sums->square * sums->value - sums->number * sums->product) /
                   determinant;
    above = line.minimum > zero;
    line.minimum = mf_lanes_select(above, zero, line.minimum);
    line.scale =
        mf_lanes_select(above, sums->product / sums->square, line.scale);
    return line;
}

static inline void mf_blocks_bounds(const struct mf_blocks_32 *b,
                                    struct mf_sums *sums, mf_floats *least,
                                    mf_floats *greatest)
{
    *least = *greatest = b->value[0];
    sums->weight = b->weight[0];
    sums->value = b->product[0];
    for (size_t i = 1; i < 32; i++) {
        *least = mf_lanes_min(b->value[i], *least);
        *greatest = mf_lanes_max(b->value[i], *greatest);
        sums->weight += b->weight[i];
        sums->value += b->product[i];
    }
    *least = mf_lanes_select(*least > 0, mf_lanes_all(0), *least);
}

/* Scale and minimum for numbers of 0 to most: of 38 scales, each with the line
 * that fits its numbers best, the one with the least weighted error.  A better
 * minimum is the next trial's, too. */
static inline struct mf_line mf_search_line(const struct mf_blocks_32 *b,
                                            float most, mf_ints *numbers)
{
    mf_floats greatest, trial[32], error, best_inverse, best_minimum;
    struct mf_line line;
    struct mf_sums sums;
    mf_ints any;

    mf_blocks_bounds(b, &sums, &line.minimum, &greatest);
    any = ~(greatest <= line.minimum);
    best_minimum = line.minimum;
    best_inverse = most / (greatest - line.minimum);
    line.scale = 1 / best_inverse;
    for (size_t i = 0; i < 32; i++)
        trial[i] = mf_lanes_nearest(best_inverse * (b->value[i] - line.minimum),
                                    0, most);
    error = mf_line_error(b, trial, line);
    for (int step = 0; step <= 36; step++) {
        mf_floats inverse =
            (-0.9f + 0.05f * (float)step + most) / (greatest - line.minimum);
        mf_floats determinant, missed;
        struct mf_line fit;
        mf_ints better;

        mf_try_numbers(b, inverse, line.minimum, most, trial, &sums);
        determinant = sums.weight * sums.square - sums.number * sums.number;
        fit = mf_fit_line(&sums, determinant);
        missed = mf_line_error(b, trial, fit);
        better = any & (determinant > 0) & (missed < error);
        error = mf_lanes_select(better, missed, error);
        best_inverse = mf_lanes_select(better, inverse, best_inverse);
        best_minimum = mf_lanes_select(better, line.minimum, best_minimum);
        line.scale = mf_lanes_select(better, fit.scale, line.scale);
        line.minimum = mf_lanes_select(better, fit.minimum, line.minimum);
    }
    for (size_t i = 0; i < 32; i++)
        numbers[i] =
            any & mf_lanes_truncate(mf_lanes_nearest(
                      best_inverse * (b->value[i] - best_minimum), 0, most));
    line.scale = (mf_floats)(any & (mf_ints)line.scale);
    return line;
}

#endif
