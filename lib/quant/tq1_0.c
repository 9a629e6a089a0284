/* SPDX-License-Identifier: MIT
 *
 * tq1_0.c - 256 numbers that are -1, 0 or 1, five to a byte, and a scale
 *
 * uint8 five[48], uint8 four[4], half scale.  A byte holds five ternary digits
 * as a fraction: times 3 it carries the first out, and keeps the others.  The
 * numbers stand in three parts: 160, of which byte i has i, i + 32, ...
 * i + 128; 80, of which byte 32 + i has i, i + 16, ... i + 64; and 16, four to
 * a byte.  (digit - 1) * scale.
 */
#include "lib/quant/quant.h"
#include "lib/quant/ternary.h"

#define BLOCK 256
#define BYTES 54
#define FOURS 48
#define SCALE 52

/* Digits of so many bytes; a byte's digits lie as far apart as there are
 * bytes. */
static inline void decode_part(const uint8_t *bytes, float *out, size_t count,
                               float scale)
{
    for (size_t i = 0; i < count; i += MF_LANES) {
        mf_ints rest = mf_ints_of_u8(bytes + i);

        for (size_t k = 0; k < 5; k++) {
            rest = (rest & 255) * 3;
            mf_lanes_store(out + k * count + i,
                           mf_lanes_of((rest >> 8) - 1) * scale);
        }
    }
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, out += BLOCK) {
        float scale = mf_load_scale(blocks + SCALE);

        decode_part(blocks, out, 32, scale);
        decode_part(blocks + 32, out + 160, 16, scale);
        for (size_t i = 0; i < 4; i++) {
            int32_t rest = blocks[FOURS + i];

            for (size_t k = 0; k < 4; k++) {
                rest = (rest & 255) * 3;
                out[240 + 4 * k + i] = (float)((rest >> 8) - 1) * scale;
            }
        }
    }
}

static inline void encode_part(const float *row, uint8_t *bytes, size_t count,
                               float inverse)
{
    for (size_t at = 0; at < count; at += 16) {
        mf_ints five[16 / MF_LANES];

        for (size_t i = 0; i < 16 / MF_LANES; i++) {
            five[i] = mf_ints_all(0);
            for (size_t k = 0; k < 5; k++)
                five[i] =
                    five[i] * 3 + mf_ternary(mf_lanes_load(row + k * count +
                                                           at + i * MF_LANES),
                                             inverse);
        }
        mf_u8_of_ints(five, bytes + at);
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, row += BLOCK) {
        float scale = mf_largest(row, BLOCK);
        float inverse = mf_inverse(scale);

        encode_part(row, blocks, 32, inverse);
        encode_part(row + 160, blocks + 32, 16, inverse);
        for (size_t i = 0; i < 4; i++) {
            int32_t four = 0;

            for (size_t k = 0; k < 4; k++) {
                float part = row[240 + 4 * k + i] * inverse;

                four = four * 3 + 1 + (part >= 0.5f) - (part <= -0.5f);
            }
            blocks[FOURS + i] = (uint8_t)(four * 3);
        }
        /* Five digits are 0 to 242; as a fraction of 243, rounded up. */
        for (size_t i = 0; i < SCALE; i++)
            blocks[i] = (uint8_t)((blocks[i] * 256u + 242) / 243);
        mf_store_scale(blocks + SCALE, scale);
    }
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, SCALE);

const struct mf_codec MF_CODEC(tq1_0) = { .decode = decode,
                                          .encode = MF_ENCODER(encode),
                                          MF_MAKEUP(makeup) };
