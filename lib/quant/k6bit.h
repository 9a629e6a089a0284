/* SPDX-License-Identifier: MIT
 *
 * k6bit.h - eight scales and eight minimums of six bits each
 *
 * What Q4_K and Q5_K begin with: a half for scales, a half for minimums, and 12
 * bytes.  Of these, 0 to 3 hold scales 0 to 3, bytes 4 to 7 minimums 0 to 3;
 * the upper two bits of each belong to number 4 to 7, whose lower four are
 * in bytes 8 to 11: a scale's below, a minimum's above.
 */
#ifndef MF_LIB_QUANT_K6BIT_H
#define MF_LIB_QUANT_K6BIT_H

#include "lib/quant/kaffine.h"
#include "lib/quant/makeup.h"

#define MF_6BIT 16 /* bytes */

static inline void mf_6bit_store(uint8_t *at, const uint8_t scale[8],
                                 const uint8_t minimum[8])
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(scale[i] | scale[i + 4] >> 4 << 6);
        at[i + 4] = (uint8_t)(minimum[i] | minimum[i + 4] >> 4 << 6);
        at[i + 8] = (uint8_t)((scale[i + 4] & 15) | minimum[i + 4] << 4);
    }
}

static inline void mf_6bit_multiples(const uint8_t *at, float scale[8],
                                     float minimum[8])
{
    for (int i = 0; i < 4; i++) {
        scale[i] = (float)(at[i] & 63);
        scale[i + 4] = (float)((at[i + 8] & 15) | at[i] >> 6 << 4);
        minimum[i] = (float)(at[i + 4] & 63);
        minimum[i + 4] = (float)(at[i + 8] >> 4 | at[i + 4] >> 6 << 4);
    }
}

static inline void mf_6bit_load(const uint8_t *at, float scale[8],
                                float minimum[8])
{
    float d = mf_load_scale(at), m = mf_load_scale(at + 2);

    mf_6bit_multiples(at + 4, scale, minimum);
    for (int i = 0; i < 8; i++) {
        scale[i] *= d;
        minimum[i] *= m;
    }
}

/* Writes these of super-block number i, and finds its codes. */
static inline void mf_6bit_write(const struct mf_batch *batch, size_t i,
                                 const struct mf_k_multiples *found, float top,
                                 uint8_t *out, uint8_t code[MF_K])
{
    float scale[8], minimum[8];

    mf_store_scale(out, mf_one_nan(found->unit[i]));
    mf_store_scale(out + 2, mf_one_nan(found->unit[MF_LANES + i]));
    mf_6bit_store(out + 4, found->code[i], found->code[MF_LANES + i]);
    mf_6bit_load(out, scale, minimum);
    for (size_t j = 0; j < 8; j++)
        mf_k_affine_codes(batch, 8 * i + j, scale[j], minimum[j], top,
                          code + 32 * j);
}

/* ---- a search */

#define MF_6BIT_MAKEUP(size, top)                                              \
    {                                                                          \
        .bytes = (size), .block_size = 32, .block_count = 8,                   \
        .numbers = MF_NUMBERS_SHIFTED, .high = (top), .most = 63,              \
        .most_minimum = 63, .load = mf_6bit_load_parts, .store = store,        \
        .depths = &depths                                                      \
    }

static inline void mf_6bit_load_parts(const uint8_t *block,
                                      struct mf_parts *parts)
{
    parts->unit[0] = mf_load_scale(block);
    parts->unit[1] = mf_load_scale(block + 2);
    mf_6bit_multiples(block + 4, parts->multiple[0], parts->multiple[1]);
}

static inline void mf_6bit_store_parts(const struct mf_parts *parts,
                                       uint8_t *block)
{
    uint8_t scale[8], minimum[8];

    for (size_t i = 0; i < 8; i++) {
        scale[i] = (uint8_t)parts->multiple[0][i];
        minimum[i] = (uint8_t)parts->multiple[1][i];
    }
    mf_store_scale(block, parts->unit[0]);
    mf_store_scale(block + 2, parts->unit[1]);
    mf_6bit_store(block + 4, scale, minimum);
}

#endif
