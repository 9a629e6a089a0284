/* SPDX-License-Identifier: MIT
 *
 * iq1_m.h - 256 numbers of 1.75 bits: codes of a grid
 *
 * uint8 place[32], uint8 high[16], uint16 parts[4].  Each half of a byte of
 * high has three bits of a place and a shift's sign.  Of each word of parts the
 * four highest bits belong to the block's scale, a half, lowest first; the
 * others are four parts of the scale, for 16 numbers each;
 * (number +- 1/8) * scale * (2 * part + 1).
 *
 * An encoder has its own way of adding up what it judges.
 */
#ifndef MF_LIB_QUANT_IQ1_M_H
#define MF_LIB_QUANT_IQ1_M_H

#define MF_WIDE_LANES
#include "lib/quant/grid_1.h"
#include "lib/quant/iq1_near.h"
#include "lib/quant/quant.h"

#define MF_IQ1_M_BYTES 56
enum { MF_IQ1_M_HIGH = 32, MF_IQ1_M_PARTS = 48 };

static inline float mf_iq1_m_scale(const uint8_t *parts)
{
    uint8_t half[2];

    half[0] = (uint8_t)(parts[1] >> 4 | (parts[3] & 0xf0));
    half[1] = (uint8_t)(parts[5] >> 4 | (parts[7] & 0xf0));
    return mf_load_scale(half);
}

static inline void mf_iq1_m_decode(const uint8_t *restrict blocks,
                                   float *restrict out, size_t columns)
{
    for (; columns > 0; columns -= MF_K, blocks += MF_IQ1_M_BYTES) {
        const uint8_t *at = blocks + MF_IQ1_M_PARTS;
        float scale = mf_iq1_m_scale(at);

        for (size_t i = 0; i < 32; i++, out += 8) {
            uint32_t high =
                (uint32_t)blocks[MF_IQ1_M_HIGH + i / 2] >> i % 2 * 4;
            uint32_t parts = mf_load_u16(at + i / 8 * 2);
            float part = scale * (float)(2 * (parts >> i / 2 % 4 * 3 & 7) + 1);

            mf_grid_1_decode(blocks[i] | (high & 7) << 8, high & 8, part, out);
        }
    }
}

/* The scale that is best for all codes of a super-block with their parts. */
static inline float mf_iq1_m_fit(const struct mf_iq1_found *found,
                                 const uint32_t part[16], const float *x,
                                 const float *weight, float scale)
{
    float sum_qx = 0, sum_q2 = 0;

    for (size_t i = 0; i < MF_K; i++) {
        const struct mf_iq1_found *block = &found[i / 16];
        size_t half = i / 8 % 2;
        const float *level =
            mf_iq1_levels[mf_iq1_side(2, (int)half, block->variant)];
        float q = level[block->code[half] >> 2 * (i % 8) & 3] *
                  (float)(2 * part[i / 16] + 1);

        sum_qx += weight[i] * q * x[i];
        sum_q2 += weight[i] * q * q;
    }
    return sum_q2 > 0 ? sum_qx / sum_q2 : scale;
}

static inline void mf_iq1_m_write(const struct mf_iq1_batch *all, size_t i,
                                  uint8_t *out)
{
    const struct mf_iq1_found *found = all->found + 16 * i;
    uint32_t part[16], words[4] = { 0 }, half;
    float most = mf_iq1_parts(found, 16, part), scale;
    uint8_t bytes[2];

    for (size_t j = 0; j < 32; j++) {
        uint32_t place = (uint32_t)all->map->place[found[j / 2].code[j % 2]];

        out[j] = (uint8_t)place;
        if (j % 2 == 0)
            out[MF_IQ1_M_HIGH + j / 2] = (uint8_t)(place >> 8);
        else
            out[MF_IQ1_M_HIGH + j / 2] |= (uint8_t)(place >> 8 << 4);
    }
    memset(out + MF_IQ1_M_PARTS, 0, MF_IQ1_M_BYTES - MF_IQ1_M_PARTS);
    if (most == 0)
        return;
    scale = mf_iq1_m_fit(found, part, all->batch.row + MF_K * i,
                         all->weight + MF_K * i, most / 15);
    mf_store_scale(bytes, scale * 1.1125f);
    half = mf_load_u16(bytes);
    for (size_t j = 0; j < 16; j++) {
        uint32_t variant = (uint32_t)found[j].variant;

        words[j / 4] |= part[j] << 3 * (j % 4);
        out[MF_IQ1_M_HIGH + j] |=
            (uint8_t)((variant & 1) << 7 | (variant & 2) << 2);
    }
    for (size_t j = 0; j < 4; j++)
        mf_store_u16(out + MF_IQ1_M_PARTS + 2 * j,
                     (uint16_t)(words[j] | (half >> 4 * j & 15) << 12));
}

static inline bool
mf_iq1_m_encode(void (*judge)(struct mf_iq1 *block, int low, int high),
                const struct mf_grid_map *map, const float *restrict row,
                const float *restrict weights, uint8_t *restrict blocks,
                size_t columns)
{
    struct mf_iq1_batch all;
    size_t left = columns / MF_K;

    all.map = map;
    all.parts = 2;
    all.judge = judge;
    all.least = 1e-7f;
    mf_batch_begin(&all.batch, row, weights, 16, 16);
    for (; left > 0; left -= all.batch.count) {
        mf_batch_advance(&all.batch, left, MF_LANES);
        if (!mf_iq1_all_blocks(&all))
            return false;
        for (size_t i = 0; i < all.batch.count; i++) {
            mf_iq1_m_write(&all, i, blocks);
            blocks += MF_IQ1_M_BYTES;
        }
    }
    return true;
}

#endif
