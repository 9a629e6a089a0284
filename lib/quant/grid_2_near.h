/* SPDX-License-Identifier: MIT
 *
 * grid_2_near.h - the best of the codes near a point, of digits of two bits
 *
 * The error of a code at a scale s is the sum of w * (s * q - x)^2, where q is
 * 1, 3 or 5 for a digit.  But for what all codes share, and divided by s, it is
 * s * a - b, with a = sum of w * q^2 and b = sum of 2 * w * x * q: a line. That
 * needs few operations for each of several scales, but its last bits differ
 * from the reference's.  So it decides where one code is better than all
 * others by more than both ways can be off, and leaves few codes otherwise, of
 * which the reference's sum is computed.
 *
 * Lines cross once: of two codes that one is better which is better at both
 * ends of a range of scales, anywhere in it.
 */
#ifndef MF_LIB_QUANT_GRID_2_NEAR_H
#define MF_LIB_QUANT_GRID_2_NEAR_H

#include <float.h>

#include "lib/quant/quant.h"
#include "lib/quant/round.h"

/* Eight numbers, what their errors count, and twice the product of both. */
struct mf_near_point {
    const float *x, *w, *wx2;
};

/* The lines of a list's codes. */
struct mf_near_lines {
    struct mf_near near;
    float a[MF_NEAR_MAX], b[MF_NEAR_MAX];
};

/* The error of a code, as the reference computes it. */
static inline float mf_near_error(const struct mf_near_point *point,
                                  unsigned code, float scale)
{
    float sum = 0;

    for (int i = 0; i < 8; i++) {
        float q = (float)(2 * (code >> 2 * i & 3) + 1);
        float apart = scale * q - point->x[i];

        sum += point->w[i] * apart * apart;
    }
    return sum;
}

/* The first with the least error; -1 where no error is a number. */
static inline int mf_near_exact(const struct mf_near_point *point,
                                struct mf_near near, float scale)
{
    float least = FLT_MAX;
    int best = -1;

    for (unsigned i = 0; i < near.count; i++) {
        float error = mf_near_error(point, near.code[i], scale);

        if (error < least) {
            least = error;
            best = (int)i;
        }
    }
    return best;
}

/* ---- lines ---- */

#if defined(__AVX512BW__)

/* Two digits select one of 16. */
struct mf_near_tables {
    __m512 a[4], b[4];
};

static inline void mf_near_prepare(struct mf_near_tables *tables,
                                   const struct mf_near_point *point)
{
    const __m512 low =
        _mm512_setr_ps(1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7, 1, 3, 5, 7);
    const __m512 high =
        _mm512_setr_ps(1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7);
    const __m512 low2 = _mm512_mul_ps(low, low);
    const __m512 high2 = _mm512_mul_ps(high, high);

    for (int i = 0; i < 4; i++) {
        const float *w = point->w + 2 * i, *x = point->wx2 + 2 * i;
        __m512 w0 = _mm512_set1_ps(w[0]), w1 = _mm512_set1_ps(w[1]);
        __m512 x0 = _mm512_set1_ps(x[0]), x1 = _mm512_set1_ps(x[1]);

        tables->a[i] =
            _mm512_add_ps(_mm512_mul_ps(w0, low2), _mm512_mul_ps(w1, high2));
        tables->b[i] =
            _mm512_add_ps(_mm512_mul_ps(x0, low), _mm512_mul_ps(x1, high));
    }
}

static inline void mf_near_draw(const struct mf_near_tables *tables,
                                struct mf_near_lines *lines)
{
    const uint16_t *code = lines->near.code;

    for (unsigned i = 0; i < lines->near.count; i += 16) {
        __m512i at = _mm512_cvtepu16_epi32(
            _mm256_loadu_si256((const __m256i *)(const void *)(code + i)));
        __m512 a = _mm512_permutexvar_ps(at, tables->a[0]);
        __m512 b = _mm512_permutexvar_ps(at, tables->b[0]);

        for (int j = 1; j < 4; j++) {
            at = _mm512_srli_epi32(at, 4);
            a = _mm512_add_ps(a, _mm512_permutexvar_ps(at, tables->a[j]));
            b = _mm512_add_ps(b, _mm512_permutexvar_ps(at, tables->b[j]));
        }
        _mm512_storeu_ps(lines->a + i, a);
        _mm512_storeu_ps(lines->b + i, b);
    }
}

#elif defined(__AVX2__)

/* A digit selects one of four. */
struct mf_near_tables {
    __m256 a[8], b[8];
};

static inline void mf_near_prepare(struct mf_near_tables *tables,
                                   const struct mf_near_point *point)
{
    const __m256 q = _mm256_setr_ps(1, 3, 5, 7, 1, 3, 5, 7);
    const __m256 q2 = _mm256_mul_ps(q, q);

    for (int i = 0; i < 8; i++) {
        tables->a[i] = _mm256_mul_ps(_mm256_set1_ps(point->w[i]), q2);
        tables->b[i] = _mm256_mul_ps(_mm256_set1_ps(point->wx2[i]), q);
    }
}

static inline void mf_near_draw(const struct mf_near_tables *tables,
                                struct mf_near_lines *lines)
{
    const uint16_t *code = lines->near.code;

    for (unsigned i = 0; i < lines->near.count; i += 8) {
        __m256i at = _mm256_cvtepu16_epi32(
            _mm_loadu_si128((const __m128i *)(const void *)(code + i)));
        __m256 a[2], b[2];

        a[0] = _mm256_permutevar_ps(tables->a[0], at);
        b[0] = _mm256_permutevar_ps(tables->b[0], at);
        at = _mm256_srli_epi32(at, 2);
        a[1] = _mm256_permutevar_ps(tables->a[1], at);
        b[1] = _mm256_permutevar_ps(tables->b[1], at);
        for (int j = 2; j < 8; j++) {
            at = _mm256_srli_epi32(at, 2);
            a[j % 2] =
                _mm256_add_ps(a[j % 2], _mm256_permutevar_ps(tables->a[j], at));
            b[j % 2] =
                _mm256_add_ps(b[j % 2], _mm256_permutevar_ps(tables->b[j], at));
        }
        _mm256_storeu_ps(lines->a + i, _mm256_add_ps(a[0], a[1]));
        _mm256_storeu_ps(lines->b + i, _mm256_add_ps(b[0], b[1]));
    }
}

#else

/* Two digits select one of 16. */
struct mf_near_tables {
    float a[4][16], b[4][16];
};

static inline void mf_near_prepare(struct mf_near_tables *tables,
                                   const struct mf_near_point *point)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 16; j++) {
            const float *w = point->w + 2 * i, *x = point->wx2 + 2 * i;
            float low = (float)(2 * (j & 3) + 1);
            float high = (float)(2 * (j >> 2) + 1);

            tables->a[i][j] = w[0] * (low * low) + w[1] * (high * high);
            tables->b[i][j] = x[0] * low + x[1] * high;
        }
}

static inline void mf_near_draw(const struct mf_near_tables *tables,
                                struct mf_near_lines *lines)
{
    unsigned count = (lines->near.count + MF_LANES - 1) / MF_LANES * MF_LANES;

    for (unsigned i = 0; i < count; i++) {
        unsigned code = lines->near.code[i];
        float a = 0, b = 0;

        for (int j = 0; j < 4; j++) {
            a += tables->a[j][code >> 4 * j & 15];
            b += tables->b[j][code >> 4 * j & 15];
        }
        lines->a[i] = a;
        lines->b[i] = b;
    }
}

#endif

/* Bit i is set where line first + i is not above the bound. */
static inline uint32_t mf_near_below(const struct mf_near_lines *lines,
                                     unsigned first, float scale, float bound)
{
    mf_floats line = scale * mf_lanes_load(lines->a + first) -
                     mf_lanes_load(lines->b + first);
    unsigned left = lines->near.count - first;
    uint32_t below = mf_lanes_signs(line <= bound);

    return left < MF_LANES ? below & ((1u << left) - 1) : below;
}

/* The least of all lanes. */
static inline float mf_lanes_least(mf_floats lanes)
{
#if MF_LANES == 16
    return _mm512_reduce_min_ps((__m512)lanes);
#else
    float part[MF_LANES], least;

    mf_lanes_store(part, lanes);
    least = part[0];
    for (int i = 1; i < MF_LANES; i++)
        least = part[i] < least ? part[i] : least;
    return least;
#endif
}

/* The least line.  Lines after the count are drawn, too: again the last. */
static inline float mf_near_least(const struct mf_near_lines *lines,
                                  float scale)
{
    mf_floats least = mf_lanes_all(FLT_MAX);

    for (unsigned i = 0; i < lines->near.count; i += MF_LANES)
        least = mf_lanes_min(scale * mf_lanes_load(lines->a + i) -
                                 mf_lanes_load(lines->b + i),
                             least);
    return mf_lanes_least(least);
}

/* The number of the first line that is not above the bound; *only: there is no
 * other. */
static inline int mf_near_first(const struct mf_near_lines *lines, float scale,
                                float bound, bool *only)
{
    int first = -1;

    *only = true;
    for (unsigned i = 0; i < lines->near.count; i += MF_LANES) {
        uint32_t below = mf_near_below(lines, i, scale, bound);

        *only &= (below & (below - 1)) == 0 && (below == 0 || first < 0);
        if (below != 0 && first < 0)
            first = (int)i + __builtin_ctz(below);
    }
    return first;
}

/* The best code's number; *only: it is that for sure, with any errors of that
 * size. */
static inline int mf_near_best(const struct mf_near_lines *lines,
                               const struct mf_near_point *point, float scale,
                               float margin, bool *only)
{
    float bound = mf_near_least(lines, scale) + margin, least = FLT_MAX;
    int best = mf_near_first(lines, scale, bound, only);

    if (*only)
        return best;
    for (unsigned i = 0; i < lines->near.count; i += MF_LANES) {
        uint32_t below = mf_near_below(lines, i, scale, bound);

        for (; below != 0; below &= below - 1) {
            unsigned at = i + (unsigned)__builtin_ctz(below);
            float error = mf_near_error(point, lines->near.code[at], scale);

            if (error < least) {
                least = error;
                best = (int)at;
            }
        }
    }
    return best;
}

/* A list of no more is gone through code after code, for MF_LANES scales. */
#define MF_NEAR_FEW (2 * MF_LANES)

/* The number of the best line at each of MF_LANES scales; bit i of what is
 * returned: at scale i another is close. */
static inline uint32_t mf_near_each(const struct mf_near_lines *lines,
                                    const float *scales, float margin,
                                    int32_t best[MF_LANES])
{
    mf_floats scale = mf_lanes_load(scales);
    mf_floats least = mf_lanes_all(FLT_MAX), second = least;
    mf_ints which = { 0 };

    for (unsigned i = 0; i < lines->near.count; i++) {
        mf_floats line =
            scale * mf_lanes_all(lines->a[i]) - mf_lanes_all(lines->b[i]);
#if MF_LANES == 16
        which = (mf_ints)_mm512_mask_mov_epi32(
            (__m512i)which,
            _mm512_cmp_ps_mask((__m512)line, (__m512)least, _CMP_LT_OQ),
            _mm512_set1_epi32((int)i));
#else
        mf_ints less = line < least;

        which = (which & ~less) | (less & (int)i);
#endif
        second = mf_lanes_min(second, mf_lanes_max(line, least));
        least = mf_lanes_min(line, least);
    }
    memcpy(best, &which, sizeof(which));
    return mf_lanes_signs(second <= least + margin);
}

/* Whether that code is the best for sure. */
static inline bool mf_near_is_best(const struct mf_near_lines *lines, int best,
                                   float scale, float margin)
{
    float bound = (scale * lines->a[best] - lines->b[best]) + margin;
    bool only;

    return mf_near_first(lines, scale, bound, &only) == best && only;
}

#endif
