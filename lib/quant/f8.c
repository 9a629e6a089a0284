/* SPDX-License-Identifier: MIT
 *
 * f8.c - floats of 8 bits
 *
 * f8_eEmM has E bits of exponent and M below.
 */
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

/* A bias of 7, and no infinities. */
static void f8_e4m3_decode(const uint8_t *restrict blocks, float *restrict out,
                           size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        uint32_t code = blocks[i];
        uint32_t nan = (code & 0x7f) == 0x7f ? 0x7fc00000 : 0;

        out[i] =
            mf_float_of_bits(mf_float_bits(mf_small_float(code, 3, 7)) | nan);
    }
}

const struct mf_codec MF_CODEC(f8_e4m3) = { .decode = f8_e4m3_decode };

/* The upper byte of a half. */
static void f8_e5m2_decode(const uint8_t *restrict blocks, float *restrict out,
                           size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        out[i] = mf_half_to_float((uint16_t)(blocks[i] << 8));
}

const struct mf_codec MF_CODEC(f8_e5m2) = { .decode = f8_e5m2_decode };

/* Powers of two: an exponent with bias 127, and nothing else. */
static void f8_e8m0_decode(const uint8_t *restrict blocks, float *restrict out,
                           size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        /* 2^-127 is subnormal; 255 is NaN. */
        uint32_t bits = blocks[i] == 0     ? 0x00400000
                        : blocks[i] == 255 ? 0x7fc00000
                                           : (uint32_t)blocks[i] << 23;

        out[i] = mf_float_of_bits(bits);
    }
}

const struct mf_codec MF_CODEC(f8_e8m0) = { .decode = f8_e8m0_decode };

/* No infinities and no negative zero: its code is the one NaN.  These types
 * differ in their widths alone. */
#define FNUZ_CODEC(name, below, bias)                                          \
    static void name##_decode(const uint8_t *restrict blocks,                  \
                              float *restrict out, size_t columns)             \
    {                                                                          \
        for (size_t i = 0; i < columns; i++) {                                 \
            float value = mf_small_float(blocks[i], below, bias);              \
            uint32_t nan = blocks[i] == 0x80 ? 0x7fc00000 : 0;                 \
                                                                               \
            out[i] = mf_float_of_bits(mf_float_bits(value) | nan);             \
        }                                                                      \
    }                                                                          \
                                                                               \
    const struct mf_codec MF_CODEC(name) = { .decode = name##_decode }

FNUZ_CODEC(f8_e4m3fnuz, 3, 8);
FNUZ_CODEC(f8_e5m2fnuz, 2, 16);
