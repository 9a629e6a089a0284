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

/* Codes, plus top, of block number i.  Where its scale is 0 they are those of
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

#endif
