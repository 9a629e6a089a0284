/* SPDX-License-Identifier: MIT
 *
 * tq2_0.c - 256 numbers that are -1, 0 or 1, of 2 bits, and a scale
 *
 * uint8 four[64], half scale.  Of each half of a block, which is 128 numbers in
 * 32 bytes, number i is in byte i % 32, at bits 2 * (i / 32);
 * (number - 1) * scale.
 */
#include "lib/quant/quant.h"
#include "lib/quant/ternary.h"

#define BLOCK 256
#define BYTES 66
#define SCALE 64

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks + SCALE);

        for (size_t half = 0; half < 64; half += 32, out += 128)
            for (size_t i = 0; i < 32; i += MF_LANES) {
                mf_ints four = mf_ints_of_u8(blocks + half + i);

                for (size_t k = 0; k < 4; k++)
                    mf_lanes_store(out + 32 * k + i,
                                   mf_lanes_of((four >> (int)(2 * k) & 3) - 1) *
                                       scale);
            }
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_largest(row, BLOCK);
        float inverse = mf_inverse(scale);

        mf_store_scale(blocks + SCALE, scale);
        for (size_t at = 0; at < 64; at += 16) {
            mf_ints four[16 / MF_LANES];
            /* At 0 and 16 of the first half, and of the second. */
            const float *from = row + at / 32 * 128 + at % 32;

            for (size_t i = 0; i < 16 / MF_LANES; i++) {
                four[i] = mf_ints_all(0);
                for (size_t k = 0; k < 4; k++)
                    four[i] |=
                        mf_ternary(mf_lanes_load(from + 32 * k + i * MF_LANES),
                                   inverse)
                        << (int)(2 * k);
            }
            mf_u8_of_ints(four, blocks + at);
        }
        row += BLOCK;
    }
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, SCALE);

const struct mf_codec MF_CODEC(tq2_0) = { .decode = decode,
                                          .encode = MF_ENCODER(encode),
                                          MF_MAKEUP(makeup) };
