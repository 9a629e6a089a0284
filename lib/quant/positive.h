/* SPDX-License-Identifier: MIT
 *
 * positive.h - the search for a scale of numbers that are not negative
 *
 * With an importance matrix, Q2_K, Q4_K and Q5_K store the scales and the
 * minimums of their blocks by it.
 */
#ifndef MF_LIB_QUANT_POSITIVE_H
#define MF_LIB_QUANT_POSITIVE_H

#include "lib/quant/rows.h"

#ifndef MF_POSITIVE_SIZE
#define MF_POSITIVE_SIZE 16 /* at most */
#endif

struct mf_positive {
    size_t size;
    float top; /* the largest code */
    const struct mf_row *x, *weight;
    struct mf_row scale, code[MF_POSITIVE_SIZE]; /* what is found */
    struct mf_row sum_xl, sum_l2;
};

static inline mf_floats mf_positive_code(const struct mf_positive *p,
                                         mf_floats scaled)
{
    return mf_lanes_min(mf_lanes_round_any(scaled),
                        mf_lanes_all(MF_ROUND + p->top)) -
           MF_ROUND;
}

/* Codes have no lower bound, since x is not negative.  A scale may still come
 * out a little below 0; its code is then stored as a byte, cut. */
static inline mf_floats mf_positive_byte(mf_floats code)
{
    mf_ints sum = (mf_ints)(code + MF_ROUND);

    return (mf_floats)((sum & 0xff) | 0x4b000000) - 0x1p23f;
}

/* The squared error of a scale, with codes that 1 / scale gives.  The
 * first guess is judged by its codes as they are stored. */
static inline struct mf_row mf_positive_error(const struct mf_positive *p,
                                              bool first,
                                              struct mf_row code_scale)
{
    struct mf_row error;

    for (int s = 0; s < MF_SIDES; s++) {
        mf_floats scale = 1.0f / code_scale.side[s];
        mf_floats sum = { 0 };

        for (size_t i = 0; i < p->size; i++) {
            mf_floats scaled = code_scale.side[s] * p->x[i].side[s];
            mf_floats l =
                first ? mf_positive_byte(mf_lanes_round_any(scaled) - MF_ROUND)
                      : mf_positive_code(p, scaled);
            mf_floats off = p->x[i].side[s] - scale * l;

            sum += p->weight[i].side[s] * off * off;
        }
        error.side[s] = sum;
    }
    return error;
}

static inline struct mf_row mf_positive_guess(const struct mf_positive *p,
                                              struct mf_row max)
{
    struct mf_row best, least, code_scale, error;

    for (int s = 0; s < MF_SIDES; s++)
        best.side[s] = p->top / max.side[s];
    least = mf_positive_error(p, true, best);
    for (int i = -4; i <= 4; i++) {
        if (i == 0)
            continue;
        for (int s = 0; s < MF_SIDES; s++)
            code_scale.side[s] = (0.1f * (float)i + p->top) / max.side[s];
        error = mf_positive_error(p, false, code_scale);
        for (int s = 0; s < MF_SIDES; s++) {
            mf_ints better = (error.side[s] < least.side[s]);

            least.side[s] =
                mf_lanes_select(better, error.side[s], least.side[s]);
            best.side[s] =
                mf_lanes_select(better, code_scale.side[s], best.side[s]);
        }
    }
    return best;
}

static inline void mf_positive_begin(struct mf_positive *p, int s,
                                     mf_floats code_scale)
{
    p->sum_xl.side[s] = p->sum_l2.side[s] = mf_lanes_all(0.0f);
    for (size_t i = 0; i < p->size; i++) {
        mf_floats x = p->x[i].side[s], w = p->weight[i].side[s];
        mf_floats l = mf_positive_code(p, code_scale * x);

        p->code[i].side[s] = mf_positive_byte(l);
        p->sum_xl.side[s] += w * x * l;
        p->sum_l2.side[s] += w * l * l;
    }
}

/* Moves one code to where the best scale for all others wants it, where that
 * makes the fit better. */
static inline mf_ints mf_positive_move(struct mf_positive *p, size_t i, int s)
{
    const mf_floats zero = { 0 };
    mf_floats x = p->x[i].side[s], w = p->weight[i].side[s],
              old = p->code[i].side[s];
    mf_floats xl = p->sum_xl.side[s] - w * x * old;
    mf_floats l2 = p->sum_l2.side[s] - w * old * old;
    mf_floats l = mf_positive_code(p, x * l2 / xl);
    mf_ints better = (zero < xl) & (zero < l2) & ((l < old) | (old < l));

    xl += w * x * l;
    l2 += w * l * l;
    better &= (p->sum_xl.side[s] * p->sum_xl.side[s] * l2 <
               xl * xl * p->sum_l2.side[s]);
    p->code[i].side[s] = mf_lanes_select(better, mf_positive_byte(l), old);
    p->sum_xl.side[s] = mf_lanes_select(better, xl, p->sum_xl.side[s]);
    p->sum_l2.side[s] = mf_lanes_select(better, l2, p->sum_l2.side[s]);
    return better;
}

/* A lane that a round leaves as it was stays so: no need to stop it. */
static inline void mf_positive_refine(struct mf_positive *p, int s)
{
    bool moved = true;

    for (int round = 0; moved && round < 5; round++) {
        moved = false;
        for (size_t i = 0; i < p->size; i++)
            moved |= mf_lanes_signs(mf_positive_move(p, i, s)) != 0;
    }
}

static inline void mf_positive_search(struct mf_positive *p)
{
    const mf_floats zero = { 0 };
    struct mf_row max = { { { 0 } } }, best;

    for (size_t i = 0; i < p->size; i++)
        for (int s = 0; s < MF_SIDES; s++)
            max.side[s] = mf_lanes_max(max.side[s], p->x[i].side[s]);
    best = mf_positive_guess(p, max);
    for (int s = 0; s < MF_SIDES; s++) {
        mf_ints empty = (max.side[s] < mf_lanes_all(MF_LEAST));
        mf_floats scale;

        mf_positive_begin(p, s, best.side[s]);
        mf_positive_refine(p, s);
        scale = mf_lanes_select((zero < p->sum_l2.side[s]),
                                p->sum_xl.side[s] / p->sum_l2.side[s], zero);
        p->scale.side[s] = mf_lanes_select(empty, zero, scale);
        for (size_t i = 0; i < p->size; i++)
            p->code[i].side[s] =
                mf_lanes_select(empty, zero, p->code[i].side[s]);
    }
}

#endif
