/* SPDX-License-Identifier: MIT
 *
 * kblock.h - super-blocks of 256 elements, in 8 blocks of 32 or 16 of 16
 *
 * What Q2_K to Q6_K and IQ4_XS share.
 */
#ifndef MF_LIB_QUANT_KBLOCK_H
#define MF_LIB_QUANT_KBLOCK_H

#include "lib/quant/batch.h"
#include "lib/quant/fp16.h"

#define MF_K 256

/* The whole number nearest to value, as mf_lanes_round_any finds it. */
static inline int32_t mf_k_round(float value)
{
    float sum = (value == value ? value : 0.0f) + MF_ROUND;

    return (int32_t)(mf_float_bits(sum) & 0x007fffff) - 0x400000;
}

/* Codes of two bits, of which every 128 have 32 bytes: byte i holds codes i,
 * 32 + i, 64 + i and 96 + i, the first lowest. */
static inline void mf_k_write_2bit(const uint8_t code[MF_K], uint8_t *out)
{
    for (size_t i = 0; i < MF_K; i += 128, out += 32)
        for (size_t j = 0; j < 32; j++) {
            const uint8_t *c = code + i + j;

            out[j] = (uint8_t)((c[0] & 3) | (c[32] & 3) << 2 |
                               (c[64] & 3) << 4 | c[96] << 6);
        }
}

#endif
