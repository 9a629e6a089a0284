/* SPDX-License-Identifier: MIT
 *
 * refine.h - the search for a scale that moves one code after the other
 *
 * What Q3_K does without weights.  Codes of the first guess, from -4 to 3, are
 * moved in turn to where the best scale for all others wants them, where the
 * fit becomes better, and all of that up to five times.
 */
#ifndef MF_LIB_QUANT_REFINE_H
#define MF_LIB_QUANT_REFINE_H

#include "lib/quant/kblock.h"

#define MF_REFINE_SIZE   16
#define MF_REFINE_ROUNDS 5

/* What is found for blocks that are abreast. */
struct mf_refined {
    float scale[MF_ABREAST];
    uint8_t code[MF_REFINE_SIZE][MF_ABREAST]; /* plus 4 */
    uint32_t moved; /* bit i: a code of block i was, in the last round */
};

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

/* In a block of zeros the sums become no numbers, so that nothing is moved. */
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

/* A lane that a round leaves as it was stays so: no need to stop it. */
static inline uint32_t mf_refine_rounds(struct mf_refine *refine, int rounds,
                                        struct mf_refine_sums *result)
{
    struct mf_refine_sums sums[MF_SIDES];
    uint32_t moved = 1;

    for (int s = 0; s < MF_SIDES; s++)
        sums[s] = mf_refine_begin(refine, s);
    for (int round = 0; moved != 0 && round < rounds; round++) {
        mf_ints where[MF_SIDES] = { { 0 } };

        for (size_t i = 0; i < MF_REFINE_SIZE; i++)
            for (int s = 0; s < MF_SIDES; s++)
                where[s] |= mf_refine_move(refine, i, s, &sums[s]);
        moved = 0;
        for (int s = 0; s < MF_SIDES; s++)
            moved |= mf_lanes_signs(where[s]) << s * MF_LANES;
    }
    for (int s = 0; s < MF_SIDES; s++)
        result[s] = sums[s];
    return moved;
}

static inline void mf_refine_blocks(const float *const from[MF_ABREAST],
                                    int rounds, struct mf_refined *out)
{
    struct mf_refine refine;
    struct mf_refine_sums sums[MF_SIDES];
    struct mf_row scale;

    mf_rows_load(refine.x, from, MF_REFINE_SIZE);
    refine.farthest = mf_rows_farthest(refine.x, MF_REFINE_SIZE);
    out->moved = mf_refine_rounds(&refine, rounds, sums);
    for (int s = 0; s < MF_SIDES; s++) {
        scale.side[s] = mf_lanes_select(
            sums[s].l2 > 0.0f, sums[s].xl / sums[s].l2, mf_lanes_all(0.0f));
        scale.side[s] = mf_lanes_if_any(refine.farthest.side[s], scale.side[s]);
    }
    mf_row_store(out->scale, scale);
    for (size_t i = 0; i < MF_REFINE_SIZE; i++)
        for (int s = 0; s < MF_SIDES; s++)
            mf_lanes_store_bytes(&out->code[i][s * MF_LANES],
                                 refine.code[i].side[s] + 4.0f);
}

/* ---- all blocks of a batch */

static inline void mf_refine_point(const struct mf_batch *batch,
                                   const uint16_t *blocks, size_t count,
                                   const float *from[MF_ABREAST])
{
    for (size_t i = 0; i < MF_ABREAST; i++)
        from[i] =
            batch->row + MF_REFINE_SIZE * blocks[i < count ? i : count - 1];
}

/* Starts again with blocks of which a code was moved, all rounds. */
static inline void mf_refine_again(const struct mf_batch *batch,
                                   const uint16_t *blocks, size_t count,
                                   struct mf_refined *groups)
{
    const float *from[MF_ABREAST];
    struct mf_refined found;

    for (size_t at = 0; at < count; at += MF_ABREAST) {
        mf_refine_point(batch, blocks + at, count - at, from);
        mf_refine_blocks(from, MF_REFINE_ROUNDS, &found);
        for (size_t i = 0; i < MF_ABREAST && at + i < count; i++) {
            struct mf_refined *group = &groups[blocks[at + i] / MF_ABREAST];
            size_t place = blocks[at + i] % MF_ABREAST;

            group->scale[place] = found.scale[i];
            for (size_t j = 0; j < MF_REFINE_SIZE; j++)
                group->code[j][place] = found.code[j][i];
        }
    }
}

/* Four in five blocks of a usual model have no code to be moved.  So one round
 * is done with all of them, and the others with those that need them. */
static inline void mf_refine_search(struct mf_batch *batch,
                                    struct mf_refined *groups)
{
    uint16_t blocks[16 * MF_LANES], moved[16 * MF_LANES];
    size_t count = 16 * batch->count, moved_count = 0;
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < count; i++)
        blocks[i] = (uint16_t)i;
    for (size_t at = 0; at < count; at += MF_ABREAST) {
        struct mf_refined *group = &groups[at / MF_ABREAST];

        mf_refine_point(batch, blocks + at, count - at, from);
        mf_refine_blocks(from, 1, group);
        for (size_t i = 0; i < MF_ABREAST && at + i < count; i++)
            if (group->moved >> i & 1)
                moved[moved_count++] = blocks[at + i];
    }
    mf_refine_again(batch, moved, moved_count, groups);
    for (size_t i = 0; i < count; i += MF_ABREAST)
        memcpy(batch->scale + i, groups[i / MF_ABREAST].scale,
               sizeof(groups->scale));
}

/* Codes of block number i, plus 4. */
static inline void mf_refined_codes(const struct mf_refined *groups, size_t i,
                                    uint8_t *out)
{
    const struct mf_refined *group = &groups[i / MF_ABREAST];

    for (size_t j = 0; j < MF_REFINE_SIZE; j++)
        out[j] = group->code[j][i % MF_ABREAST];
}

#endif
