/* SPDX-License-Identifier: MIT
 *
 * q4_k.c - Q4_K: eight blocks of 32 codes of 4 bits
 *
 * A super-block: a half for scales, a half for minimums, 12 bytes of these (see
 * k6bit.h), 128 bytes of codes: those of an even block in the lower halves of
 * 32 bytes, those of the next in the upper ones.
 */
#include "lib/quant/k6bit.h"
#include "lib/quant/kaffine.h"
#include "lib/quant/quant.h"

enum { MULTIPLES = 4, CODES = 16, BLOCK = 144 };

static const struct mf_k_affine how = {
    .mean = true,
    .importance = 2.0f,
    .plain = { 15.0f, -1.0f, 0.1f, 21, false },
    .weighted = { 15.0f, -0.9f, 0.05f, 37, false },
};

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK) {
        const uint8_t *code = blocks + CODES;
        float scale[8], minimum[8];

        mf_6bit_numbers(blocks, blocks + MULTIPLES, scale, minimum);
        for (int i = 0; i < 8; i += 2, code += 32, out += 64)
            for (int j = 0; j < 32; j += MF_LANES) {
                mf_ints both = mf_ints_of_u8(code + j);
                mf_floats low = mf_lanes_of(both & 15);
                mf_floats high = mf_lanes_of(both >> 4);

                mf_lanes_store(out + j, scale[i] * low - minimum[i]);
                mf_lanes_store(out + 32 + j,
                               scale[i + 1] * high - minimum[i + 1]);
            }
    }
}

/* Super-block number i of the batch. */
static void write_block(const struct mf_k_batch *batch, size_t i,
                        const struct mf_k_multiples *found, uint8_t *out)
{
    float scale[8], minimum[8];
    uint8_t code[MF_K];

    mf_store_scale(out, mf_one_nan(found->unit[i]));
    mf_store_scale(out + 2, mf_one_nan(found->unit[MF_LANES + i]));
    mf_6bit_store(out + MULTIPLES, found->code[i], found->code[MF_LANES + i]);
    mf_6bit_numbers(out, out + MULTIPLES, scale, minimum);
    for (size_t j = 0; j < 8; j++)
        mf_k_affine_codes(batch, 8 * i + j, scale[j], minimum[j], 15.0f,
                          code + 32 * j);
    for (size_t j = 0; j < MF_K; j += 64)
        for (size_t k = 0; k < 32; k++)
            out[CODES + j / 2 + k] =
                (uint8_t)(code[j + k] | code[j + k + 32] << 4);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    struct mf_k_batch batch;
    struct mf_k_multiples found;

    mf_k_begin(&batch, row, weights, 32);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_k_advance(&batch, left, MF_LANES);
        mf_k_affine_search(&how, &batch);
        if (weights)
            mf_k_fit_multiples(&batch, 63.0f, &found);
        else
            mf_k_plain_multiples(&batch, 63.0f, 63, &found);
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK)
            write_block(&batch, i, &found, blocks);
    }
}

const struct mf_codec MF_CODEC(q4_k) = { decode, encode };
