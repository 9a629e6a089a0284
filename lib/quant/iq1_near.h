/* SPDX-License-Identifier: MIT
 *
 * iq1_near.h - the code of the grid that is nearest to eight numbers
 */
#ifndef MF_LIB_QUANT_IQ1_NEAR_H
#define MF_LIB_QUANT_IQ1_NEAR_H

#include <float.h>

#include "lib/quant/grid_map.h"
#include "lib/quant/lanes.h"

#define MF_IQ1_NONE 0xffff

/* What each digit of each of eight columns adds to the error, and how many
 * columns' sums a code needs.  A vector has a column's four numbers in each
 * half of a half. */
#if defined(__AVX2__)

#if MF_LANES == 16
typedef __m512 mf_iq1_table;

/* a where x < y, b elsewhere. */
static inline mf_ints mf_iq1_if_less(mf_floats x, mf_floats y, mf_ints a,
                                     mf_ints b)
{
    __mmask16 less = _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_LT_OQ);

    return (mf_ints)_mm512_mask_mov_epi32((__m512i)b, less, (__m512i)a);
}

static inline float mf_iq1_least(mf_floats lanes)
{
    return _mm512_reduce_min_ps((__m512)lanes);
}

static inline uint32_t mf_iq1_same(mf_floats lanes, float value)
{
    return _mm512_cmp_ps_mask((__m512)lanes, _mm512_set1_ps(value), _CMP_EQ_OQ);
}

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

/* a where x < y, b elsewhere. */
static inline mf_ints mf_iq1_if_less(mf_floats x, mf_floats y, mf_ints a,
                                     mf_ints b)
{
    return (mf_ints)mf_lanes_select(x < y, (mf_floats)a, (mf_floats)b);
}

static inline float mf_iq1_least(mf_floats lanes)
{
    __m128 four = _mm_min_ps(_mm256_castps256_ps128((__m256)lanes),
                             _mm256_extractf128_ps((__m256)lanes, 1));

    four = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(four, _mm_movehdup_ps(four)));
}

static inline uint32_t mf_iq1_same(mf_floats lanes, float value)
{
    return mf_lanes_signs(lanes == value);
}

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
    float best;
    int32_t place[MF_LANES], first = INT32_MAX;

    for (unsigned i = 0; i < near->count; i += MF_LANES) {
        mf_ints code = mf_iq1_codes(near->code + i);
        mf_floats sum = mf_iq1_look_up(error[0], code);

        for (int j = 1; j < 8; j++)
            sum += mf_iq1_look_up(error[j], code >> 2 * j);
        at = mf_iq1_if_less(sum, least, mf_ints_all((int32_t)i), at);
        least = mf_lanes_min(sum, least);
    }
    best = mf_iq1_least(least);
    if (!(best < FLT_MAX))
        return MF_IQ1_NONE;
    memcpy(place, &at, sizeof(at));
    for (uint32_t same = mf_iq1_same(least, best); same; same &= same - 1) {
        int lane = __builtin_ctz(same);

        first = place[lane] + lane < first ? place[lane] + lane : first;
    }
    return near->code[first];
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

#endif
