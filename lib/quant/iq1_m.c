/* SPDX-License-Identifier: MIT
 *
 * iq1_m.c - 256 numbers of 1.75 bits: codes of a grid
 *
 * uint8 place[32], uint8 high[16], uint16 parts[4].  Each half of a byte of
 * high has three bits of a place and a shift's sign.  Of each word of parts the
 * four highest bits belong to the block's scale, a half, lowest first; the
 * others are four parts of the scale, for 16 numbers each;
 * (number +- 1/8) * scale * (2 * part + 1).
 *
 * Encoded as the reference does it since version 0.25.1, and as it did before:
 * what is different is how it adds up what it judges.
 */
#define MF_WIDE_LANES
#define MF_IQ1_SIZE  16
#define MF_IQ1_PARTS 2
#include "lib/quant/grid_1.h"
#include "lib/quant/iq1_batch.h"
#include "lib/quant/quant.h"

#define BYTES 56
enum { HIGH = 32, PARTS = 48 };

static inline float load_scale(const uint8_t *parts)
{
    uint8_t half[2];

    half[0] = (uint8_t)(parts[1] >> 4 | (parts[3] & 0xf0));
    half[1] = (uint8_t)(parts[5] >> 4 | (parts[7] & 0xf0));
    return mf_load_scale(half);
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= MF_K, blocks += BYTES) {
        float scale = load_scale(blocks + PARTS);

        for (size_t i = 0; i < 16; i++, out += 16) {
            uint32_t parts = mf_little_16(blocks + PARTS + i / 4 * 2);
            uint32_t high = blocks[HIGH + i];
            uint32_t first = blocks[2 * i] | (high & 7) << 8;
            uint32_t second = blocks[2 * i + 1] | (high >> 4 & 7) << 8;
            float part = scale * (float)(2 * (parts >> i % 4 * 3 & 7) + 1);

            mf_grid_1_decode(first, high & 8, part, out);
            mf_grid_1_decode(second, high & 128, part, out + 8);
        }
    }
}

/* Levels of columns of a block, from the one at on, which is a multiple of
 * MF_LANES. */
static inline mf_floats levels(const struct mf_iq1_found *found, size_t at)
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
static inline void products(struct mf_iq1_batch *all, size_t i,
                            const uint32_t part[16])
{
    const struct mf_iq1_found *found = all->found + 16 * i;

    for (size_t j = 0; j < MF_K; j += MF_LANES) {
        size_t at = MF_K * i + j;
        mf_floats q =
            levels(&found[j / 16], j % 16) * (float)(2 * part[j / 16] + 1);
        mf_floats wq = mf_lanes_load(all->weight + at) * q;

        mf_lanes_store(all->sum_x + at,
                       wq * mf_lanes_load(all->batch.row + at));
        mf_lanes_store(all->sum_2 + at, wq * q);
    }
}

/* Super-block number i: places and shifts, and parts of a scale that is 0. */
static inline void write_block(const struct mf_iq1_batch *all, size_t i,
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
        out[HIGH + j] = (uint8_t)(first >> 8 | second >> 8 << 4 |
                                  (variant & 1) << 7 | (variant & 2) << 2);
        if (most != 0)
            words[j / 4] |= part[j] << 3 * (j % 4);
    }
    for (size_t j = 0; j < 4; j++)
        mf_put_little_16(out + PARTS + 2 * j, (uint16_t)words[j]);
}

static inline void write_scale(uint8_t *out, float scale)
{
    uint8_t bytes[2];
    uint32_t half;

    mf_store_scale(bytes, scale);
    half = mf_little_16(bytes);
    for (size_t i = 0; i < 4; i++)
        out[PARTS + 2 * i + 1] |= (uint8_t)((half >> 4 * i & 15) << 4);
}

/* A super-block's scale is the best for all codes with their parts. */
static inline void write_all(struct mf_iq1_batch *all, uint8_t *out)
{
    size_t count = all->batch.count;
    float most[MF_LANES], qx[MF_LANES], q2[MF_LANES];
    uint32_t part[MF_LANES][16];

    for (size_t i = 0; i < count; i++) {
        most[i] = mf_iq1_parts(all->found + 16 * i, part[i]);
        write_block(all, i, most[i], part[i], out + BYTES * i);
        products(all, i, part[i]);
    }
    mf_iq1_total(all, all->sum_x, qx);
    mf_iq1_total(all, all->sum_2, q2);
    for (size_t i = 0; i < count; i++, out += BYTES) {
        float scale = q2[i] > 0 ? qx[i] / q2[i] : most[i] / 15;

        if (most[i] != 0)
            write_scale(out, scale * 1.1125f);
    }
}

/* Sums of the first numbers of both halves, in the reference's order of
 * operations. */
static void judge(struct mf_iq1 *block, int low, int high)
{
    float qx[2][2], q2[2][2];

    for (int half = 0; half < 2; half++) {
        const struct mf_iq1_sums *sums = &block->part[half];
        float x = sums->x[low] + sums->x[high];
        float whole = sums->x[MF_IQ1_SIZE], weight = sums->weight[MF_IQ1_SIZE];

        for (int k = 0; k < 2; k++) {
            const float *level = mf_iq1_levels[k];
            float middle = level[1] * level[1];

            qx[k][half] = whole * level[2] - x;
            q2[k][half] = weight * level[2] * level[2] +
                          sums->weight[low] * (level[0] * level[0] - middle) +
                          sums->weight[high] * (middle - level[2] * level[2]);
        }
    }
    for (int k = 0; k < 4; k++)
        mf_iq1_offer(block, low, high, k, qx[k / 2][0] + qx[k % 2][1],
                     q2[k / 2][0] + q2[k % 2][1]);
}

/* Each pair's sums from the start, number by number. */
static void judge_before(struct mf_iq1 *block, int low, int high)
{
    float qx[4] = { 0 }, q2[4] = { 0 };

    for (int i = 0; i < MF_IQ1_SIZE; i++) {
        int column = (int)mf_float_bits(block->column[i]),
            digit = (i >= low) + (i >= high);
        float x = block->x[column], weight = block->weight[column];

        for (int k = 0; k < 4; k++) {
            int side = mf_iq1_side(2 * column / MF_IQ1_SIZE, k);
            float level = mf_iq1_levels[side][digit];

            qx[k] += weight * level * x;
            q2[k] += weight * level * level;
        }
    }
    for (int k = 0; k < 4; k++)
        mf_iq1_offer(block, low, high, k, qx[k], q2[k]);
}

static bool encode_row(void (*judges)(struct mf_iq1 *block, int low, int high),
                       const struct mf_grid_map *map, const float *row,
                       const float *weights, uint8_t *blocks, size_t columns)
{
    struct mf_iq1_batch all;
    size_t left = columns / MF_K;

    all.map = map;
    all.judge = judges;
    all.least = 1e-7f;
    mf_batch_begin(&all.batch, row, weights, 16, 16);
    for (; left > 0; left -= all.batch.count) {
        mf_batch_advance(&all.batch, left, MF_LANES);
        if (!mf_iq1_batch_blocks(&all))
            return false;
        write_all(&all, blocks);
        blocks += BYTES * all.batch.count;
    }
    return true;
}

static bool encode(const struct mf_grid_map *map, const float *restrict row,
                   const float *restrict weights, uint8_t *restrict blocks,
                   size_t columns)
{
    return encode_row(judge, map, row, weights, blocks, columns);
}

static bool encode_before(const struct mf_grid_map *map,
                          const float *restrict row,
                          const float *restrict weights,
                          uint8_t *restrict blocks, size_t columns)
{
    return encode_row(judge_before, map, row, weights, blocks, columns);
}

static const struct mf_codec before = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode_before),
    .grid = MF_GRID_IQ1,
};

const struct mf_codec MF_CODEC(iq1_m) = {
    .decode = decode,
    .encode_on_grid = MF_ENCODER(encode),
    .grid = MF_GRID_IQ1,
    .older = &before,
};
