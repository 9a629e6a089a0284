/* SPDX-License-Identifier: MIT
 *
 * further.c - better blocks than the reference's, in the same format
 *
 * The reference has encoded a row.  Of each super-block its answer is what has
 * to be beaten: a search looks for scales, and minimums, with which the squared
 * error, times the weights where there are some, is less.  What decides is the
 * numbers that the decoder makes of the bytes: their errors are added up in
 * doubles, and in one order; so no super-block is worse than before, whatever
 * the search did.
 *
 * Blocks are searched side by side, one in each lane (rows.h), and no lane's
 * arithmetic knows of another: every instruction set finds the same.
 */
#include "lib/quant/further_scale.h"
#include "lib/quant/further_super.h"

typedef double four_doubles __attribute__((vector_size(32)));

/* Not as a result, which would be passed in another way without AVX. */
static inline void load_doubles(const float *at, four_doubles *out)
{
#ifdef __AVX2__
    *out = (four_doubles)_mm256_cvtps_pd(_mm_loadu_ps(at));
#else
    *out = (four_doubles){ (double)at[0], (double)at[1], (double)at[2],
                           (double)at[3] };
#endif
}

/* What both answers err by.  Eight sums, of every eighth column, are
 * independent of each other, and a vector of any size has the same. */
struct errors {
    double before, after;
};

static inline double sum_of(const four_doubles sum[2])
{
    const four_doubles all = sum[0] + sum[1];

    return (all[0] + all[2]) + (all[1] + all[3]);
}

static struct errors compare(const float *row, const float *weights,
                             const float *before, const float *after,
                             size_t count)
{
    four_doubles old[2] = { { 0 } }, new[2] = { { 0 } };

    for (size_t i = 0; i < count; i += 8)
        for (size_t j = 0; j < 2; j++) {
            size_t at = i + 4 * j;
            four_doubles x, a, b, w;

            load_doubles(row + at, &x);
            load_doubles(before + at, &a);
            load_doubles(after + at, &b);
            a -= x;
            b -= x;
            a *= a;
            b *= b;
            if (weights) {
                load_doubles(weights + at, &w);
                a *= w;
                b *= w;
            }
            old[j] += a;
            new[j] += b;
        }
    return (struct errors){ sum_of(old), sum_of(new) };
}

/* Codes of a block, less the lowest. */
static void find_codes(const struct mf_makeup *makeup, const float *row,
                       float scale, float minimum, uint8_t *restrict code)
{
    mf_floats inverse = inverse_of(mf_lanes_all(scale));

    for (size_t i = 0; i < makeup->block_size; i += MF_LANES) {
        mf_floats y = (mf_lanes_load(row + i) + minimum) * inverse;

        if (makeup->numbers == MF_NUMBERS_TABLE)
            y = mf_lanes_of(mf_iq4_code(y));
        else
            y = nearest(MF_NUMBERS_WHOLE, makeup, y) - makeup->low;
        mf_lanes_store_bytes(code + i, y);
    }
}

/* The super-block that begins with block number first of the batch. */
static void put_together(const struct work *work, size_t first,
                         struct mf_parts *parts)
{
    const struct mf_makeup *makeup = work->makeup;
    const struct choice *best = &work->best;

    for (size_t k = 0; k < 2; k++) {
        parts->unit[k] = half_of((double)best->unit[k][first]);
        for (size_t i = 0; i < makeup->block_count; i++)
            parts->multiple[k][i] = makeup->least < makeup->most
                                        ? best->multiple[k][first + i]
                                        : 1.0f;
    }
    for (size_t i = 0; i < makeup->block_count; i++)
        find_codes(makeup, work->row + makeup->block_size * (first + i),
                   parts->unit[0] * parts->multiple[0][i],
                   parts->unit[1] * parts->multiple[1][i],
                   parts->code + makeup->block_size * i);
}

#define ELEMENTS   1024 /* of a batch, at most */
#define BYTES_MOST 2048 /* likewise, its blocks */

/* A batch as blocks and decoded, before and after. */
struct answers {
    float before[ELEMENTS], after[ELEMENTS];
    uint8_t blocks[BYTES_MOST];
};

/* Codes that stay: numbers that are decoded are multiples of the unit. */
static void fit_kept(const struct mf_makeup *makeup, const float *row,
                     const float *weights, const float *decoded, uint8_t *block)
{
    double xv = 0, vv = 0;

    for (size_t i = 0; i < makeup->block_size; i++) {
        double v = (double)decoded[i];
        double wv = weights ? (double)weights[i] * v : v;

        xv += wv * (double)row[i];
        vv += wv * v;
    }
    block += makeup->unit;
    if (vv > 0)
        mf_store_scale(block,
                       (float)((double)mf_load_scale(block) * (xv / vv)));
}

/* Writes what a batch becomes. */
static void make_blocks(struct work *work, const uint8_t *blocks,
                        struct answers *out)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t size = makeup->block_size * makeup->block_count;
    const size_t step = makeup->block_count;
    struct mf_parts parts;

    for (size_t i = 0; i < work->supers; i++) {
        const float *weights = work->weights ? work->weights + size * i : NULL;
        uint8_t *block = out->blocks + makeup->bytes * i;

        if (makeup->numbers == MF_NUMBERS_KEPT) {
            memcpy(block, blocks + makeup->bytes * i, makeup->bytes);
            fit_kept(makeup, work->row + size * i, weights,
                     out->before + size * i, block);
        } else {
            put_together(work, step * i, &parts);
            makeup->store(&parts, block);
        }
    }
}

/* Replaces the super-blocks that err less now: by more than another order of
 * additions could make of the same.  Which they are is hard to predict, so that
 * all are copied. */
static void keep_better(const struct work *work, const struct answers *answers,
                        uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t size = makeup->block_size * makeup->block_count;

    for (size_t i = 0; i < work->supers; i++) {
        const float *weights = work->weights ? work->weights + size * i : NULL;
        uint8_t *block = blocks + makeup->bytes * i;
        const uint8_t *better = answers->blocks + makeup->bytes * i;
        struct errors error =
            compare(work->row + size * i, weights, answers->before + size * i,
                    answers->after + size * i, size);

        memmove(block,
                error.after < error.before * (1 - 1e-12) ? better : block,
                makeup->bytes);
    }
}

static void search_batch(struct work *work, const uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const bool super = makeup->least < makeup->most;

    for (size_t first = 0; first < work->count; first += MF_ABREAST)
        load_chunk(work, first);
    for (size_t i = 0; i < BLOCKS; i++)
        work->best.error[i] = INFINITY;
    if (super || makeup->by_halves)
        load_reference(work, blocks);
    if (super)
        search_units(work);
    for (size_t first = 0; first < work->count && !super; first += MF_ABREAST)
        if (makeup->by_halves)
            try_halves(work, first);
        else
            fit_chunk(work, first);
}

void MF_FURTHER(const struct mf_codec *codec, const struct mf_makeup *makeup,
                int effort, const float *row, const float *weights,
                uint8_t *blocks, size_t columns)
{
    const bool kept = makeup->numbers == MF_NUMBERS_KEPT;
    const size_t most = kept ? ELEMENTS / makeup->block_size : BLOCKS;
    struct work work = { .makeup = makeup, .row = row, .weights = weights };
    struct answers answers;

    if (!kept)
        work.depth =
            &(*makeup->depths)[weights != NULL][effort - MF_EFFORT_LEAST - 1];
    if (!kept && !weights)
        weigh_alike(&work);
    for (size_t left = columns / makeup->block_size; left > 0;
         left -= work.count) {
        work.count = left < most ? left : most;
        work.supers = work.count / makeup->block_count;
        codec->decode(blocks, answers.before, work.count * makeup->block_size);
        if (!kept)
            search_batch(&work, blocks);
        make_blocks(&work, blocks, &answers);
        codec->decode(answers.blocks, answers.after,
                      work.count * makeup->block_size);
        keep_better(&work, &answers, blocks);
        work.row += work.count * makeup->block_size;
        if (weights)
            work.weights += work.count * makeup->block_size;
        blocks += work.supers * makeup->bytes;
    }
}
