/* SPDX-License-Identifier: MIT
 *
 * kscale.h - super-blocks of 16 blocks that have a scale each: Q3_K and Q6_K
 */
#ifndef MF_LIB_QUANT_KSCALE_H
#define MF_LIB_QUANT_KSCALE_H

#include "lib/quant/kblock.h"
#include "lib/quant/scale.h"

#define MF_K_SCALE_SIZE 16 /* elements of a block */

static inline void mf_k_search_scale(struct mf_batch *batch, size_t first,
                                     float top, const struct mf_row *x,
                                     const struct mf_row *weight)
{
    struct mf_scale search;

    mf_scale_begin(&search, MF_K_SCALE_SIZE, top, x, weight);
    mf_scale_search(&search);
    mf_row_store(batch->scale + first, search.scale);
    mf_row_store(batch->code_scale + first, search.code_scale);
}

/* Codes, plus top, of block number i.  Where its scale is 0 they come from
 * the search. */
static inline void mf_k_scale_codes(const struct mf_batch *batch, size_t i,
                                    float scale, float top, uint8_t *codes)
{
    const float *row = batch->row + i * MF_K_SCALE_SIZE;
    mf_ints code[MF_K_SCALE_SIZE / MF_LANES];

    for (size_t j = 0; j < MF_K_SCALE_SIZE / MF_LANES; j++) {
        mf_floats x = mf_lanes_load(row + j * MF_LANES);

        x = scale != 0 ? mf_lanes_round_any(x / scale)
                       : mf_lanes_round(batch->code_scale[i] * x);
        code[j] = mf_lanes_clamp_above(x, -top, top - 1);
    }
    mf_u8_of_ints(code, codes);
}

/* The first scale that is farthest from 0; 0 where all are. */
static inline float mf_k_farthest(const float scale[16])
{
    mf_floats most = { 0 };
    float lanes[MF_LANES], far = 0.0f;

    for (size_t i = 0; i < 16; i += MF_LANES)
        most = mf_lanes_max(mf_lanes_abs(mf_lanes_load(scale + i)), most);
    mf_lanes_store(lanes, most);
    for (size_t i = 0; i < MF_LANES; i++)
        far = lanes[i] > far ? lanes[i] : far;
    for (size_t i = 0; i < 16; i += MF_LANES) {
        mf_floats some = mf_lanes_abs(mf_lanes_load(scale + i));
        uint32_t there = mf_lanes_signs(some == mf_lanes_all(far));

        if (there != 0)
            return scale[i + (size_t)__builtin_ctz(there)];
    }
    return 0.0f;
}

#endif
