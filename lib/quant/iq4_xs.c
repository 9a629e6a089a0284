/* SPDX-License-Identifier: MIT
 *
 * iq4_xs.c - IQ4_XS: eight blocks of 32 codes of 4 bits for numbers of a table
 *
 * A super-block: a half, then what each block multiplies that by, less 32: the
 * upper two bits of all in a word of 16 bits, the lower four in 4 bytes, an
 * even block's below; then 16 bytes of codes for each block, as in nibbles.h.
 */
#include "lib/quant/iq4.h"
#include "lib/quant/quant.h"

enum { HIGH = 2, LOW = 4, CODES = 8, BLOCK = 136 };

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK) {
        float unit = mf_load_scale(blocks);
        int high = mf_little_16(blocks + HIGH);

        for (int i = 0; i < 8; i++, out += 32) {
            int low = blocks[LOW + i / 2] >> 4 * (i % 2) & 15;
            int multiple = (low | (high >> 2 * i & 3) << 4) - 32;

            mf_iq4_decode(blocks + CODES + 16 * i, unit * (float)multiple, out);
        }
    }
}

/* Super-block number i of the batch. */
static void write_block(const struct mf_batch *batch, size_t i, uint8_t *out)
{
    const float *scale = batch->scale + 8 * i;
    float most = 0.0f, farthest = 0.0f, unit, inverse;
    unsigned high = 0;

    for (int j = 0; j < 8; j++)
        if (fabsf(scale[j]) > most) {
            most = fabsf(scale[j]);
            farthest = scale[j];
        }
    unit = -farthest / 32;
    inverse = unit != 0 ? 1 / unit : 0.0f;
    memset(out, 0, CODES);
    mf_store_scale(out, unit);
    for (unsigned j = 0; j < 8; j++) {
        int32_t multiple = mf_k_round(inverse * scale[j]);
        float product;
        unsigned code;

        multiple = multiple < -32 ? -32 : multiple > 31 ? 31 : multiple;
        product = unit * (float)multiple;
        mf_iq4_write_codes(batch->row + MF_K * i + 32 * j,
                           product != 0 ? 1 / product : 0.0f,
                           out + CODES + 16 * j);
        code = (unsigned)(multiple + 32);
        out[LOW + j / 2] |= (uint8_t)((code & 15) << 4 * (j % 2));
        high |= code >> 4 << 2 * j;
    }
    mf_put_little_16(out + HIGH, (uint16_t)high);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    struct mf_batch batch;

    mf_batch_begin(&batch, row, weights, MF_IQ4_SIZE, 8);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_LANES);
        if (weights)
            mf_batch_square_sums(&batch);
        for (size_t i = 0; weights && i < batch.count; i++)
            batch.variance[i] *= 2.0f / MF_K;
        for (size_t i = 0; i < 8 * batch.count; i += MF_ABREAST)
            mf_iq4_search(&batch, i);
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK)
            write_block(&batch, i, blocks);
    }
}

const struct mf_codec MF_CODEC(iq4_xs) = { .decode = decode,
                                           .encode = MF_ENCODER(encode) };
