/* SPDX-License-Identifier: MIT
 *
 * iq1_batch.h - blocks of IQ1_S or IQ1_M from numbers to codes, many at a time
 *
 * What one block adds up in order is done for blocks abreast, a lane each; what
 * it compares, with its own numbers in the lanes.
 */
#ifndef MF_LIB_QUANT_IQ1_BATCH_H
#define MF_LIB_QUANT_IQ1_BATCH_H

#include "lib/quant/iq1.h"
#include "lib/quant/iq1_near.h"
#include "lib/quant/kblock.h"

#define MF_IQ1_CODES  (MF_IQ1_SIZE / 8)    /* of a block, of eight numbers */
#define MF_IQ1_BLOCKS (MF_K / MF_IQ1_SIZE) /* of a super-block */

/* What is found for a block. */
struct mf_iq1_found {
    float scale;
    int variant;
    uint64_t digits; /* of its codes, the first lowest */
};

struct mf_iq1_batch {
    struct mf_batch batch;
    const struct mf_grid_map *map;
    void (*judge)(struct mf_iq1 *block, int low, int high);
    float least; /* a block of nothing as large counts as zeros */
    float weight[MF_K * MF_LANES];
    float sum_x[MF_K * MF_LANES], sum_2[MF_K * MF_LANES]; /* to be added up */
    struct mf_iq1_found found[MF_IQ1_BLOCKS * MF_LANES];
};

/* Blocks that are abreast: in rows, and as blocks; their sums, and bits of the
 * columns that are in them. */
struct mf_iq1_group {
    struct mf_row x[MF_IQ1_SIZE], column[MF_IQ1_SIZE];
    float order[MF_ABREAST][MF_IQ1_SIZE];
    float weighted[MF_ABREAST][MF_IQ1_SIZE], weight[MF_ABREAST][MF_IQ1_SIZE];
    float sum_x[MF_IQ1_PARTS][MF_ABREAST][MF_IQ1_ROOM];
    float sum_weight[MF_IQ1_PARTS][MF_ABREAST][MF_IQ1_ROOM];
    float seen[MF_ABREAST][MF_IQ1_ROOM];
};

/* ---- sums in ascending order ---- */

/* The blocks from number first on; the last one fills what lanes are left. */
static inline void mf_iq1_load(const struct mf_iq1_batch *all, size_t first,
                               struct mf_iq1_group *group)
{
    const float *row = all->batch.row;
    size_t last = all->batch.count * MF_IQ1_BLOCKS - 1;

    mf_batch_load(&all->batch, first, row, group->x);
    mf_ascend_rows(group->x, MF_IQ1_SIZE, group->column);
    mf_ascend_turn(group->column, MF_IQ1_SIZE, group->order[0], MF_IQ1_SIZE);
    for (size_t i = 0; i < MF_ABREAST; i++) {
        size_t at = MF_IQ1_SIZE * (first + i < last ? first + i : last);
        float *order = group->order[i], sorted[MF_IQ1_SIZE];
        float weighted[MF_IQ1_SIZE];

        mf_ascend_pick(row + at, order, MF_IQ1_SIZE, sorted);
        if (!mf_ascend_holds(sorted, MF_IQ1_SIZE)) {
            mf_ascend_repair(row + at, MF_IQ1_SIZE, order);
            for (size_t j = 0; j < MF_IQ1_SIZE; j++)
                ((float *)&group->column[j])[i] = order[j];
        }
        for (size_t j = 0; j < MF_IQ1_SIZE; j += MF_LANES)
            mf_lanes_store(weighted + j, mf_lanes_load(all->weight + at + j) *
                                             mf_lanes_load(row + at + j));
        mf_ascend_pick(weighted, order, MF_IQ1_SIZE, group->weighted[i]);
        mf_ascend_pick(all->weight + at, order, MF_IQ1_SIZE, group->weight[i]);
    }
}

/* The lanes of a row that are in the part; 0 in others. */
static inline mf_floats mf_iq1_of_part(mf_floats lanes, mf_floats column,
                                       int part)
{
    mf_ints here = (mf_ints)column >= MF_IQ1_SIZE / 2;

    if (MF_IQ1_PARTS == 1)
        return lanes;
    return (mf_floats)((mf_ints)lanes & (part > 0 ? here : ~here));
}

/* Turns rows of sums into sums of each block, after a first one of zero. */
static inline void mf_iq1_keep(const struct mf_row *sum, float *out)
{
    mf_ascend_turn(sum, MF_IQ1_SIZE, out + 1, MF_IQ1_ROOM);
    for (size_t i = 0; i < MF_ABREAST; i++, out += MF_IQ1_ROOM) {
        out[0] = 0;
        mf_lanes_store(out + MF_IQ1_SIZE, mf_lanes_all(out[MF_IQ1_SIZE]));
    }
}

/* Sums of rows of a part; nothing is -0, so adding a 0 changes nothing. */
static inline void mf_iq1_add_up(const struct mf_iq1_group *group,
                                 const float *blocks, int part, float *out)
{
    struct mf_row row[MF_IQ1_SIZE], sum = { { { 0 } } };
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++)
        from[i] = blocks + MF_IQ1_SIZE * i;
    mf_rows_load(row, from, MF_IQ1_SIZE);
    for (size_t i = 0; i < MF_IQ1_SIZE; i++) {
        for (int s = 0; s < MF_SIDES; s++)
            sum.side[s] +=
                mf_iq1_of_part(row[i].side[s], group->column[i].side[s], part);
        row[i] = sum;
    }
    mf_iq1_keep(row, out);
}

/* Bit j of what is seen after i numbers: column j is one of them. */
static inline void mf_iq1_see(struct mf_iq1_group *group)
{
    struct mf_row seen[MF_IQ1_SIZE];
    mf_ints bits[MF_SIDES] = { { 0 } };

    for (size_t i = 0; i < MF_IQ1_SIZE; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            bits[s] |= mf_ints_all(1) << (mf_ints)group->column[i].side[s];
            seen[i].side[s] = (mf_floats)bits[s];
        }
    mf_iq1_keep(seen, group->seen[0]);
}

static inline void mf_iq1_add_all(struct mf_iq1_group *group)
{
    for (int part = 0; part < MF_IQ1_PARTS; part++) {
        mf_iq1_add_up(group, group->weighted[0], part, group->sum_x[part][0]);
        mf_iq1_add_up(group, group->weight[0], part,
                      group->sum_weight[part][0]);
    }
    mf_iq1_see(group);
}

/* ---- codes ---- */

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

/* The digits of all columns.  Where the scale is below 0, it and all levels are
 * turned over. */
static inline void mf_iq1_round(const struct mf_iq1 *block, const float *seen,
                                struct mf_iq1_found *found)
{
    uint32_t lowest = mf_float_bits(seen[block->low]);
    uint32_t highest = ~mf_float_bits(seen[block->high]);
    uint32_t middle = ~(lowest | highest);

    found->scale = block->scale;
    found->variant = block->variant;
    if (block->scale < 0) {
        found->scale = -block->scale;
        found->variant = MF_IQ1_VARIANTS - 1 - block->variant;
        highest = lowest;
    }
    found->digits = mf_iq1_spread(middle) | mf_iq1_spread(highest) << 1;
    if (MF_IQ1_SIZE == 16)
        found->digits &= UINT32_MAX;
}

/* A code that is not in the grid. */
struct mf_iq1_off {
    const uint16_t *near;
    size_t at, i; /* its block, and which of its codes it is */
};

/* Codes off the grid, from block `first` on.  Lists lie anywhere in hundreds of
 * kilobytes, so they are asked for before the first is needed. */
static inline size_t mf_iq1_off_grid(const struct mf_iq1_batch *all,
                                     size_t first, size_t last,
                                     struct mf_iq1_off *off)
{
    size_t count = 0;

    for (size_t at = first; at < last; at++)
        for (size_t i = 0; i < MF_IQ1_CODES; i++) {
            uint16_t code = (uint16_t)(all->found[at].digits >> 16 * i);
            int32_t place = all->map->place[code];
            const uint16_t *near = all->map->near + (place < 0 ? ~place : 0);

            off[count] = (struct mf_iq1_off){ near, at, i };
            count += place < 0;
            __builtin_prefetch(near);
            __builtin_prefetch(near + 32);
            __builtin_prefetch(near + 64);
        }
    return count;
}

/* To the nearest code of the grid.  False where the reference stops. */
static inline bool mf_iq1_move(struct mf_iq1_batch *all,
                               const struct mf_iq1_off *off)
{
    struct mf_iq1_found *found = &all->found[off->at];
    size_t at = MF_IQ1_SIZE * off->at + 8 * off->i;
    int part = (int)off->i * MF_IQ1_PARTS / MF_IQ1_CODES;
    struct mf_near near = { off->near + 1, *off->near };
    mf_iq1_table error[8];
    uint16_t code;

    mf_iq1_errors(all->batch.row + at, all->weight + at, found->scale,
                  mf_iq1_levels[mf_iq1_side(part, found->variant)], error);
    code = mf_iq1_nearest(&near, error);
    found->digits &= ~(UINT64_C(0xffff) << 16 * off->i);
    found->digits |= (uint64_t)code << 16 * off->i;
    return code != MF_IQ1_NONE;
}

/* ---- blocks that are abreast ---- */

static inline bool mf_iq1_zeros(const float *x, float least)
{
    mf_ints every = mf_ints_all(-1);

    for (int i = 0; i < MF_IQ1_SIZE; i += MF_LANES)
        every &= mf_lanes_abs(mf_lanes_load(x + i)) < mf_lanes_all(least);
    return mf_ints_every(every);
}

#if MF_IQ1_PARTS > 1
static inline void mf_iq1_both(struct mf_iq1 *block, float *x, float *weight)
{
    for (int i = 0; i < MF_IQ1_ROOM; i += MF_LANES) {
        mf_lanes_store(x + i, mf_lanes_load(block->part[0].x + i) +
                                  mf_lanes_load(block->part[1].x + i));
        mf_lanes_store(weight + i,
                       mf_lanes_load(block->part[0].weight + i) +
                           mf_lanes_load(block->part[1].weight + i));
    }
    block->all = (struct mf_iq1_sums){ x, weight };
}
#endif

/* Block `lane` of the group, number `at` of the batch: levels and scale. */
static inline void mf_iq1_block(struct mf_iq1_batch *all,
                                const struct mf_iq1_group *group, size_t lane,
                                size_t at)
{
    struct mf_iq1 block = { .x = all->batch.row + MF_IQ1_SIZE * at,
                            .weight = all->weight + MF_IQ1_SIZE * at,
                            .column = group->order[lane],
                            .judge = all->judge };
    struct mf_iq1_found *found = &all->found[at];
#if MF_IQ1_PARTS > 1
    float x[MF_IQ1_ROOM], weight[MF_IQ1_ROOM];
#endif

    memset(found, 0, sizeof(*found));
    if (mf_iq1_zeros(block.x, all->least))
        return;
    for (int i = 0; i < MF_IQ1_PARTS; i++)
        block.part[i] = (struct mf_iq1_sums){ group->sum_x[i][lane],
                                              group->sum_weight[i][lane] };
#if MF_IQ1_PARTS > 1
    mf_iq1_both(&block, x, weight);
#else
    block.all = block.part[0];
#endif
    mf_iq1_search(&block);
    if (block.variant >= 0)
        mf_iq1_round(&block, group->seen[lane], found);
}

/* What a digit stands for is the digit and so much. */
static inline float mf_iq1_lowest(int part, int variant)
{
    return mf_iq1_levels[mf_iq1_side(part, variant)][0];
}

/* Scales that are best for codes that were moved, where they are above 0. */
static inline void mf_iq1_rescale(struct mf_iq1_batch *all, size_t first,
                                  const struct mf_row *x,
                                  const float moved[MF_ABREAST])
{
    struct mf_row weight[MF_IQ1_SIZE], qx = { { { 0 } } }, q2 = qx, scale;
    struct mf_iq1_found *found = all->found + first;
    float digits[2][MF_ABREAST] = { { 0 } }, old[MF_ABREAST] = { 0 };
    float lowest[MF_IQ1_PARTS][MF_ABREAST] = { { 0 } };
    size_t last = all->batch.count * MF_IQ1_BLOCKS;

    mf_batch_load(&all->batch, first, all->weight, weight);
    for (size_t i = 0; i < MF_ABREAST && first + i < last; i++) {
        digits[0][i] = mf_float_of_bits((uint32_t)found[i].digits);
        digits[1][i] = mf_float_of_bits((uint32_t)(found[i].digits >> 32));
        old[i] = found[i].scale;
        for (int part = 0; part < MF_IQ1_PARTS; part++)
            lowest[part][i] = mf_iq1_lowest(part, found[i].variant);
    }
    for (size_t i = 0; i < MF_IQ1_SIZE; i++) {
        struct mf_row digit = mf_row_load(digits[i / 16]);
        struct mf_row base =
            mf_row_load(lowest[i * MF_IQ1_PARTS / MF_IQ1_SIZE]);

        for (int s = 0; s < MF_SIDES; s++) {
            mf_ints code = (mf_ints)digit.side[s] >> (int)(2 * (i % 16)) & 3;
            mf_floats q = mf_lanes_of(code) + base.side[s];
            mf_floats wq = weight[i].side[s] * q;

            qx.side[s] += wq * x[i].side[s];
            q2.side[s] += wq * q;
        }
    }
    scale = mf_row_load(old);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_ints better = (qx.side[s] > 0.0f) & (q2.side[s] > 0.0f) &
                         (mf_row_load(moved).side[s] > 0.0f);

        scale.side[s] =
            mf_lanes_select(better, qx.side[s] / q2.side[s], scale.side[s]);
    }
    mf_row_store(old, scale);
    for (size_t i = 0; i < MF_ABREAST && first + i < last; i++)
        found[i].scale = old[i];
}

/* False where the reference stops. */
static inline bool mf_iq1_blocks(struct mf_iq1_batch *all, size_t first)
{
    size_t last = all->batch.count * MF_IQ1_BLOCKS, count;
    struct mf_iq1_off off[MF_ABREAST * MF_IQ1_CODES + 1];
    float moved[MF_ABREAST] = { 0 };
    struct mf_iq1_group group;

    if (last > first + MF_ABREAST)
        last = first + MF_ABREAST;
    mf_iq1_load(all, first, &group);
    mf_iq1_add_all(&group);
    for (size_t i = first; i < last; i++)
        mf_iq1_block(all, &group, i - first, i);
    count = mf_iq1_off_grid(all, first, last, off);
    for (size_t i = 0; i < count; i++) {
        if (!mf_iq1_move(all, &off[i]))
            return false;
        moved[off[i].at - first] = 1;
    }
    mf_iq1_rescale(all, first, group.x, moved);
    for (size_t i = first; i < last; i++)
        if (!(all->found[i].scale >= 0))
            return false;
    return true;
}

/* ---- super-blocks ---- */

/* The sum of what each super-block has there, in order. */
static inline void mf_iq1_total(const struct mf_iq1_batch *all, const float *at,
                                float out[MF_LANES])
{
    const float *from[MF_LANES];
    float tile[MF_TURN * MF_LANES];
    mf_floats sum = { 0 };

    for (size_t i = 0; i < MF_LANES; i++)
        from[i] = at + MF_K * (i < all->batch.count ? i : 0);
    for (size_t column = 0; column < MF_K; column += MF_TURN) {
        for (size_t lane = 0; lane < MF_LANES; lane += MF_TURN)
            mf_rows_turn(tile + lane, MF_LANES, from + lane, column);
        for (size_t i = 0; i < MF_TURN; i++)
            sum += mf_lanes_load(tile + MF_LANES * i);
    }
    mf_lanes_store(out, sum);
}

/* Weights of the matrix, times the root of twice the mean square of a
 * super-block plus the square of x; or that square alone. */
static inline void mf_iq1_weigh(struct mf_iq1_batch *all)
{
    struct mf_batch *batch = &all->batch;
    float *square = batch->weights ? all->sum_2 : all->weight;
    float sum[MF_LANES];

    for (size_t i = 0; i < MF_K * batch->count; i += MF_LANES) {
        mf_floats x = mf_lanes_load(batch->row + i);

        mf_lanes_store(square + i, x * x);
    }
    if (!batch->weights)
        return;
    mf_iq1_total(all, all->sum_2, sum);
    for (size_t i = 0; i < MF_K * batch->count; i += MF_LANES)
        mf_lanes_store(all->weight + i,
                       mf_lanes_load(batch->weights + i) *
                           mf_lanes_root(2 * sum[i / MF_K] / MF_K +
                                         mf_lanes_load(square + i)));
}

/* All blocks of a batch.  False where the reference stops. */
static inline bool mf_iq1_batch_blocks(struct mf_iq1_batch *all)
{
    mf_iq1_weigh(all);
    for (size_t i = 0; i < all->batch.count * MF_IQ1_BLOCKS; i += MF_ABREAST)
        if (!mf_iq1_blocks(all, i))
            return false;
    return true;
}

/* The largest scale of a super-block, and the parts of each block's: what
 * 2 * part + 1 times a 15th of the largest is nearest to it. */
static inline float mf_iq1_parts(const struct mf_iq1_found *found,
                                 uint32_t part[MF_IQ1_BLOCKS])
{
    float most = 0, inverse;

    for (size_t i = 0; i < MF_IQ1_BLOCKS; i++)
        most = most > found[i].scale ? most : found[i].scale;
    inverse = 1 / (most / 15);
    for (size_t i = 0; i < MF_IQ1_BLOCKS; i++) {
        int32_t nearest = mf_k_round(0.5f * (inverse * found[i].scale - 1));

        part[i] = (uint32_t)(nearest < 0 ? 0 : nearest > 7 ? 7 : nearest);
    }
    return most;
}

#endif
