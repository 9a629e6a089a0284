/* SPDX-License-Identifier: MIT
 *
 * grid.h - eight numbers at a time from the codes of a grid, and their signs
 */
#ifndef MF_LIB_QUANT_GRID_H
#define MF_LIB_QUANT_GRID_H

#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"

/* Of the numbers first to first + MF_LANES - 1 in a code, which have their bit
 * set: numbers are so many bits wide. */
static inline mf_ints mf_grid_bits(uint32_t code, int first, int width, int bit)
{
    mf_ints probe;

    for (int i = 0; i < MF_LANES; i++)
        probe[i] = (int32_t)(UINT32_C(1) << ((first + i) * width + bit));
    return (mf_ints_all((int32_t)code) & probe) == probe;
}

/* The numbers of iq2 types: 8, 25 and 43 for 0, 1 and 2. */
static inline mf_ints mf_grid_2(uint32_t code, int first)
{
    return 8 + (mf_grid_bits(code, first, 2, 0) & 17) +
           (mf_grid_bits(code, first, 2, 1) & 35);
}

/* Signs: bit i is set where number i is negative. */
static inline mf_floats mf_grid_signed(mf_floats lanes, uint32_t signs,
                                       int first)
{
    mf_ints minus = mf_ints_of_bits(signs, first) & (int32_t)0x80000000;

    return (mf_floats)((mf_ints)lanes ^ minus);
}

/* Seven signs are stored; the eighth makes their number even. */
static inline uint32_t mf_grid_eight_signs(uint32_t seven)
{
    uint32_t fold = (seven ^ seven >> 4) & 15;

    return seven | (UINT32_C(0x6996) >> fold & 1) << 7;
}

/* Eight numbers of an iq2 type. */
static inline void mf_grid_2_decode(uint32_t code, uint32_t signs, float scale,
                                    float *out)
{
    for (int i = 0; i < 8; i += MF_LANES)
        mf_lanes_store(
            out + i,
            mf_grid_signed(mf_lanes_of(mf_grid_2(code, i)) * scale, signs, i));
}

#endif
