/* SPDX-License-Identifier: MIT
 *
 * refine.h - the search for a scale that moves one code after the other
 *
 * Q3_K without weights: codes, first guessed from -4 to 3, are moved one by one
 * to the value that the best scale for all others calls for, where that
 * improves the fit; up to five rounds.  Every move changes the sums that the
 * next one is judged by, so a block's codes cannot be computed side by side:
 * blocks are, one in each lane.
 */
#ifndef MF_LIB_QUANT_REFINE_H
#define MF_LIB_QUANT_REFINE_H

#include "lib/quant/kblock.h"

#define MF_REFINE_SIZE   16
#define MF_REFINE_ROUNDS 5
#define MF_REFINE_BLOCKS (16 * MF_ABREAST) /* of a batch, at most */

/* A block in each lane; the weight of an element is its square. */
struct mf_refine {
    struct mf_row x[MF_REFINE_SIZE], weight[MF_REFINE_SIZE];
    struct mf_row weighted_x[MF_REFINE_SIZE], code[MF_REFINE_SIZE];
    struct mf_row farthest;
};

/* Of one side, weight * x * code and weight * code^2. */
struct mf_refine_sums {
    mf_floats xl, l2;
};

/* In a block of zeros the sums become NaN, so that nothing is moved. */
static inline struct mf_refine_sums mf_refine_begin(struct mf_refine *refine,
                                                    int s)
{
    mf_floats inverse = -4.0f / refine->farthest.side[s];
    struct mf_refine_sums sums = { { 0 }, { 0 } };

    for (size_t i = 0; i < MF_REFINE_SIZE; i++) {
        mf_floats x = refine->x[i].side[s], weight = x * x;
        mf_floats y = mf_lanes_round(inverse * x);
        mf_floats l = mf_lanes_clamp_round(y, -4.0f, 3.0f);

        refine->weight[i].side[s] = weight;
        refine->weighted_x[i].side[s] = weight * x;
        refine->code[i].side[s] = l;
        sums.xl += weight * x * l;
        sums.l2 += weight * l * l;
    }
    sums.xl = mf_lanes_select(inverse == inverse, sums.xl, inverse);
    return sums;
}

/* Where code i was moved. */
static inline mf_ints mf_refine_move(struct mf_refine *refine, size_t i, int s,
                                     struct mf_refine_sums *sums)
{
    mf_floats weight = refine->weight[i].side[s], old = refine->code[i].side[s];
    mf_floats weighted_x = refine->weighted_x[i].side[s];
    mf_floats xl = sums->xl - weighted_x * old;
    mf_floats l2 = sums->l2 - weight * old * old;
    mf_floats y = mf_lanes_round_far(refine->x[i].side[s] * l2 / xl);
    mf_floats l = mf_lanes_clamp_round(y, -4.0f, 3.0f);
    mf_ints better = (xl > 0.0f) & (l != old);

    xl += weighted_x * l;
    l2 += weight * l * l;
    better &= l2 > 0.0f;
    better &= xl * xl * sums->l2 > sums->xl * sums->xl * l2;
    refine->code[i].side[s] = mf_lanes_select(better, l, old);
    sums->xl = mf_lanes_select(better, xl, sums->xl);
    sums->l2 = mf_lanes_select(better, l2, sums->l2);
    return better;
}

static inline struct mf_row mf_refine_scale(const struct mf_refine *refine,
                                            const struct mf_refine_sums *sums)
{
    struct mf_row scale;

    for (int s = 0; s < MF_SIDES; s++) {
        scale.side[s] = mf_lanes_select(
            sums[s].l2 > 0.0f, sums[s].xl / sums[s].l2, mf_lanes_all(0.0f));
        scale.side[s] =
            mf_lanes_if_any(refine->farthest.side[s], scale.side[s]);
    }
    return scale;
}

/* Where a code may be moved; none is elsewhere.
 *
 * Code l of x is only moved where xl > 0 and y = x * l2 / xl is half a step or
 * more from it, xl and l2 being the sums without this element.  In exact
 * numbers what the element adds cancels out, so that with the whole sums XL and
 * L2, and q = XL / L2,
 *
 *     |y - l| >= 1/2  <=>  |x - l * q| >= xl / L2 / 2.
 *
 * In floats each side, and y, is off by a few 2^-24 of |x|, |l| * q and q, so
 * by less than 0.000005 * q: taking twice that from the right side leaves out
 * nothing that moves.  Rounding is relative only above 1e-30: no smaller sum is
 * judged.
 *
 * An x beyond the end of the codes stays at the end: y is never so large that
 * it is rounded to something odd.  For where xl is less than 0.00002 * XL the
 * right side is below 0 and holds.  x is at most 8 * q at first, and XL^2 / L2,
 * which never falls, lets q fall to a quarter at most; so y is at most 32 /
 * 0.00002.
 *
 * Where the farthest element is above 0, its code being -4, all codes have the
 * sign that their elements have not: no part is above 0, nor is XL, nor any xl,
 * since rounding a sum of parts makes none of them lower than the sum. */
static inline mf_ints mf_refine_look(const struct mf_refine *refine, int s,
                                     const struct mf_refine_sums *sums,
                                     mf_floats q)
{
    const float small = 1e-30f;
    mf_floats share = 0.5f / sums->l2, bound = 0.49999f * q;
    mf_floats low = -4.0f * q, high = 3.0f * q;
    mf_floats excess = { 0 };

    for (size_t i = 0; i < MF_REFINE_SIZE; i++) {
        mf_floats x = refine->x[i].side[s], l = refine->code[i].side[s];
        mf_floats part = refine->weighted_x[i].side[s] * l;

        x = mf_lanes_min(mf_lanes_max(x, low), high);
        x = mf_lanes_abs(x - l * q) - (bound - part * share);
        excess = mf_lanes_max(x, excess);
    }
    return (sums->xl > 0.0f) & ((excess > 0.0f) | (sums->xl < small));
}

static inline void mf_refine_rounds(struct mf_refine *refine,
                                    struct mf_refine_sums sums[MF_SIDES],
                                    int rounds)
{
    bool moved = true;

    /* A lane that a round leaves as it was stays so: no need to stop it. */
    for (int round = 0; moved && round < rounds; round++) {
        mf_ints where = { 0 };

        for (size_t i = 0; i < MF_REFINE_SIZE; i++)
            for (int s = 0; s < MF_SIDES; s++)
                where |= mf_refine_move(refine, i, s, &sums[s]);
        moved = mf_lanes_signs(where) != 0;
    }
}

/* ---- all blocks of a batch */

/* Blocks of a batch by their numbers. */
struct mf_refine_list {
    size_t count;
    uint16_t block[MF_REFINE_BLOCKS];
};

/* Repeats the last until no lane is left. */
static inline void mf_refine_fill(struct mf_refine_list *list)
{
    for (size_t i = list->count; i % MF_ABREAST != 0; i++)
        list->block[i] = list->block[list->count - 1];
}

static inline void mf_refine_load(struct mf_refine *refine,
                                  const struct mf_batch *batch,
                                  const uint16_t *block,
                                  struct mf_refine_sums sums[MF_SIDES])
{
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++)
        from[i] = batch->row + MF_REFINE_SIZE * block[i];
    mf_rows_load(refine->x, from, MF_REFINE_SIZE);
    refine->farthest = mf_rows_farthest(refine->x, MF_REFINE_SIZE);
    for (int s = 0; s < MF_SIDES; s++)
        sums[s] = mf_refine_begin(refine, s);
}

/* Scales of blocks `at` and on after so many rounds; those that another may
 * change go into next. */
static inline void mf_refine_blocks(struct mf_batch *batch,
                                    const struct mf_refine_list *list,
                                    size_t at, int rounds,
                                    struct mf_refine_list *next)
{
    const uint16_t *block = list->block + at;
    struct mf_refine_sums sums[MF_SIDES];
    struct mf_refine refine;
    float scale[MF_ABREAST];
    struct mf_row row;
    uint32_t more = 0;

    mf_refine_load(&refine, batch, block, sums);
    mf_refine_rounds(&refine, sums, rounds);
    row = mf_refine_scale(&refine, sums);
    mf_row_store(scale, row);
    for (size_t i = 0; i < MF_ABREAST && at + i < list->count; i++)
        batch->scale[block[i]] = scale[i];
    for (int s = 0; s < MF_SIDES; s++)
        more |=
            mf_lanes_signs(mf_refine_look(&refine, s, &sums[s], row.side[s]))
            << s * MF_LANES;
    for (; more != 0; more &= more - 1) {
        size_t i = (size_t)__builtin_ctz(more);

        next->block[next->count] = block[i];
        next->count += at + i < list->count;
    }
}

/* Four in five blocks of a usual model have no code to be moved, and three in
 * four of the others are done after a round.  So each time only those that need
 * it are refined further: from the start, which costs less than keeping where
 * they were. */
static inline void mf_refine_search(struct mf_batch *batch)
{
    static const int rounds[] = { 0, 1, MF_REFINE_ROUNDS };
    struct mf_refine_list list = { .count = 16 * batch->count }, next;

    for (size_t i = 0; i < list.count; i++)
        list.block[i] = (uint16_t)i;
    for (size_t pass = 0; pass < sizeof(rounds) / sizeof(*rounds); pass++) {
        next.count = 0;
        mf_refine_fill(&list);
        for (size_t at = 0; at < list.count; at += MF_ABREAST)
            mf_refine_blocks(batch, &list, at, rounds[pass], &next);
        list = next;
    }
}

/* Codes of block number i, plus 4. */
static inline void mf_refine_codes(const struct mf_batch *batch, uint16_t i,
                                   uint8_t code[MF_REFINE_SIZE])
{
    struct mf_refine_list list = { 1, { i } };
    struct mf_refine_sums sums[MF_SIDES];
    struct mf_refine refine;

    mf_refine_fill(&list);
    mf_refine_load(&refine, batch, list.block, sums);
    mf_refine_rounds(&refine, sums, MF_REFINE_ROUNDS);
    for (size_t j = 0; j < MF_REFINE_SIZE; j++)
        code[j] = (uint8_t)(refine.code[j].side[0][0] + 4.0f);
}

#endif
