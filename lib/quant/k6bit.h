/* SPDX-License-Identifier: MIT
 *
 * k6bit.h - eight scales and eight minimums of six bits each, in 12 bytes
 *
 * What Q4_K and Q5_K share.  Bytes 0 to 3 hold scales 0 to 3, bytes 4 to 7
 * minimums 0 to 3; the upper two bits of each are those of number 4 to 7.  The
 * lower four of these are in bytes 8 to 11: below a scale's, above a minimum's.
 */
#ifndef MF_LIB_QUANT_K6BIT_H
#define MF_LIB_QUANT_K6BIT_H

#include "lib/quant/fp16.h"

static inline void mf_6bit_store(uint8_t *at, const uint8_t scale[8],
                                 const uint8_t minimum[8])
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(scale[i] | scale[i + 4] >> 4 << 6);
        at[i + 4] = (uint8_t)(minimum[i] | minimum[i + 4] >> 4 << 6);
        at[i + 8] = (uint8_t)((scale[i + 4] & 15) | minimum[i + 4] << 4);
    }
}

/* Times the two halves at units: what they stand for. */
static inline void mf_6bit_numbers(const uint8_t *units, const uint8_t *at,
                                   float scale[8], float minimum[8])
{
    float d = mf_load_scale(units), m = mf_load_scale(units + 2);

    for (int i = 0; i < 4; i++) {
        scale[i] = d * (float)(at[i] & 63);
        scale[i + 4] = d * (float)((at[i + 8] & 15) | at[i] >> 6 << 4);
        minimum[i] = m * (float)(at[i + 4] & 63);
        minimum[i + 4] = m * (float)(at[i + 8] >> 4 | at[i + 4] >> 6 << 4);
    }
}

#endif
