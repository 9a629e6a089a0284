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

static int multiple_of(const uint8_t *block, int i)
{
    int low = block[LOW + i / 2] >> 4 * (i % 2) & 15;
    int high = mf_little_16(block + HIGH) >> 2 * i & 3;

    return (low | high << 4) - 32;
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK) {
        float unit = mf_load_scale(blocks);

        for (int i = 0; i < 8; i++, out += 32)
            mf_iq4_decode(blocks + CODES + 16 * i,
                          unit * (float)multiple_of(blocks, i), out);
    }
}

/* What blocks multiply the half by, plus 32. */
static void write_multiples(const uint8_t multiple[8], uint8_t *out)
{
    unsigned high = 0;

    memset(out + LOW, 0, CODES - LOW);
    for (unsigned i = 0; i < 8; i++) {
        out[LOW + i / 2] |= (uint8_t)((multiple[i] & 15) << 4 * (i % 2));
        high |= (unsigned)multiple[i] >> 4 << 2 * i;
    }
    mf_put_little_16(out + HIGH, (uint16_t)high);
}

/* Super-block number i of the batch. */
static void write_block(const struct mf_batch *batch, size_t i, uint8_t *out)
{
    const float *scale = batch->scale + 8 * i;
    float most = 0.0f, farthest = 0.0f, unit, inverse;
    uint8_t code[8];

    for (int j = 0; j < 8; j++)
        if (fabsf(scale[j]) > most) {
            most = fabsf(scale[j]);
            farthest = scale[j];
        }
    unit = -farthest / 32;
    inverse = unit != 0 ? 1 / unit : 0.0f;
    mf_store_scale(out, unit);
    for (unsigned j = 0; j < 8; j++) {
        int32_t multiple = mf_k_round(inverse * scale[j]);
        float product;

        multiple = multiple < -32 ? -32 : multiple > 31 ? 31 : multiple;
        product = unit * (float)multiple;
        mf_iq4_write_codes(batch->row + MF_K * i + 32 * j,
                           product != 0 ? 1 / product : 0.0f,
                           out + CODES + 16 * j);
        code[j] = (uint8_t)(multiple + 32);
    }
    write_multiples(code, out);
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

static void load(const uint8_t *block, struct mf_parts *parts)
{
    parts->unit[0] = mf_load_scale(block);
    parts->unit[1] = 0.0f;
    for (int i = 0; i < 8; i++) {
        parts->multiple[0][i] = (float)multiple_of(block, i);
        parts->multiple[1][i] = 0.0f;
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    uint8_t multiple[8];

    mf_store_scale(block, parts->unit[0]);
    for (size_t i = 0; i < 8; i++)
        multiple[i] = (uint8_t)(parts->multiple[0][i] + 32.0f);
    write_multiples(multiple, block);
    for (size_t i = 0; i < MF_K; i += 32)
        for (size_t j = 0; j < 16; j++)
            block[CODES + i / 2 + j] =
                (uint8_t)(parts->code[i + j] | parts->code[i + j + 16] << 4);
}

static const mf_depths depths = MF_DEPTHS_ALIKE({ .scales = 12,
                                                  .minimums = 1,
                                                  .units = 1,
                                                  .rounds = 1,
                                                  .near = 1,
                                                  .scale = 700,
                                                  .scale_step = 40 },
                                                { .scales = 16,
                                                  .minimums = 1,
                                                  .units = 3,
                                                  .rounds = 1,
                                                  .near = 1,
                                                  .scale = 700,
                                                  .scale_step = 30,
                                                  .unit_step = 30 },
                                                { .scales = 60,
                                                  .minimums = 1,
                                                  .units = 12,
                                                  .rounds = 2,
                                                  .near = 2,
                                                  .scale = 650,
                                                  .scale_step = 8,
                                                  .unit_step = 10 });

static const struct mf_makeup makeup = {
    .bytes = BLOCK,
    .block_size = MF_IQ4_SIZE,
    .block_count = 8,
    .numbers = MF_NUMBERS_TABLE,
    .low = -127,
    .high = 113,
    .least = -32,
    .most = 31,
    .load = load,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(iq4_xs) = { .decode = decode,
                                           .encode = MF_ENCODER(encode),
                                           MF_MAKEUP(makeup) };
