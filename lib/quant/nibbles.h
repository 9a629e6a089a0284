/* SPDX-License-Identifier: MIT
 *
 * nibbles.h - 32 numbers of 4 or 5 bits, as most types have them
 *
 * Of 16 bytes number i is the low half of byte i, number i + 16 the high half.
 * Fifth bits stand in a word before them, number i's in bit i.
 */
#ifndef MF_LIB_QUANT_NIBBLES_H
#define MF_LIB_QUANT_NIBBLES_H

#include "lib/base/little.h"
#include "lib/quant/lanes.h"

#define MF_HALF_OF_32 (16 / MF_LANES) /* vectors of 16 numbers */

static inline void mf_nibbles_load(const uint8_t *at, mf_ints *numbers)
{
    for (size_t i = 0; i < MF_HALF_OF_32; i++) {
        mf_ints pair = mf_ints_of_u8(at + i * MF_LANES);

        numbers[i] = pair & 15;
        numbers[i + MF_HALF_OF_32] = pair >> 4;
    }
}

static inline void mf_nibbles_store(const mf_ints *numbers, uint8_t *at)
{
    mf_ints pairs[MF_HALF_OF_32];

    for (size_t i = 0; i < MF_HALF_OF_32; i++)
        pairs[i] = numbers[i] | numbers[i + MF_HALF_OF_32] << 4;
    mf_u8_of_ints(pairs, at);
}

static inline void mf_fives_load(const uint8_t *at, mf_ints *numbers)
{
    uint32_t fifth = mf_little_32(at);

    mf_nibbles_load(at + 4, numbers);
    for (size_t i = 0; i < 2 * MF_HALF_OF_32; i++)
        numbers[i] |= mf_ints_of_bits(fifth, (int)i * MF_LANES) & 16;
}

static inline void mf_fives_store(const mf_ints *numbers, uint8_t *at)
{
    mf_ints rest[2 * MF_HALF_OF_32];
    uint32_t fifth = 0;

    for (size_t i = 0; i < 2 * MF_HALF_OF_32; i++) {
        rest[i] = numbers[i] & 15;
        fifth |= mf_lanes_signs(numbers[i] << 27) << i * MF_LANES;
    }
    mf_put_little_32(at, fifth);
    mf_nibbles_store(rest, at + 4);
}

#endif
