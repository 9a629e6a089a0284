/* SPDX-License-Identifier: MIT
 *
 * q1_0.c - 128 numbers that are -1 or 1, and a scale
 *
 * half scale, uint8 eight[16]: number i is 1 where bit i % 8 of byte i / 8 is
 * set; number * scale.
 */
#include "lib/quant/fp16.h"
#include "lib/quant/lanes.h"
#include "lib/quant/quant.h"

#define BLOCK   128
#define BYTES   18
#define ABREAST 8

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns > 0; columns -= BLOCK, blocks += BYTES) {
        mf_ints minus = (mf_ints)mf_lanes_all(-mf_load_scale(blocks));

        for (size_t i = 0; i < BLOCK / 8; i++)
            for (int bit = 0; bit < 8; bit += MF_LANES, out += MF_LANES) {
                mf_ints set = mf_ints_of_bits(blocks[2 + i], bit);

                mf_lanes_store(
                    out, (mf_floats)(minus ^ (set & (int32_t)0x80000000)));
            }
    }
}

/* The sums of the magnitudes of blocks, each in the order of its columns.  Of
 * one block each addition would wait for the last; so several are abreast. */
static void add_magnitudes(const float *row, size_t count, float *sums)
{
    for (size_t block = 0; block < ABREAST; block++)
        sums[block] = 0;
    if (count == ABREAST) {
        for (size_t i = 0; i < BLOCK; i++)
            for (size_t block = 0; block < ABREAST; block++)
                sums[block] += mf_float_of_bits(
                    0x7fffffff & mf_float_bits(row[block * BLOCK + i]));
        return;
    }
    for (size_t block = 0; block < count; block++)
        for (size_t i = 0; i < BLOCK; i++)
            sums[block] += mf_float_of_bits(
                0x7fffffff & mf_float_bits(row[block * BLOCK + i]));
}

static void encode_block(const float *row, uint8_t *eight)
{
    for (size_t i = 0; i < BLOCK / 8; i++) {
        uint32_t bits = 0;

        for (size_t bit = 0; bit < 8; bit += MF_LANES, row += MF_LANES)
            bits |= mf_lanes_signs(mf_lanes_load(row) >= 0) << bit;
        eight[i] = (uint8_t)bits;
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    for (size_t left = columns / BLOCK, count; left > 0; left -= count) {
        float sums[ABREAST];

        count = left < ABREAST ? left : ABREAST;
        add_magnitudes(row, count, sums);
        for (size_t i = 0; i < count; i++, row += BLOCK, blocks += BYTES) {
            mf_store_scale(blocks, sums[i] / BLOCK);
            encode_block(row, blocks + 2);
        }
    }
}

static const struct mf_makeup makeup = MF_KEPT_MAKEUP(BYTES, BLOCK, 0);

const struct mf_codec MF_CODEC(q1_0) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
