/* SPDX-License-Identifier: MIT
 *
 * numbers.c - numbers that C has a type for, one row each
 */
#include "lib/base/little.h"
#include "lib/quant/quant.h"

/* Rounded to the nearest float; a type of so many bits. */
#define NUMBER(name, type, bits)                                               \
    static void name##_decode(const uint8_t *restrict blocks,                  \
                              float *restrict out, size_t columns)             \
    {                                                                          \
        for (size_t i = 0; i < columns; i++) {                                 \
            uint##bits##_t word = mf_little_##bits(blocks + i * sizeof(word)); \
            type number;                                                       \
                                                                               \
            memcpy(&number, &word, sizeof(number));                            \
            out[i] = (float)number;                                            \
        }                                                                      \
    }                                                                          \
                                                                               \
    const struct mf_codec MF_CODEC(name) = { .decode = name##_decode }

NUMBER(f64, double, 64);
NUMBER(i8, int8_t, 8);
NUMBER(i16, int16_t, 16);
NUMBER(i32, int32_t, 32);
NUMBER(i64, int64_t, 64);
NUMBER(u8, uint8_t, 8);
NUMBER(u16, uint16_t, 16);
NUMBER(u32, uint32_t, 32);
NUMBER(u64, uint64_t, 64);

/* Floats, as they are. */

static void f32_decode(const uint8_t *restrict blocks, float *restrict out,
                       size_t columns)
{
    memcpy(out, blocks, columns * sizeof(*out));
    mf_order_floats(out, columns);
}

static void f32_encode(const float *restrict row, const float *restrict weights,
                       uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    memcpy(blocks, row, columns * sizeof(*row));
    mf_order_floats(blocks, columns);
}

const struct mf_codec MF_CODEC(f32) = { .decode = f32_decode,
                                        .encode = MF_ENCODER(f32_encode) };
