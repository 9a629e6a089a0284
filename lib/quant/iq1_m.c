/* SPDX-License-Identifier: MIT
 *
 * iq1_m.c - 256 numbers of 1.75 bits: codes of a grid
 *
 * uint8 place[32], uint8 high[16], uint16 parts[4].  Each half of a byte of
 * high has three bits of a place and a shift's sign.  Of each word of parts the
 * four highest bits belong to the block's scale, a half, lowest first; the
 * others are four parts of the scale, for 16 numbers each;
 * (number +- 1/8) * scale * (2 * part + 1).
 */
#include "lib/quant/grid_1.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 56
#define PARTS 48

static float load_scale(const uint8_t *block)
{
    uint8_t half[2];

    half[0] = (uint8_t)(block[PARTS + 1] >> 4 | (block[PARTS + 3] & 0xf0));
    half[1] = (uint8_t)(block[PARTS + 5] >> 4 | (block[PARTS + 7] & 0xf0));
    return mf_load_scale(half);
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            uint32_t high = (uint32_t)blocks[32 + i / 2] >> i % 2 * 4;
            uint32_t parts = mf_load_u16(blocks + PARTS + i / 8 * 2);
            float part = scale * (float)(2 * (parts >> i / 2 % 4 * 3 & 7) + 1);

            mf_grid_1_decode(blocks[i] | (high & 7) << 8, high & 8, part, out);
        }
    }
}

const struct mf_codec MF_CODEC(iq1_m) = { .decode = decode };
