/* SPDX-License-Identifier: MIT
 *
 * iq1_s.c - 256 numbers of 1.56 bits: codes of a grid
 *
 * half scale, uint8 place[32], uint16 high[8].  Of each word of high, for 32
 * numbers, four times three bits belong to places, three are a part of the
 * scale, and the last is a shift's sign;
 * (number +- 1/8) * scale * (2 * part + 1).
 */
#include "lib/quant/grid_1.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 50

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            uint32_t high = mf_load_u16(blocks + 34 + i / 4 * 2);
            uint32_t place = blocks[2 + i] | (high >> i % 4 * 3 & 7) << 8;
            float part = scale * (float)(2 * (high >> 12 & 7) + 1);

            mf_grid_1_decode(place, high & 0x8000, part, out);
        }
    }
}

const struct mf_codec MF_CODEC(iq1_s) = { .decode = decode };
