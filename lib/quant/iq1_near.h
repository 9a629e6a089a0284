/* SPDX-License-Identifier: MIT
 *
 * iq1_near.h - from levels to codes of the grid
 */
#ifndef MF_LIB_QUANT_IQ1_NEAR_H
#define MF_LIB_QUANT_IQ1_NEAR_H

#include "lib/quant/grid_map.h"
#include "lib/quant/iq1.h"
#include "lib/quant/kblock.h"

/* What is found for a block. */
struct mf_iq1_found {
    float scale;
    int variant;
    uint16_t code[4]; /* of eight columns each */
};

/* ---- the nearest code ---- */

#define MF_IQ1_NONE 0xffff

/* What each digit of each of eight columns adds to the error, and how many
 * columns' sums a code needs.  A vector has a column's four numbers in each
 * half of a half. */
#if defined(__AVX2__)

#if MF_LANES == 16
typedef __m512 mf_iq1_table;

static inline mf_iq1_table mf_iq1_table_of(__m256 half, int upper)
{
    __m512 both = _mm512_castps256_ps512(half);

    return upper ? _mm512_shuffle_f32x4(both, both, 0x55)
                 : _mm512_shuffle_f32x4(both, both, 0x00);
}

static inline mf_floats mf_iq1_look_up(mf_iq1_table table, mf_ints code)
{
    return (mf_floats)_mm512_permutevar_ps(table, (__m512i)code);
}

static inline mf_ints mf_iq1_codes(const uint16_t *at)
{
    __m256i codes = _mm256_loadu_si256((const __m256i *)(const void *)at);

    return (mf_ints)_mm512_cvtepu16_epi32(codes);
}
#else
typedef __m256 mf_iq1_table;

static inline mf_iq1_table mf_iq1_table_of(__m256 half, int upper)
{
    return upper ? _mm256_permute2f128_ps(half, half, 0x11)
                 : _mm256_permute2f128_ps(half, half, 0x00);
}

static inline mf_floats mf_iq1_look_up(mf_iq1_table table, mf_ints code)
{
    return (mf_floats)_mm256_permutevar_ps(table, (__m256i)code);
}

static inline mf_ints mf_iq1_codes(const uint16_t *at)
{
    __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)at);

    return (mf_ints)_mm256_cvtepu16_epi32(codes);
}
#endif

static inline void mf_iq1_errors(const float *x, const float *weight,
                                 float scale, const float level[3],
                                 mf_iq1_table error[8])
{
    __m256 row = _mm256_loadu_ps(x), importance = _mm256_loadu_ps(weight);
    __m256 digit[3], pair[2], rest[2], four;

    for (int i = 0; i < 3; i++) {
        __m256 off = _mm256_sub_ps(_mm256_set1_ps(scale * level[i]), row);

        digit[i] = _mm256_mul_ps(_mm256_mul_ps(importance, off), off);
    }
    pair[0] = _mm256_unpacklo_ps(digit[0], digit[1]);
    pair[1] = _mm256_unpackhi_ps(digit[0], digit[1]);
    rest[0] = _mm256_unpacklo_ps(digit[2], digit[2]);
    rest[1] = _mm256_unpackhi_ps(digit[2], digit[2]);
    for (int i = 0; i < 4; i++) {
        four = i % 2 ? _mm256_shuffle_ps(pair[i / 2], rest[i / 2], 0xee)
                     : _mm256_shuffle_ps(pair[i / 2], rest[i / 2], 0x44);
        error[i] = mf_iq1_table_of(four, 0);
        error[i + 4] = mf_iq1_table_of(four, 1);
    }
}

/* The first code of least error; MF_IQ1_NONE where none is finite. */
static inline uint16_t mf_iq1_nearest(const struct mf_near *near,
                                      const mf_iq1_table error[8])
{
    mf_floats least = mf_lanes_all(FLT_MAX);
    mf_ints at = mf_ints_all(0);
    float lane_least[MF_LANES], best = FLT_MAX;
    int32_t lane_at[MF_LANES];
    unsigned found = near->count;

    for (unsigned i = 0; i < near->count; i += MF_LANES) {
        mf_ints code = mf_iq1_codes(near->code + i), less;
        mf_floats sum = mf_iq1_look_up(error[0], code);

        for (int j = 1; j < 8; j++)
            sum += mf_iq1_look_up(error[j], code >> 2 * j);
        less = sum < least;
        least = mf_lanes_select(less, sum, least);
        at = (less & (int32_t)i) | (at & ~less);
    }
    memcpy(lane_least, &least, sizeof(least));
    memcpy(lane_at, &at, sizeof(at));
    for (unsigned i = 0; i < MF_LANES; i++) {
        unsigned place = (unsigned)lane_at[i] + i;

        if (lane_least[i] < best || (lane_least[i] == best && place < found)) {
            best = lane_least[i];
            found = place;
        }
    }
    return best < FLT_MAX ? near->code[found] : MF_IQ1_NONE;
}

#else

typedef float mf_iq1_table[4];

static inline void mf_iq1_errors(const float *x, const float *weight,
                                 float scale, const float level[3],
                                 mf_iq1_table error[8])
{
    for (int i = 0; i < 8; i++)
        for (int digit = 0; digit < 3; digit++) {
            float off = scale * level[digit] - x[i];

            error[i][digit] = weight[i] * off * off;
        }
}

/* The first code of least error; MF_IQ1_NONE where none is finite. */
static inline uint16_t mf_iq1_nearest(const struct mf_near *near,
                                      mf_iq1_table error[8])
{
    uint16_t found = MF_IQ1_NONE;
    float least = FLT_MAX;

    for (unsigned i = 0; i < near->count; i++) {
        uint32_t code = near->code[i];
        float sum = error[0][code & 3];

        for (int j = 1; j < 8; j++)
            sum += error[j][code >> 2 * j & 3];
        if (sum < least) {
            least = sum;
            found = near->code[i];
        }
    }
    return found;
}

#endif

/* ---- a block ---- */

/* Each bit becomes two of which the upper one is 0. */
static inline uint64_t mf_iq1_spread(uint32_t bits)
{
    uint64_t wide = bits;

    wide = (wide | wide << 16) & UINT64_C(0x0000ffff0000ffff);
    wide = (wide | wide << 8) & UINT64_C(0x00ff00ff00ff00ff);
    wide = (wide | wide << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    wide = (wide | wide << 2) & UINT64_C(0x3333333333333333);
    return (wide | wide << 1) & UINT64_C(0x5555555555555555);
}

/* The digits of all columns, two bits each.  Where the scale is below 0, it and
 * all levels are turned over. */
static inline uint64_t mf_iq1_digits(const struct mf_iq1 *block,
                                     struct mf_iq1_found *found)
{
    uint32_t lowest = 0, highest = 0, middle;

    for (int i = 0; i < block->low; i++)
        lowest |= UINT32_C(1) << block->order[i];
    for (int i = block->high; i < block->size; i++)
        highest |= UINT32_C(1) << block->order[i];
    middle = ~(lowest | highest);
    found->scale = block->scale;
    found->variant = block->variant;
    if (block->scale < 0) {
        found->scale = -block->scale;
        found->variant = (2 << block->parts) / 2 - 1 - block->variant;
        highest = lowest;
    }
    return mf_iq1_spread(middle) | mf_iq1_spread(highest) << 1;
}

/* The levels of group i of eight columns. */
static inline const float *mf_iq1_level(const struct mf_iq1 *block, int i,
                                        int variant)
{
    int part = block->parts * 8 * i / block->size;

    return mf_iq1_levels[mf_iq1_side(block->parts, part, variant)];
}

/* The scale that is best for these codes, if it is above 0. */
static inline void mf_iq1_rescale(const struct mf_iq1 *block,
                                  struct mf_iq1_found *found)
{
    float sum_qx = 0, sum_q2 = 0;

    for (int i = 0; i < block->size; i++) {
        const float *level = mf_iq1_level(block, i / 8, found->variant);
        float weight = block->weight[i];
        float q = level[found->code[i / 8] >> 2 * (i % 8) & 3];

        sum_qx += weight * q * block->x[i];
        sum_q2 += weight * q * q;
    }
    if (sum_qx > 0 && sum_q2 > 0)
        found->scale = sum_qx / sum_q2;
}

/* Codes and scale of a block that has been searched; false where the reference
 * stops. */
static inline bool mf_iq1_choose(const struct mf_iq1 *block,
                                 const struct mf_grid_map *map,
                                 struct mf_iq1_found *found)
{
    uint64_t digits;
    bool moved = false;

    memset(found, 0, sizeof(*found));
    if (block->variant < 0)
        return true;
    digits = mf_iq1_digits(block, found);
    for (int i = 0; i < block->size / 8; i++, digits >>= 16) {
        uint16_t code = (uint16_t)digits;

        if (map->place[code] < 0) {
            struct mf_near near = mf_grid_near(map, map->place[code]);
            mf_iq1_table error[8];

            mf_iq1_errors(block->x + 8 * i, block->weight + 8 * i, found->scale,
                          mf_iq1_level(block, i, found->variant), error);
            code = mf_iq1_nearest(&near, error);
            if (code == MF_IQ1_NONE)
                return false;
            moved = true;
        }
        found->code[i] = code;
    }
    if (moved)
        mf_iq1_rescale(block, found);
    return found->scale >= 0;
}

/* ---- all blocks of a batch ---- */

#define MF_IQ1_BLOCKS (MF_K / 16 * MF_LANES) /* of a batch, at most */

struct mf_iq1_batch {
    struct mf_batch batch;
    const struct mf_grid_map *map;
    int parts;
    void (*judge)(struct mf_iq1 *block, int low, int high);
    float least; /* a block of nothing as large counts as zeros */
    float weight[MF_K * MF_LANES];
    struct mf_iq1_found found[MF_IQ1_BLOCKS];
};

/* Weights of the matrix, times the root of twice the mean square of a
 * super-block plus the square of x; or that square alone. */
static inline void mf_iq1_weigh(struct mf_iq1_batch *all)
{
    struct mf_batch *batch = &all->batch;

    if (batch->weights)
        mf_batch_square_sums(batch);
    for (size_t i = 0; i < MF_K * batch->count; i += MF_LANES) {
        mf_floats x = mf_lanes_load(batch->row + i), weight = x * x;

        if (batch->weights)
            weight =
                mf_lanes_load(batch->weights + i) *
                mf_lanes_root(2 * batch->variance[i / MF_K] / MF_K + weight);
        mf_lanes_store(all->weight + i, weight);
    }
}

static inline bool mf_iq1_zeros(const float *x, int size, float least)
{
    for (int i = 0; i < size; i += MF_LANES)
        if (!mf_ints_every(mf_lanes_abs(mf_lanes_load(x + i)) <
                           mf_lanes_all(least)))
            return false;
    return true;
}

/* Blocks that are abreast, from number first on. */
static inline bool mf_iq1_blocks(struct mf_iq1_batch *all, size_t first)
{
    const struct mf_batch *batch = &all->batch;
    size_t size = batch->block_size, last = batch->count * batch->block_count;
    struct mf_row x[MF_IQ1_SIZE];
    float order[MF_ABREAST * MF_ASCEND];
    struct mf_iq1 block = { .size = (int)size,
                            .parts = all->parts,
                            .judge = all->judge };

    mf_batch_load(batch, first, batch->row, x);
    mf_ascend_blocks(x, (int)size, order);
    for (size_t i = 0; i < MF_ABREAST && first + i < last; i++) {
        struct mf_iq1_found *found = &all->found[first + i];

        block.x = batch->row + size * (first + i);
        block.weight = all->weight + size * (first + i);
        block.variant = -1;
        if (!mf_iq1_zeros(block.x, (int)size, all->least)) {
            mf_ascend_block(block.x, (int)size, order + MF_ASCEND * i,
                            block.order);
            mf_iq1_search(&block, 2 * all->parts);
        }
        if (!mf_iq1_choose(&block, all->map, found))
            return false;
    }
    return true;
}

/* The super-blocks of a batch, all their blocks. */
static inline bool mf_iq1_all_blocks(struct mf_iq1_batch *all)
{
    size_t count = all->batch.count * all->batch.block_count;

    mf_iq1_weigh(all);
    for (size_t i = 0; i < count; i += MF_ABREAST)
        if (!mf_iq1_blocks(all, i))
            return false;
    return true;
}

/* The largest scale of a super-block, and its parts: 2 * part + 1 times a 15th
 * of the largest is nearest. */
static inline float mf_iq1_parts(const struct mf_iq1_found *found, size_t count,
                                 uint32_t *part)
{
    float most = 0, inverse;

    for (size_t i = 0; i < count; i++)
        most = most > found[i].scale ? most : found[i].scale;
    inverse = 1 / (most / 15);
    for (size_t i = 0; i < count; i++) {
        int32_t nearest = mf_k_round(0.5f * (inverse * found[i].scale - 1));

        part[i] = (uint32_t)(nearest < 0 ? 0 : nearest > 7 ? 7 : nearest);
    }
    return most;
}

#endif
