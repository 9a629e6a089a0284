/* SPDX-License-Identifier: MIT
 *
 * number.h - numbers that C has a type for
 */
#ifndef MF_LIB_QUANT_NUMBER_H
#define MF_LIB_QUANT_NUMBER_H

#include "lib/base/little.h"

/* Rounded to the nearest float; a type of so many bits. */
#define MF_DECODE_NUMBERS(type, bits)                                          \
    static void decode(const uint8_t *restrict blocks, float *restrict out,    \
                       size_t columns)                                         \
    {                                                                          \
        for (size_t i = 0; i < columns; i++) {                                 \
            uint##bits##_t word = mf_little_##bits(blocks + i * sizeof(word)); \
            type number;                                                       \
                                                                               \
            memcpy(&number, &word, sizeof(number));                            \
            out[i] = (float)number;                                            \
        }                                                                      \
    }

#endif
