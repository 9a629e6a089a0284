/* SPDX-License-Identifier: MIT
 *
 * kaffine.h - super-blocks whose blocks have a scale and a minimum each
 *
 * What Q2_K, Q4_K and Q5_K share.  Scales are multiples of one number of the
 * super-block, minimums of another.
 */
#ifndef MF_LIB_QUANT_KAFFINE_H
#define MF_LIB_QUANT_KAFFINE_H

#include "lib/quant/affine.h"
#include "lib/quant/kblock.h"
#include "lib/quant/positive.h"

/* Of each super-block a number, and by how much its blocks multiply that: to
 * scales in the first MF_LANES of these, to minimums in the others. */
struct mf_k_multiples {
    float unit[MF_ABREAST];
    uint8_t code[MF_ABREAST][MF_BATCH_BLOCKS];
};

/* What is constant in a codec, and so to the compiler once all is inline. */
struct mf_k_affine {
    size_t bytes;      /* of a super-block */
    size_t block_size; /* elements */
    float top; /* the largest multiple, and where its code is cut off: */
    uint8_t bound, weighted_bound;
    bool mean;        /* plain weights are |x|, and with this plus the root of
                         the block's mean square */
    float importance; /* given weights are times the root of this times the
                         super-block's mean square, plus the square of x */
    struct mf_affine_trials plain, weighted;
    /* Writes super-block number i. */
    void (*write)(const struct mf_batch *batch, size_t i,
                  const struct mf_k_multiples *found, uint8_t *out);
};

/* ---- scales and minimums */

static inline void mf_k_weigh_plain(const struct mf_k_affine *type,
                                    const struct mf_row *x,
                                    struct mf_row *weight)
{
    struct mf_row add = { { { 0 } } };

    if (type->mean)
        for (size_t i = 0; i < type->block_size; i++)
            for (int s = 0; s < MF_SIDES; s++)
                add.side[s] += x[i].side[s] * x[i].side[s];
    for (int s = 0; s < MF_SIDES; s++)
        add.side[s] = mf_lanes_root(add.side[s] / (float)type->block_size);
    for (size_t i = 0; i < type->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            weight[i].side[s] = add.side[s] + mf_lanes_abs(x[i].side[s]);
}

static inline void mf_k_affine_search(const struct mf_k_affine *type,
                                      struct mf_batch *batch)
{
    struct mf_affine_rows rows;

    if (batch->weights)
        mf_batch_square_sums(batch);
    for (size_t i = 0; batch->weights && i < batch->count; i++)
        batch->variance[i] = type->importance * batch->variance[i] / MF_K;
    for (size_t i = 0; i < batch->count * batch->block_count; i += MF_ABREAST) {
        mf_batch_load(batch, i, batch->row, rows.x);
        if (batch->weights) {
            mf_batch_weigh(batch, i, rows.x, rows.weight);
            mf_affine_search(&type->weighted, &rows, batch, i);
        } else {
            mf_k_weigh_plain(type, rows.x, rows.weight);
            mf_affine_search(&type->plain, &rows, batch, i);
        }
    }
}

/* ---- these as multiples */

/* A scale may come out a little below 0; cut to a byte its code is then
 * large. */
static inline uint8_t mf_k_byte(int32_t code, uint8_t bound)
{
    uint8_t byte = (uint8_t)code;

    return byte < bound ? byte : bound;
}

/* The largest is top times the unit. */
static inline float mf_k_plain_multiple(const struct mf_k_affine *type,
                                        const float *value, size_t count,
                                        uint8_t *code)
{
    float max = 0.0f, inverse;

    for (size_t i = 0; i < count; i++)
        max = value[i] > max ? value[i] : max;
    inverse = max > 0 ? type->top / max : 0.0f;
    for (size_t i = 0; i < count; i++)
        code[i] = mf_k_byte(mf_k_round(inverse * value[i]), type->bound);
    return max / type->top;
}

static inline void mf_k_plain_multiples(const struct mf_k_affine *type,
                                        const struct mf_batch *batch,
                                        struct mf_k_multiples *out)
{
    size_t count = batch->block_count;

    for (size_t i = 0; i < batch->count; i++) {
        size_t j = MF_LANES + i;

        out->unit[i] = mf_k_plain_multiple(type, batch->scale + i * count,
                                           count, out->code[i]);
        out->unit[j] = mf_k_plain_multiple(type, batch->minimum + i * count,
                                           count, out->code[j]);
    }
}

/* Rows of what the batch holds for each block, one super-block in each lane of
 * a side. */
static inline void mf_k_load_sides(const struct mf_batch *batch,
                                   const float *side0, const float *side1,
                                   struct mf_row *rows)
{
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < MF_LANES; i++) {
        from[i] = side0 + batch->block_count * (i < batch->count ? i : 0);
        from[MF_LANES + i] =
            side1 + batch->block_count * (i < batch->count ? i : 0);
    }
    mf_rows_load(rows, from, batch->block_count);
}

/* Those that err least where the weights are. */
static inline void mf_k_fit_multiples(const struct mf_k_affine *type,
                                      const struct mf_batch *batch,
                                      struct mf_k_multiples *out)
{
    struct mf_row x[MF_POSITIVE_SIZE], weight[MF_POSITIVE_SIZE];
    struct mf_positive fit;

    fit.size = batch->block_count;
    fit.top = type->top;
    fit.x = x;
    fit.weight = weight;
    mf_k_load_sides(batch, batch->scale, batch->minimum, x);
    mf_k_load_sides(batch, batch->weight, batch->weight, weight);
    mf_positive_search(&fit);
    mf_row_store(out->unit, fit.scale);
    for (size_t j = 0; j < batch->block_count; j++) {
        float code[MF_ABREAST];

        mf_row_store(code, fit.code[j]);
        for (size_t i = 0; i < MF_ABREAST; i++)
            out->code[i][j] = mf_k_byte((int32_t)code[i], type->weighted_bound);
    }
}

/* ---- codes of the elements */

/* Of block number i.  Where its scale is 0 they come from the search. */
static inline void mf_k_affine_codes(const struct mf_batch *batch, size_t i,
                                     float scale, float minimum, float top,
                                     uint8_t *codes)
{
    const float *row = batch->row + i * batch->block_size;

    for (size_t j = 0; j < batch->block_size; j += MF_LANES) {
        mf_floats x = mf_lanes_load(row + j);

        x = scale != 0 ? (x + minimum) / scale
                       : batch->code_scale[i] * (x - batch->code_minimum[i]);
        mf_lanes_store_bytes(
            codes + j, mf_lanes_clamp_round(mf_lanes_round_any(x), 0.0f, top));
    }
}

/* ---- all of it */

static inline void mf_k_affine_encode(const struct mf_k_affine *type,
                                      const float *row, const float *weights,
                                      uint8_t *blocks, size_t columns)
{
    struct mf_batch batch;
    struct mf_k_multiples found;

    mf_batch_begin(&batch, row, weights, type->block_size,
                   MF_K / type->block_size);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_LANES);
        mf_k_affine_search(type, &batch);
        if (weights)
            mf_k_fit_multiples(type, &batch, &found);
        else
            mf_k_plain_multiples(type, &batch, &found);
        for (size_t i = 0; i < batch.count; i++, blocks += type->bytes)
            type->write(&batch, i, &found, blocks);
    }
}

#endif
