/* SPDX-License-Identifier: MIT
 *
 * number.h - numbers that C has a type for
 */
#ifndef MF_LIB_QUANT_NUMBER_H
#define MF_LIB_QUANT_NUMBER_H

#include <string.h>

/* Rounded to the nearest float. */
#define MF_DECODE_NUMBERS(type)                                                \
    static void decode(const uint8_t *restrict blocks, float *restrict out,    \
                       size_t columns)                                         \
    {                                                                          \
        for (size_t i = 0; i < columns; i++) {                                 \
            type number;                                                       \
                                                                               \
            memcpy(&number, blocks + i * sizeof(number), sizeof(number));      \
            out[i] = (float)number;                                            \
        }                                                                      \
    }

#endif
