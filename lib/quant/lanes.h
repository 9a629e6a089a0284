/* SPDX-License-Identifier: MIT
 *
 * lanes.h - several floats side by side
 *
 * Vectors of the compiler, as wide as the instruction set has them: + - * /
 * & | ^ and comparisons (all bits set where true) are the language's.  Other
 * operations are defined below, once for each instruction set; every version
 * gives the same bits, for NaN and signed zeros as well.
 */
#ifndef MF_LIB_QUANT_LANES_H
#define MF_LIB_QUANT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A file that works on more than eight columns at a time, or on blocks side by
 * side, defines MF_WIDE_LANES before it includes this. */
#if defined(__AVX512BW__) && defined(MF_WIDE_LANES)
#include <immintrin.h>
#define MF_LANES 16
#elif defined(__AVX2__)
#include <immintrin.h>
#define MF_LANES 8
#elif defined(__SSE2__)
#include <emmintrin.h>
#define MF_LANES 4
#else
#define MF_LANES 4
#endif

typedef float mf_floats __attribute__((vector_size(4 * MF_LANES)));
typedef int32_t mf_ints __attribute__((vector_size(4 * MF_LANES)));

static inline mf_floats mf_lanes_load(const float *at)
{
    mf_floats lanes;

    memcpy(&lanes, at, sizeof(lanes));
    return lanes;
}

static inline void mf_lanes_store(float *at, mf_floats lanes)
{
    memcpy(at, &lanes, sizeof(lanes));
}

static inline mf_floats mf_lanes_all(float value)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_set1_ps(value);
#elif MF_LANES == 8
    return (mf_floats)_mm256_set1_ps(value);
#else
    return (mf_floats){ value, value, value, value };
#endif
}

static inline mf_ints mf_ints_all(int32_t value)
{
#if MF_LANES == 16
    return (mf_ints)_mm512_set1_epi32(value);
#elif MF_LANES == 8
    return (mf_ints)_mm256_set1_epi32(value);
#else
    return (mf_ints){ value, value, value, value };
#endif
}

/* Bit i is lane i's highest. */
static inline uint32_t mf_lanes_signs(mf_ints lanes)
{
#if MF_LANES == 16
    return _mm512_cmplt_epi32_mask((__m512i)lanes, _mm512_setzero_si512());
#elif MF_LANES == 8
    return (uint32_t)_mm256_movemask_ps((__m256)lanes);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)lanes);
#else
    uint32_t bits = 0;

    for (int i = 0; i < MF_LANES; i++)
        bits |= (uint32_t)lanes[i] >> 31 << i;
    return bits;
#endif
}

/* a where all bits of the mask are set, b where all are clear. */
static inline mf_floats mf_lanes_select(mf_ints mask, mf_floats a, mf_floats b)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_mask_blend_ps((__mmask16)mf_lanes_signs(mask),
                                           (__m512)b, (__m512)a);
#elif MF_LANES == 8
    return (mf_floats)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (mf_floats)(((mf_ints)a & mask) | ((mf_ints)b & ~mask));
#endif
}

/* a where c < d, b elsewhere, so where one of these is a NaN. */
static inline mf_floats mf_lanes_select_less(mf_floats c, mf_floats d,
                                             mf_floats a, mf_floats b)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_mask_blend_ps(
        _mm512_cmp_ps_mask((__m512)c, (__m512)d, _CMP_LT_OQ), (__m512)b,
        (__m512)a);
#else
    return mf_lanes_select(c < d, a, b);
#endif
}

/* Whether c < d in every lane, and in any. */
static inline bool mf_lanes_every_less(mf_floats c, mf_floats d)
{
#if MF_LANES == 16
    return _mm512_cmp_ps_mask((__m512)c, (__m512)d, _CMP_NLT_UQ) == 0;
#else
    return mf_lanes_signs(c < d) == (1u << MF_LANES) - 1;
#endif
}

static inline bool mf_lanes_any_less(mf_floats c, mf_floats d)
{
#if MF_LANES == 16
    return _mm512_cmp_ps_mask((__m512)c, (__m512)d, _CMP_LT_OQ) != 0;
#else
    return mf_lanes_signs(c < d) != 0;
#endif
}

/* a > b ? a : b, so b where one of them is a NaN. */
static inline mf_floats mf_lanes_max(mf_floats a, mf_floats b)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif MF_LANES == 8
    return (mf_floats)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (mf_floats)_mm_max_ps((__m128)a, (__m128)b);
#else
    return mf_lanes_select(a > b, a, b);
#endif
}

/* a < b ? a : b, so b where one of them is a NaN. */
static inline mf_floats mf_lanes_min(mf_floats a, mf_floats b)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_min_ps((__m512)a, (__m512)b);
#elif MF_LANES == 8
    return (mf_floats)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (mf_floats)_mm_min_ps((__m128)a, (__m128)b);
#else
    return mf_lanes_select(a < b, a, b);
#endif
}

static inline mf_ints mf_ints_max(mf_ints a, mf_ints b)
{
#if MF_LANES == 16
    return (mf_ints)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif MF_LANES == 8
    return (mf_ints)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    mf_ints mask = a > b;

    return (a & mask) | (b & ~mask);
#endif
}

/* The largest of all lanes. */
static inline int32_t mf_ints_most(mf_ints lanes)
{
#if MF_LANES == 16
    return _mm512_reduce_max_epi32((__m512i)lanes);
#elif MF_LANES == 8
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128((__m256i)lanes),
                                 _mm256_extracti128_si256((__m256i)lanes, 1));

    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
#else
    int32_t most = lanes[0];

    for (int i = 1; i < MF_LANES; i++)
        most = lanes[i] > most ? lanes[i] : most;
    return most;
#endif
}

static inline mf_floats mf_lanes_root(mf_floats lanes)
{
#if MF_LANES == 16
    return (mf_floats)_mm512_sqrt_ps((__m512)lanes);
#elif MF_LANES == 8
    return (mf_floats)_mm256_sqrt_ps((__m256)lanes);
#elif defined(__SSE2__)
    return (mf_floats)_mm_sqrt_ps((__m128)lanes);
#else
    for (int i = 0; i < MF_LANES; i++)
        lanes[i] = __builtin_sqrtf(lanes[i]);
    return lanes;
#endif
}

/* Without fractions; the caller keeps within the range of integers. */
static inline mf_ints mf_lanes_truncate(mf_floats lanes)
{
    return __builtin_convertvector(lanes, mf_ints);
}

static inline mf_floats mf_lanes_of(mf_ints lanes)
{
    return __builtin_convertvector(lanes, mf_floats);
}

/* ---- bits and bytes ---- */

/* All bits of lane i set where bit first + i of the word is. */
static inline mf_ints mf_ints_of_bits(uint32_t word, int first)
{
#if MF_LANES == 16
    const mf_ints probe = (mf_ints){
        1,   2,   4,    8,    16,   32,   64,    128,
        256, 512, 1024, 2048, 4096, 8192, 16384, 32768
    } << first;
#elif MF_LANES == 8
    const mf_ints probe = (mf_ints){ 1, 2, 4, 8, 16, 32, 64, 128 } << first;
#else
    const mf_ints probe = (mf_ints){ 1, 2, 4, 8 } << first;
#endif

    return (mf_ints_all((int32_t)word) & probe) == probe;
}

/* Bytes of 0 to 255, a lane each. */
static inline mf_ints mf_ints_of_u8(const uint8_t *at)
{
#if MF_LANES == 16
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

    return (mf_ints)_mm512_cvtepu8_epi32(bytes);
#elif MF_LANES == 8
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)at);

    return (mf_ints)_mm256_cvtepu8_epi32(bytes);
#elif defined(__SSE2__)
    int32_t word;
    __m128i bytes;

    memcpy(&word, at, sizeof(word));
    bytes = _mm_unpacklo_epi8(_mm_cvtsi32_si128(word), _mm_setzero_si128());
    return (mf_ints)_mm_unpacklo_epi16(bytes, _mm_setzero_si128());
#else
    return (mf_ints){ at[0], at[1], at[2], at[3] };
#endif
}

/* Bytes of -128 to 127. */
static inline mf_ints mf_ints_of_i8(const uint8_t *at)
{
#if MF_LANES == 16
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

    return (mf_ints)_mm512_cvtepi8_epi32(bytes);
#elif MF_LANES == 8
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)at);

    return (mf_ints)_mm256_cvtepi8_epi32(bytes);
#elif defined(__SSE2__)
    int32_t word;
    __m128i bytes;

    memcpy(&word, at, sizeof(word));
    bytes = _mm_cvtsi32_si128(word);
    bytes = _mm_unpacklo_epi8(bytes, bytes); /* each at the top, */
    bytes = _mm_unpacklo_epi16(bytes, bytes);
    return (mf_ints)_mm_srai_epi32(bytes,
                                   24); /* and comes down with its sign */
#else
    return (mf_ints){ (int8_t)at[0], (int8_t)at[1], (int8_t)at[2],
                      (int8_t)at[3] };
#endif
}

/* 16 integers of 0 to 255 become bytes. */
static inline void mf_u8_of_ints(const mf_ints *lanes, uint8_t *out)
{
#if MF_LANES == 16
    _mm_storeu_si128((__m128i *)(void *)out,
                     _mm512_cvtepi32_epi8((__m512i)lanes[0]));
#elif MF_LANES == 8
    __m256i words = _mm256_packus_epi32((__m256i)lanes[0], (__m256i)lanes[1]);
    __m256i bytes = _mm256_packus_epi16(words, words);
    /* Packing stays within halves of 16 bytes: fours lie 0 2 0 2, 1 3 1 3. */
    __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 0, 0, 0, 0);

    bytes = _mm256_permutevar8x32_epi32(bytes, order);
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(bytes));
#elif defined(__SSE2__)
    __m128i low = _mm_packs_epi32((__m128i)lanes[0], (__m128i)lanes[1]);
    __m128i high = _mm_packs_epi32((__m128i)lanes[2], (__m128i)lanes[3]);

    _mm_storeu_si128((__m128i *)(void *)out, _mm_packus_epi16(low, high));
#else
    for (int i = 0; i < 16; i++)
        out[i] = (uint8_t)lanes[i / MF_LANES][i % MF_LANES];
#endif
}

/* 16 integers of -128 to 127 become bytes. */
static inline void mf_i8_of_ints(const mf_ints *lanes, uint8_t *out)
{
    mf_ints low[16 / MF_LANES];

    for (int i = 0; i < 16 / MF_LANES; i++)
        low[i] = lanes[i] & 255;
    mf_u8_of_ints(low, out);
}

#endif
