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
#define MF_IQ1_SIZE  16
#define MF_IQ1_PARTS 2
#include "lib/quant/grid_1.h"
#include "lib/quant/iq1_batch.h"
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
            uint32_t parts = mf_little_16(at + i / 8 * 2);
            float part = scale * (float)(2 * (parts >> i / 2 % 4 * 3 & 7) + 1);

            mf_grid_1_decode(blocks[i] | (high & 7) << 8, high & 8, part, out);
        }
    }
}

/* Levels of columns of a block, from the one at on, which is a multiple of
 * MF_LANES. */
static inline mf_floats mf_iq1_m_levels(const struct mf_iq1_found *found,
                                        size_t at)
{
    static const int32_t steps[16] = { 0,  2,  4,  6,  8,  10, 12, 14,
                                       16, 18, 20, 22, 24, 26, 28, 30 };
    mf_ints step, digit = mf_ints_all((int32_t)(uint32_t)found->digits);
    mf_floats lowest = mf_lanes_all(mf_iq1_lowest((int)at / 8, found->variant));

    memcpy(&step, steps + at, sizeof(step));
    digit = digit >> step & 3;
    if (MF_LANES > 8)
        lowest = mf_lanes_select(
            step < 16, lowest, mf_lanes_all(mf_iq1_lowest(1, found->variant)));
    return mf_lanes_of(digit) + lowest;
}

/* What level * weight * x, and level^2 * weight, of super-block number i are
 * with the parts of its scale. */
static inline void mf_iq1_m_products(struct mf_iq1_batch *all, size_t i,
                                     const uint32_t part[16])
{
    const struct mf_iq1_found *found = all->found + 16 * i;

    for (size_t j = 0; j < MF_K; j += MF_LANES) {
        size_t at = MF_K * i + j;
        mf_floats q = mf_iq1_m_levels(&found[j / 16], j % 16) *
                      (float)(2 * part[j / 16] + 1);
        mf_floats wq = mf_lanes_load(all->weight + at) * q;

        mf_lanes_store(all->sum_x + at,
                       wq * mf_lanes_load(all->batch.row + at));
        mf_lanes_store(all->sum_2 + at, wq * q);
    }
}

/* Super-block number i: places and shifts, and parts of a scale that is 0. */
static inline void mf_iq1_m_write(const struct mf_iq1_batch *all, size_t i,
                                  float most, const uint32_t part[16],
                                  uint8_t *out)
{
    const struct mf_iq1_found *found = all->found + 16 * i;
    uint32_t words[4] = { 0 };

    for (size_t j = 0; j < 16; j++) {
        uint32_t first = (uint32_t)all->map->place[found[j].digits & 0xffff];
        uint32_t second = (uint32_t)all->map->place[found[j].digits >> 16];
        uint32_t variant = most != 0 ? (uint32_t)found[j].variant : 0;

        out[2 * j] = (uint8_t)first;
        out[2 * j + 1] = (uint8_t)second;
        out[MF_IQ1_M_HIGH + j] =
            (uint8_t)(first >> 8 | second >> 8 << 4 | (variant & 1) << 7 |
                      (variant & 2) << 2);
        if (most != 0)
            words[j / 4] |= part[j] << 3 * (j % 4);
    }
    for (size_t j = 0; j < 4; j++)
        mf_put_little_16(out + MF_IQ1_M_PARTS + 2 * j, (uint16_t)words[j]);
}

static inline void mf_iq1_m_write_scale(uint8_t *out, float scale)
{
    uint8_t bytes[2];
    uint32_t half;

    mf_store_scale(bytes, scale);
    half = mf_little_16(bytes);
    for (size_t i = 0; i < 4; i++)
        out[MF_IQ1_M_PARTS + 2 * i + 1] |= (uint8_t)((half >> 4 * i & 15) << 4);
}

/* A super-block's scale is the best for all codes with their parts. */
static inline void mf_iq1_m_write_all(struct mf_iq1_batch *all, uint8_t *out)
{
    size_t count = all->batch.count;
    float most[MF_LANES], qx[MF_LANES], q2[MF_LANES];
    uint32_t part[MF_LANES][16];

    for (size_t i = 0; i < count; i++) {
        most[i] = mf_iq1_parts(all->found + 16 * i, part[i]);
        mf_iq1_m_write(all, i, most[i], part[i], out + MF_IQ1_M_BYTES * i);
        mf_iq1_m_products(all, i, part[i]);
    }
    mf_iq1_total(all, all->sum_x, qx);
    mf_iq1_total(all, all->sum_2, q2);
    for (size_t i = 0; i < count; i++, out += MF_IQ1_M_BYTES) {
        float scale = q2[i] > 0 ? qx[i] / q2[i] : most[i] / 15;

        if (most[i] != 0)
            mf_iq1_m_write_scale(out, scale * 1.1125f);
    }
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
    all.judge = judge;
    all.least = 1e-7f;
    mf_batch_begin(&all.batch, row, weights, 16, 16);
    for (; left > 0; left -= all.batch.count) {
        mf_batch_advance(&all.batch, left, MF_LANES);
        if (!mf_iq1_batch_blocks(&all))
            return false;
        mf_iq1_m_write_all(&all, blocks);
        blocks += MF_IQ1_M_BYTES * all.batch.count;
    }
    return true;
}

#endif
