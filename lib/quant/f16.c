/* SPDX-License-Identifier: MIT
 *
 * f16.c - halves
 */
#include "lib/quant/fp16.h"
#include "lib/quant/quant.h"

#ifdef __F16C__

static inline void decode_8(const uint8_t *halves, float *out)
{
    __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)halves);

    _mm256_storeu_ps(out, _mm256_cvtph_ps(eight));
}

/* The instruction keeps ten bits of a NaN; we keep the highest of them. */
static inline void encode_8(const float *row, uint8_t *halves)
{
    __m256 values = _mm256_loadu_ps(row);
    __m256 nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
    __m128i low = _mm_castps_si128(_mm256_castps256_ps128(nan));
    __m128i high = _mm_castps_si128(_mm256_extractf128_ps(nan, 1));
    __m128i drop =
        _mm_and_si128(_mm_packs_epi32(low, high), _mm_set1_epi16(0x01ff));
    __m128i eight = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);

    _mm_storeu_si128((__m128i *)(void *)halves, _mm_andnot_si128(drop, eight));
}

#endif

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    size_t i = 0;

#ifdef __F16C__
    for (; i + 8 <= columns; i += 8)
        decode_8(blocks + 2 * i, out + i);
#endif
    for (; i < columns; i++)
        out[i] = mf_half_to_float(mf_little_16(blocks + 2 * i));
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    size_t i = 0;

    (void)weights;
#ifdef __F16C__
    for (; i + 8 <= columns; i += 8)
        encode_8(row + i, blocks + 2 * i);
#endif
    for (; i < columns; i++)
        mf_put_little_16(blocks + 2 * i, mf_float_to_half(row[i]));
}

const struct mf_codec MF_CODEC(f16) = { .decode = decode,
                                        .encode = MF_ENCODER(encode) };
