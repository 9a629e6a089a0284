/* SPDX-License-Identifier: MIT
 *
 * iq1.h - the three levels that fit a block best
 *
 * What IQ1_S and IQ1_M share.  A block's numbers in ascending order are divided
 * into three groups, a level each: all before `low`, those before `high`, the
 * others.  Of all such pairs the one that scores best is wanted, as the
 * reference finds it: in its order, each judged by floats that it rounds in its
 * way.  Most pairs cannot win, which a rough score shows.
 *
 * A file defines MF_IQ1_SIZE, a block's columns, and MF_IQ1_PARTS, 1 or 2
 * halves that have levels of their own.
 */
#ifndef MF_LIB_QUANT_IQ1_H
#define MF_LIB_QUANT_IQ1_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "lib/quant/ascend.h"

/* Of the last part variant k has levels k % 2, of the one before k / 2. */
#define MF_IQ1_VARIANTS (2 * MF_IQ1_PARTS)

/* Sums of the first 0 to MF_IQ1_SIZE numbers in ascending order; then the last
 * one is repeated, for vectors that begin with it. */
#define MF_IQ1_ROOM (MF_IQ1_SIZE + MF_LANES)

/* Each level an eighth higher, or lower. */
static const float mf_iq1_levels[2][3] = { { -0.875f, 0.125f, 1.125f },
                                           { -1.125f, -0.125f, 0.875f } };

struct mf_iq1_sums {
    const float *x, *weight; /* of weight * x, and of weight */
};

/* A block that is searched. */
struct mf_iq1 {
    const float *x, *weight;
    const float *column; /* in ascending order of x, integers */
    struct mf_iq1_sums part[MF_IQ1_PARTS], all;
    /* Judges a pair in all variants. */
    void (*judge)(struct mf_iq1 *block, int low, int high);
    /* The best so far; variant is -1 where there is none. */
    float score, scale;
    int low, high, variant;
};

/* The levels of a part in a variant. */
static inline int mf_iq1_side(int part, int variant)
{
    return variant >> (MF_IQ1_PARTS - 1 - part) & 1;
}

/* A pair whose sums are these. */
static inline void mf_iq1_offer(struct mf_iq1 *block, int low, int high,
                                int variant, float sum_qx, float sum_q2)
{
    /* Not by a branch: which of a few wins cannot be foreseen. */
    bool better = (sum_q2 > 0) & (sum_qx * sum_qx > block->score * sum_q2);
    float scale = sum_qx / sum_q2;

    block->scale = better ? scale : block->scale;
    block->score = better ? scale * sum_qx : block->score;
    block->low = better ? low : block->low;
    block->high = better ? high : block->high;
    block->variant = better ? variant : block->variant;
}

/* ---- which pairs can win ---- */

/* A rough score that is off by less than so much of the best may win.  Rough
 * scores differ from the reference's by roundings of sums, each at most 2^-24
 * of the block's sum of weight * |x| or of weight.  A pair that is nearly best
 * has at least a tenth of the one (see mf_iq1_find_window) and a 64th of the
 * other, so that is less than 2^-14; and a reciprocal is off by at most 2^-14
 * or, with AVX2 and SSE, 1.5 * 2^-12. */
#if MF_LANES == 16
#define MF_IQ1_OFF 0x1p-12f
#else
#define MF_IQ1_OFF 0x1p-10f
#endif

static inline mf_floats mf_lanes_near_inverse(mf_floats lanes)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_rcp14_ps((__m512)lanes);
#elif MF_LANES == 8
    return (mf_floats)_mm256_rcp_ps((__m256)lanes);
#elif defined(__SSE2__)
    return (mf_floats)_mm_rcp_ps((__m128)lanes);
#else
    return 1.0f / lanes;
#endif
}

/* The lanes where a < b, a bit each. */
static inline uint32_t mf_lanes_less(mf_floats a, mf_floats b)
{
#if MF_LANES == 16
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#else
    return mf_lanes_signs(a < b);
#endif
}

/* How many of so many numbers, whole vectors, are below the limit. */
static inline int mf_iq1_below(const float *at, int count, float limit)
{
    int below = 0;

    for (int i = 0; i < count; i += MF_LANES) {
        uint32_t less =
            mf_lanes_less(mf_lanes_load(at + i), mf_lanes_all(limit));

#if MF_LANES > 4
        below += __builtin_popcount(less);
#else
        below += (int)(UINT64_C(0x4332322132212110) >> 4 * less & 15);
#endif
    }
    return below;
}

/* Pairs with 0 <= low <= most_low, and least_high <= high <= MF_IQ1_SIZE. */
struct mf_iq1_window {
    int most_low, least_high;
};

/* Whether all numbers are of a usual size, and weights are not below 0: what
 * is proved below is proved for those. */
static inline bool mf_iq1_usual(const struct mf_iq1 *block, float magnitude,
                                float weight)
{
    return mf_iq1_below(block->weight, MF_IQ1_SIZE, 0) == 0 &&
           magnitude > 0x1p-58f && magnitude < 0x1p40f && weight > 0x1p-90f &&
           weight < 0x1p46f;
}

/* Whether no scale below 0 scores as much.  With levels turned over, which
 * descend then while x ascends, sums of each part are at best as if all its
 * numbers had the mean level; by Cauchy's inequality the score is then at most
 * the sum of x^2 / weight of the parts. */
static inline bool mf_iq1_upright(const struct mf_iq1 *block, float score)
{
    const struct mf_iq1_sums *sums = block->part;
    float x = sums[0].x[MF_IQ1_SIZE], weight = sums[0].weight[MF_IQ1_SIZE];
    float most = x * x, bound = score * weight;

#if MF_IQ1_PARTS > 1
    x = sums[1].x[MF_IQ1_SIZE];
    most = most * sums[1].weight[MF_IQ1_SIZE] + x * x * weight;
    bound *= sums[1].weight[MF_IQ1_SIZE];
#endif
    return bound > 0x1p-100f && most < bound;
}

/* False where nothing is known.
 *
 * The pair that divides numbers by their signs scores at least 0.6 * (sum of
 * weight * |x|)^2 / weight; so any that is nearly best has a sum of level *
 * weight * x of at least a tenth of that sum.
 *
 * What a pair with scale s scores is the maximum over s of
 *     sum of weight * (2 * s * level * x - s^2 * level^2).
 * In a pair that is nearly best, s is at least what that yields below: its
 * score is s * (level * weight * x), and also s^2 * (weight * level^2).  If it
 * gives
 * an x above -0.28 * s the lowest level, the middle one would do better by
 * 2 * weight * s * (x - t), with t at most -0.375 * s the middle between both
 * levels, times s: so only a little weight can be there, less than 7 times what
 * is left to the best of the whole.  The upper levels are alike. */
static inline bool mf_iq1_find_window(const struct mf_iq1 *block,
                                      struct mf_iq1_window *window)
{
    const struct mf_iq1_sums *all = &block->all;
    int minus = mf_iq1_below(block->x, MF_IQ1_SIZE, 0);
    float weight = all->weight[MF_IQ1_SIZE], below = all->weight[minus];
    float left = -all->x[minus];
    float right = all->x[MF_IQ1_SIZE] - all->x[minus];
    float sum = 0.875f * left + 1.125f * right, score, scale, little;

    if (!mf_iq1_usual(block, left + right, weight))
        return false;
    score = 0.99f * sum * sum / (1.265625f * weight - 0.5f * below);
    *window = (struct mf_iq1_window){ MF_IQ1_SIZE, 0 };
    if (!mf_iq1_upright(block, score))
        return true;
    scale = 0.28f / 1.125f * score / (left + right);
    little = 7.0f * (MF_IQ1_OFF + 0x1p-13f) * weight;
    minus = mf_iq1_below(block->x, MF_IQ1_SIZE, -scale);
    minus = mf_iq1_below(all->weight, MF_IQ1_ROOM, all->weight[minus] + little);
    window->most_low = minus <= MF_IQ1_SIZE ? minus - 1 : MF_IQ1_SIZE;
    minus = mf_iq1_below(block->x, MF_IQ1_SIZE, scale);
    window->least_high =
        mf_iq1_below(all->weight, MF_IQ1_ROOM, all->weight[minus] - little);
    return true;
}

/* ---- rough scores ---- */

/* By pair, the sum of weight * level * x is whole - all.x[low] - all.x[high];
 * the sum of weight * level^2 is low[low] and what a vector of high adds. */
struct mf_iq1_rough {
    float whole[MF_IQ1_VARIANTS];
    float low[MF_IQ1_VARIANTS][MF_IQ1_ROOM];
};

static inline void mf_iq1_rough_begin(const struct mf_iq1 *block, int most_low,
                                      struct mf_iq1_rough *rough)
{
    static const float rise[2] = { 0.75f, 1.25f }; /* squares of levels 0, 1 */

    for (int k = 0; k < MF_IQ1_VARIANTS; k++) {
        rough->whole[k] = 0;
        for (int part = 0; part < MF_IQ1_PARTS; part++)
            rough->whole[k] += block->part[part].x[MF_IQ1_SIZE] *
                               mf_iq1_levels[mf_iq1_side(part, k)][2];
        for (int i = 0; i <= most_low; i += MF_LANES) {
            mf_floats low = { 0 };

            for (int part = 0; part < MF_IQ1_PARTS; part++)
                low += mf_lanes_load(block->part[part].weight + i) *
                       rise[mf_iq1_side(part, k)];
            mf_lanes_store(rough->low[k] + i, low);
        }
    }
}

/* What a variant's pairs from high on have of the sum. */
static inline mf_floats mf_iq1_rough_high(const struct mf_iq1 *block,
                                          int variant, int high)
{
    static const float fall[2] = { -1.25f, -0.75f }; /* of levels 1, 2 */
    static const float top[2] = { 1.265625f, 0.765625f };
    mf_floats sum = { 0 };

    for (int part = 0; part < MF_IQ1_PARTS; part++) {
        const float *weight = block->part[part].weight;
        int side = mf_iq1_side(part, variant);

        sum += mf_lanes_load(weight + high) * fall[side] +
               weight[MF_IQ1_SIZE] * top[side];
    }
    return sum;
}

/* Scores of the best variants of pairs with all lows up to most_low, and highs
 * from high on; the largest into most.  A pair whose high is below its low
 * scores 0. */
static inline void mf_iq1_rough_scores(const struct mf_iq1 *block,
                                       const struct mf_iq1_rough *rough,
                                       int most_low, int high, mf_floats *score,
                                       mf_floats *most)
{
    mf_floats x = mf_lanes_load(block->all.x + high);
    mf_floats high_part[MF_IQ1_VARIANTS];

    for (int k = 0; k < MF_IQ1_VARIANTS; k++)
        high_part[k] = mf_iq1_rough_high(block, k, high);
    for (int low = 0; low <= most_low; low++) {
        mf_floats sum = x + block->all.x[low], best = { 0 };

        for (int k = 0; k < MF_IQ1_VARIANTS; k++) {
            mf_floats qx = rough->whole[k] - sum;
            mf_floats q2 = high_part[k] + rough->low[k][low];

            best = mf_lanes_max(qx * qx * mf_lanes_near_inverse(q2), best);
        }
        for (int i = 0; i < MF_LANES && high + i < low; i++)
            best[i] = 0;
        score[low] = best;
        *most = mf_lanes_max(best, *most);
    }
}

static inline float mf_lanes_most(mf_floats lanes)
{
    return mf_float_of_bits((uint32_t)mf_ints_most((mf_ints)lanes));
}

/* Judges all pairs. */
static inline void mf_iq1_judge_all(struct mf_iq1 *block)
{
    for (int low = 0; low <= MF_IQ1_SIZE; low++)
        for (int high = low; high <= MF_IQ1_SIZE; high++)
            block->judge(block, low, high);
}

#define MF_IQ1_VECTORS ((MF_IQ1_SIZE + MF_LANES) / MF_LANES)

/* By vectors of highs, and by low. */
struct mf_iq1_scores {
    mf_floats of[MF_IQ1_VECTORS][MF_IQ1_SIZE + 1];
};

struct mf_iq1_pair {
    uint8_t low, high;
};

/* Pairs whose rough score is no less than the limit; returns how many. */
static inline size_t mf_iq1_near_best(const struct mf_iq1_window *window,
                                      const struct mf_iq1_scores *scores,
                                      float limit, struct mf_iq1_pair *pair)
{
    size_t count = 0;

    for (int low = 0; low <= window->most_low; low++) {
        int high = window->least_high;

        for (int i = 0; high <= MF_IQ1_SIZE; high += MF_LANES, i++) {
            uint32_t near =
                ~mf_lanes_less(scores->of[i][low], mf_lanes_all(limit)) &
                ((UINT32_C(1) << MF_LANES) - 1);

            /* Seldom more than one. */
            do {
                int lane = __builtin_ctz(near | UINT32_C(1) << MF_LANES);

                pair[count].low = (uint8_t)low;
                pair[count].high = (uint8_t)(high + lane);
                count += near != 0;
                near &= near - 1;
            } while (near != 0);
        }
    }
    return count;
}

static inline void mf_iq1_search(struct mf_iq1 *block)
{
    struct mf_iq1_pair pair[MF_IQ1_VECTORS * MF_LANES * (MF_IQ1_SIZE + 1) + 1];
    struct mf_iq1_scores scores;
    struct mf_iq1_window window;
    struct mf_iq1_rough rough;
    mf_floats most = { 0 };
    size_t count;
    float best;

    block->score = -FLT_MAX;
    block->variant = -1;
    if (!mf_iq1_find_window(block, &window)) {
        mf_iq1_judge_all(block);
        return;
    }
    mf_iq1_rough_begin(block, window.most_low, &rough);
    for (int i = 0; window.least_high + i * MF_LANES <= MF_IQ1_SIZE; i++)
        mf_iq1_rough_scores(block, &rough, window.most_low,
                            window.least_high + i * MF_LANES, scores.of[i],
                            &most);
    best = mf_lanes_most(most);
    if (!(best > 0x1p-100f && best < 0x1p120f)) {
        mf_iq1_judge_all(block);
        return;
    }
    best *= 1 - MF_IQ1_OFF;
    count = mf_iq1_near_best(&window, &scores, best, pair);
    for (size_t i = 0; i < count; i++)
        if (pair[i].high <= MF_IQ1_SIZE)
            block->judge(block, pair[i].low, pair[i].high);
}

#endif
