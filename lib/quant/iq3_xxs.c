/* SPDX-License-Identifier: MIT
 *
 * iq3_xxs.c - 256 numbers of 3.06 bits: codes of a grid
 *
 * half scale, uint8 place[64], uint32 word[8].  Two places make eight numbers;
 * a word has four times seven signs and a part of the scale for 32 numbers;
 * number * scale * (part + 0.5) / 2.
 */
#include "lib/quant/grid.h"
#include "lib/quant/quant.h"

#define BLOCK 256
#define BYTES 98

static const uint16_t grid[256] = {
#include "lib/quant/iq3_xxs.def"
};

/* 4, 12, 20, 28, 36, 44, 52 and 62 for 0 to 7. */
static void decode_8(uint32_t code, uint32_t signs, float scale, float *out)
{
    for (int i = 0; i < 8; i += MF_LANES) {
        mf_ints ones = mf_grid_bits(code, i, 3, 0);
        mf_ints twos = mf_grid_bits(code, i, 3, 1);
        mf_ints fours = mf_grid_bits(code, i, 3, 2);
        mf_ints number = 4 + (ones & 8) + (twos & 16) + (fours & 32) +
                         (ones & twos & fours & 2);

        mf_lanes_store(out + i,
                       mf_grid_signed(mf_lanes_of(number) * scale, signs, i));
    }
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        float scale = mf_load_scale(blocks);

        for (size_t i = 0; i < 32; i++, out += 8) {
            const uint8_t *places = blocks + 2 + 2 * i;
            uint32_t code = grid[places[0]] | (uint32_t)grid[places[1]] << 12;
            uint32_t word;
            float part;

            memcpy(&word, blocks + 66 + i / 4 * 4, sizeof(word));
            part = scale * (0.5f + (float)(word >> 28)) * 0.5f;
            decode_8(code, mf_grid_eight_signs(word >> i % 4 * 7 & 127), part,
                     out);
        }
    }
}

const struct mf_codec MF_CODEC(iq3_xxs) = { decode, NULL };
