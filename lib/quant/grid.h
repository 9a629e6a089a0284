/* SPDX-License-Identifier: MIT
 *
 * grid.h - eight numbers at a time from the codes of a grid, and their signs
 */
#ifndef MF_LIB_QUANT_GRID_H
#define MF_LIB_QUANT_GRID_H

#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"

/* The numbers that two or three bits of a code select.  Two bits select one of
 * three levels, which are listed twice. */
struct mf_grid_levels {
    float of[8];
};

/* Eight at most, also in a file that has more lanes. */
#define MF_GRID_LANES (MF_LANES < 8 ? MF_LANES : 8)

typedef float mf_grid_floats __attribute__((vector_size(4 * MF_GRID_LANES)));
typedef int32_t mf_grid_ints __attribute__((vector_size(4 * MF_GRID_LANES)));

#if !defined(__AVX2__)
/* The lanes whose number has that bit set. */
static inline mf_grid_ints mf_grid_bits(uint32_t code, int first, int width,
                                        int bit)
{
    mf_grid_ints probe;

    for (int i = 0; i < MF_GRID_LANES; i++)
        probe[i] = (int32_t)(UINT32_C(1) << ((first + i) * width + bit));
    return (mf_ints_all((int32_t)code) & probe) == probe;
}
#endif

/* The numbers first to first + MF_GRID_LANES - 1 of a code, so many bits each.
 */
static inline mf_grid_floats mf_grid_pick(const struct mf_grid_levels *levels,
                                          int width, uint32_t code, int first)
{
#if defined(__AVX2__)
    const mf_grid_ints lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
    mf_grid_ints codes = (mf_grid_ints)_mm256_set1_epi32((int)code);
    mf_grid_ints shifted = codes >> (lane + first) * width;

    return (mf_grid_floats)_mm256_permutevar8x32_ps(_mm256_loadu_ps(levels->of),
                                                    (__m256i)shifted);
#else
    /* Each bit adds its own share; all three together add the rest. */
    int32_t zero = (int32_t)levels->of[0], one = (int32_t)levels->of[1] - zero;
    int32_t two = (int32_t)levels->of[2] - zero;
    int32_t four = (int32_t)levels->of[4] - zero;
    int32_t rest = (int32_t)levels->of[7] - (zero + one + two + four);
    mf_grid_ints bit_0 = mf_grid_bits(code, first, width, 0);
    mf_grid_ints bit_1 = mf_grid_bits(code, first, width, 1);
    mf_grid_ints number = zero + (bit_0 & one) + (bit_1 & two);

    if (width == 3) {
        mf_grid_ints bit_2 = mf_grid_bits(code, first, width, 2);

        number += (bit_2 & four) + (bit_0 & bit_1 & bit_2 & rest);
    }
    return mf_lanes_of(number);
#endif
}

/* Signs: bit i is set where number i is negative. */
static inline mf_grid_floats mf_grid_signed(mf_grid_floats lanes,
                                            uint32_t signs, int first)
{
    mf_ints set = mf_ints_of_bits(signs, first) & (int32_t)0x80000000;
#if MF_LANES == 16
    mf_grid_ints minus = (mf_grid_ints)_mm512_castsi512_si256((__m512i)set);
#else
    mf_grid_ints minus = set;
#endif

    return (mf_grid_floats)((mf_grid_ints)lanes ^ minus);
}

/* Seven signs are stored; the eighth makes the number of set ones even. */
static inline uint32_t mf_grid_eight_signs(uint32_t seven)
{
    uint32_t fold = (seven ^ seven >> 4) & 15;

    return seven | (UINT32_C(0x6996) >> fold & 1) << 7;
}

/* Eight numbers of a code, times the scale. */
static inline void mf_grid_decode(const struct mf_grid_levels *levels,
                                  int width, uint32_t code, uint32_t signs,
                                  float scale, float *out)
{
    for (int i = 0; i < 8; i += MF_GRID_LANES) {
        mf_grid_floats numbers = mf_grid_pick(levels, width, code, i);

        numbers = mf_grid_signed(numbers * scale, signs, i);
        memcpy(out + i, &numbers, sizeof(numbers));
    }
}

/* What eight numbers of a block are made of. */
struct mf_grid_eight {
    uint32_t code, signs;
    float scale;
};

/* The decoder of a file that defines `levels` and `eight`, which finds the i-th
 * eight numbers of a block: blocks of 256, so many bytes, which begin with
 * their scale; width bits of a code make a number.  A macro, since the compiler
 * does not see through a pointer to eight: that took four times as long. */
#define MF_GRID_DECODE(bytes, width)                                           \
    static void decode(const uint8_t *restrict blocks, float *restrict out,    \
                       size_t columns)                                         \
    {                                                                          \
        for (; columns > 0; columns -= 256, blocks += (bytes)) {               \
            float scale = mf_load_scale(blocks);                               \
                                                                               \
            for (size_t i = 0; i < 32; i++, out += 8) {                        \
                struct mf_grid_eight one = eight(blocks, i, scale);            \
                                                                               \
                mf_grid_decode(&levels, width, one.code, one.signs, one.scale, \
                               out);                                           \
            }                                                                  \
        }                                                                      \
    }

#endif
