/* SPDX-License-Identifier: MIT
 *
 * iq1.h - the three levels that fit a block best
 *
 * What IQ1_S and IQ1_M share.  A block's numbers in ascending order are divided
 * into three groups, a level each: all before `low`, those before `high`, the
 * others.  Of all such pairs the one that scores best is wanted, as the
 * reference finds it: in its order, each judged by floats that it rounds in its
 * way.  Most pairs cannot win, which a rough score shows.
 */
#ifndef MF_LIB_QUANT_IQ1_H
#define MF_LIB_QUANT_IQ1_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "lib/quant/ascend.h"

#define MF_IQ1_SIZE 32 /* of a block, at most */
#define MF_IQ1_ROOM (MF_IQ1_SIZE + MF_LANES)

/* Each level an eighth higher, or lower. */
static const float mf_iq1_levels[2][3] = { { -0.875f, 0.125f, 1.125f },
                                           { -1.125f, -0.125f, 0.875f } };

/* Of the first i numbers in ascending order, weight * x and weight.  Behind the
 * last sum it is repeated, for vectors that begin with it. */
struct mf_iq1_sums {
    float x[MF_IQ1_ROOM], weight[MF_IQ1_ROOM];
};

/* A block that is searched, in one part or in two halves.  In variant k the
 * last part has levels k % 2, the one before it k / 2. */
struct mf_iq1 {
    const float *x, *weight;
    int size, parts;
    /* Judges that pair in all variants. */
    void (*judge)(struct mf_iq1 *block, int low, int high);
    uint8_t order[MF_IQ1_SIZE]; /* columns in ascending order of x */
    struct mf_iq1_sums part[2], all;
    /* The best so far; variant is -1 where there is none. */
    float score, scale;
    int low, high, variant;
};

/* The levels of a part in a variant. */
static inline int mf_iq1_side(int parts, int part, int variant)
{
    return variant >> (parts - 1 - part) & 1;
}

/* A pair whose sums are these. */
static inline void mf_iq1_offer(struct mf_iq1 *block, int low, int high,
                                int variant, float sum_qx, float sum_q2)
{
    if (sum_q2 > 0 && sum_qx * sum_qx > block->score * sum_q2) {
        block->scale = sum_qx / sum_q2;
        block->score = block->scale * sum_qx;
        block->low = low;
        block->high = high;
        block->variant = variant;
    }
}

/* ---- sums ---- */

static inline void mf_iq1_fill(struct mf_iq1_sums *sums, int size)
{
    for (int i = size + 1; i < size + MF_LANES; i++) {
        sums->x[i] = sums->x[size];
        sums->weight[i] = sums->weight[size];
    }
}

/* The sum of two parts is rounded once more than the reference's: it is only
 * for what is rough. */
static inline void mf_iq1_sum(struct mf_iq1 *block)
{
    float x[2] = { 0, 0 }, weight[2] = { 0, 0 };

    for (int i = 0;; i++) {
        int column, part;

        for (part = 0; part < block->parts; part++) {
            block->part[part].x[i] = x[part];
            block->part[part].weight[i] = weight[part];
        }
        block->all.x[i] = x[0] + x[1];
        block->all.weight[i] = weight[0] + weight[1];
        if (i == block->size)
            break;
        column = block->order[i];
        part = block->parts * column / block->size;
        x[part] += block->weight[column] * block->x[column];
        weight[part] += block->weight[column];
    }
    for (int part = 0; part < block->parts; part++)
        mf_iq1_fill(&block->part[part], block->size);
    mf_iq1_fill(&block->all, block->size);
}

/* ---- which pairs can win ---- */

/* A rough score may be off by so much of it, and one that is within so much of
 * the best may win.  Rough scores differ from the reference's by roundings of
 * sums, each at most 2^-24 of the block's sum of weight * |x| or of weight.  A
 * pair that is nearly best has at least a tenth of the one (see mf_iq1_window)
 * and a 64th of the other, so that is less than 2^-14; and a reciprocal is off
 * by at most 2^-14 or, with AVX2 and SSE, 1.5 * 2^-12. */
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

/* How many lanes of a mask are set. */
static inline int mf_lanes_count(mf_ints mask)
{
    uint32_t bits = mf_lanes_signs(mask);

#if MF_LANES > 4
    return __builtin_popcount(bits);
#else
    return (int)(UINT64_C(0x4332322132212110) >> 4 * bits & 15);
#endif
}

/* How many of so many numbers, whole vectors, are below the limit. */
static inline int mf_iq1_below(const float *at, int count, float limit)
{
    int below = 0;

    for (int i = 0; i < count; i += MF_LANES)
        below += mf_lanes_count(mf_lanes_load(at + i) < mf_lanes_all(limit));
    return below;
}

/* Pairs with 0 <= low <= most_low, and least_high <= high <= size. */
struct mf_iq1_window {
    int most_low, least_high;
};

/* Whether all numbers are of a usual size, and weights are not below 0: what
 * is proved below is proved for those. */
static inline bool mf_iq1_usual(const struct mf_iq1 *block, float magnitude,
                                float weight)
{
    return mf_iq1_below(block->weight, block->size, 0) == 0 &&
           magnitude > 0x1p-58f && magnitude < 0x1p58f && weight > 0x1p-90f &&
           weight < 0x1p90f;
}

/* What a scale below 0 can score at most.  With levels turned over, which
 * descend then while x ascends, sums of each part are no better than if all its
 * numbers had the mean level; by Cauchy's inequality the score is then at most
 * the sum of x^2 / weight of the parts. */
static inline float mf_iq1_turned_score(const struct mf_iq1 *block)
{
    float score = 0;

    for (int i = 0; i < block->parts; i++) {
        float x = block->part[i].x[block->size];
        float weight = block->part[i].weight[block->size];

        score += weight > 0 ? x * x / weight : 0;
    }
    return score;
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
 * score is s^2 * (weight * level^2), and s * (level * weight * x).  If it gives
 * an x above -0.28 * s the lowest level, the middle one would do better by
 * 2 * weight * s * (x - t), with t at most -0.375 * s the middle between both
 * levels, times s: so only a little weight can be there, less than 7 times what
 * is left to the best of the whole.  The upper levels are alike. */
static inline bool mf_iq1_find_window(const struct mf_iq1 *block,
                                      struct mf_iq1_window *window)
{
    const struct mf_iq1_sums *all = &block->all;
    int size = block->size, minus = mf_iq1_below(block->x, size, 0);
    float weight = all->weight[size], below = all->weight[minus];
    float left = -all->x[minus], right = all->x[size] - all->x[minus];
    float more = 0.875f * left + 1.125f * right;
    float less = 1.125f * left + 0.875f * right;
    float score, other, scale, little;

    if (!mf_iq1_usual(block, left + right, weight))
        return false;
    score = more * more / (0.765625f * below + 1.265625f * (weight - below));
    other = less * less / (1.265625f * below + 0.765625f * (weight - below));
    score = 0.99f * (score > other ? score : other);
    *window = (struct mf_iq1_window){ size, 0 };
    if (!(mf_iq1_turned_score(block) < score))
        return true;
    scale = __builtin_sqrtf(score / (1.265625f * weight));
    other = score / (1.125f * (left + right));
    scale = 0.28f * (scale > other ? scale : other);
    little = 7.0f * (MF_IQ1_OFF + 0x1p-13f) * weight;
    minus = mf_iq1_below(block->x, size, -scale);
    window->most_low = mf_iq1_below(all->weight, size + MF_LANES,
                                    all->weight[minus] + little) -
                       1;
    if (window->most_low > size)
        window->most_low = size;
    minus = mf_iq1_below(block->x, size, scale);
    window->least_high =
        mf_iq1_below(all->weight, size + MF_LANES, all->weight[minus] - little);
    return true;
}

/* ---- rough scores ---- */

/* By pair, the sum of weight * level * x is whole - all.x[low] - all.x[high],
 * and that of weight * level^2 low[low] + high[high]. */
struct mf_iq1_rough {
    float whole[4];
    float low[4][MF_IQ1_ROOM], high[4][MF_IQ1_ROOM];
};

static inline void mf_iq1_prepare(const struct mf_iq1 *block, int variants,
                                  struct mf_iq1_rough *rough)
{
    int parts = block->parts, size = block->size;

    memset(rough->whole, 0, sizeof(rough->whole));
    for (int k = 0; k < variants; k++)
        for (int part = 0; part < parts; part++) {
            const struct mf_iq1_sums *sums = &block->part[part];
            const float *level = mf_iq1_levels[mf_iq1_side(parts, part, k)];
            float top = level[2] * level[2], middle = level[1] * level[1];
            float weight = sums->weight[size] * top;

            rough->whole[k] += sums->x[size] * level[2];
            for (int i = 0; i < size + MF_LANES; i += MF_LANES) {
                mf_floats sum = mf_lanes_load(sums->weight + i);
                mf_floats low = sum * (level[0] * level[0] - middle);
                mf_floats high = sum * (middle - top) + weight;

                if (part > 0) {
                    low += mf_lanes_load(rough->low[k] + i);
                    high += mf_lanes_load(rough->high[k] + i);
                }
                mf_lanes_store(rough->low[k] + i, low);
                mf_lanes_store(rough->high[k] + i, high);
            }
        }
}

/* The best variant's of pairs with the same low, and high and on. */
static inline mf_floats mf_iq1_rough_scores(const struct mf_iq1 *block,
                                            const struct mf_iq1_rough *rough,
                                            int variants, int low, int high)
{
    mf_floats x = mf_lanes_load(block->all.x + high) + block->all.x[low];
    mf_floats best = { 0 };

    for (int k = 0; k < variants; k++) {
        mf_floats qx = rough->whole[k] - x;
        mf_floats q2 =
            rough->low[k][low] + mf_lanes_load(rough->high[k] + high);

        best = mf_lanes_max(qx * qx * mf_lanes_near_inverse(q2), best);
    }
    return best;
}

static inline float mf_lanes_most(mf_floats lanes)
{
    return mf_float_of_bits((uint32_t)mf_ints_most((mf_ints)lanes));
}

/* Judges all pairs. */
static inline void mf_iq1_judge_all(struct mf_iq1 *block)
{
    for (int low = 0; low <= block->size; low++)
        for (int high = low; high <= block->size; high++)
            block->judge(block, low, high);
}

#define MF_IQ1_SCORES                                                          \
    ((MF_IQ1_SIZE + 1) * ((MF_IQ1_SIZE + MF_LANES) / MF_LANES))

/* Judges pairs whose rough score is near the best. */
static inline void mf_iq1_judge_near(struct mf_iq1 *block,
                                     const struct mf_iq1_window *window,
                                     const mf_floats *score, float limit)
{
    for (int low = 0; low <= window->most_low; low++) {
        int high = low > window->least_high ? low : window->least_high;

        for (; high <= block->size; high += MF_LANES, score++) {
            uint32_t near = mf_lanes_signs(*score >= mf_lanes_all(limit));

            for (; near != 0; near &= near - 1) {
                int at = high + __builtin_ctz(near);

                if (at <= block->size)
                    block->judge(block, low, at);
            }
        }
    }
}

static inline void mf_iq1_search(struct mf_iq1 *block, int variants)
{
    mf_floats score[MF_IQ1_SCORES], most = { 0 };
    struct mf_iq1_window window;
    struct mf_iq1_rough rough;
    size_t count = 0;
    float best;

    block->score = -FLT_MAX;
    block->variant = -1;
    mf_iq1_sum(block);
    if (!mf_iq1_find_window(block, &window)) {
        mf_iq1_judge_all(block);
        return;
    }
    mf_iq1_prepare(block, variants, &rough);
    for (int low = 0; low <= window.most_low; low++) {
        int high = low > window.least_high ? low : window.least_high;

        for (; high <= block->size; high += MF_LANES) {
            score[count] =
                mf_iq1_rough_scores(block, &rough, variants, low, high);
            most = mf_lanes_max(score[count++], most);
        }
    }
    best = mf_lanes_most(most);
    if (best > 0x1p-100f && best < 0x1p120f)
        mf_iq1_judge_near(block, &window, score, best * (1 - MF_IQ1_OFF));
    else
        mf_iq1_judge_all(block);
}

#endif
