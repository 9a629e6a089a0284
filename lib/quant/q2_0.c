/* SPDX-License-Identifier: MIT
 *
 * q2_0.c - 64 numbers that are -1, 0 or 1 (or 2), of 2 bits, and a scale
 *
 * half scale, uint8 four[16]: number i is in byte i / 4, at bits 2 * (i % 4);
 * (number - 1) * scale.  What encodes makes no 2.
 */
#include "lib/quant/quant.h"
#include "lib/quant/ternary.h"

#define BLOCK 64
#define BYTES 18

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, out += BLOCK) {
        float scale = mf_load_scale(blocks);
        uint32_t words[BLOCK / 4]; /* of four numbers, a byte each */
        uint8_t numbers[BLOCK];

        for (size_t i = 0; i < BLOCK / 4; i++) {
            uint32_t four = blocks[2 + i];

            words[i] = mf_order_32(
                (four | four << 6 | four << 12 | four << 18) & 0x03030303);
        }
        memcpy(numbers, words, BLOCK);
        for (size_t i = 0; i < BLOCK; i += MF_LANES)
            mf_lanes_store(out + i,
                           mf_lanes_of(mf_ints_of_u8(numbers + i) - 1) * scale);
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (; columns > 0; columns -= BLOCK, blocks += BYTES, row += BLOCK) {
        float scale = mf_largest(row, BLOCK);
        float inverse = mf_inverse(scale);
        mf_ints numbers[BLOCK / MF_LANES];
        uint8_t bytes[BLOCK];
        uint32_t words[BLOCK / 4];

        mf_store_scale(blocks, scale);
        for (size_t i = 0; i < BLOCK / MF_LANES; i++)
            numbers[i] = mf_ternary(mf_lanes_load(row + i * MF_LANES), inverse);
        for (size_t i = 0; i < BLOCK; i += 16)
            mf_u8_of_ints(numbers + i / MF_LANES, bytes + i);
        memcpy(words, bytes, BLOCK);
        for (size_t i = 0; i < BLOCK / 4; i++) {
            uint32_t four = mf_order_32(words[i]);

            blocks[2 + i] =
                (uint8_t)(four | four >> 6 | four >> 12 | four >> 18);
        }
    }
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, 0);

const struct mf_codec MF_CODEC(q2_0) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
