/* SPDX-License-Identifier: MIT
 *
 * q3_k.c - Q3_K: sixteen blocks of 16 codes of 3 bits
 *
 * A super-block: 32 bytes of third bits, where bit i of byte j belongs to code
 * 32 * i + j; 64 bytes with the other two (mf_k_write_2bit); 12 bytes with what
 * each block multiplies a half by, less 32; that half.  Of the 12 bytes, 0 to 7
 * have the lower four bits, those of block i + 8 above those of block i; bytes
 * 8 to 11 have the upper two, those of block i, i + 4, i + 8 and i + 12 going
 * up.
 */
#include "lib/quant/kscale.h"
#include "lib/quant/quant.h"
#include "lib/quant/refine.h"

enum { LOW = 32, MULTIPLES = 96, UNIT = 108, BLOCK = 110 };

/* ---- layout */

/* Four bytes at once: what moves bits keeps those of each apart. */
static inline uint32_t load_four(const uint8_t *at)
{
    uint32_t four;

    memcpy(&four, at, sizeof(four));
    return four;
}

static inline void store_four(uint8_t *at, uint32_t four)
{
    memcpy(at, &four, sizeof(four));
}

static void read_multiples(const uint8_t *at, uint8_t multiple[16])
{
    for (int i = 0; i < 4; i++) {
        uint32_t low = load_four(at + 4 * (i % 2)) >> 4 * (i / 2);
        uint32_t high = load_four(at + 8) >> 2 * i;

        store_four(multiple + 4 * i, (low & 0x0f0f0f0f) | (high & 0x03030303)
                                                              << 4);
    }
}

static void write_multiples(const uint8_t multiple[16], uint8_t *at)
{
    uint32_t high = 0;

    for (int i = 0; i < 2; i++)
        store_four(at + 4 * i,
                   (load_four(multiple + 4 * i) & 0x0f0f0f0f) |
                       (load_four(multiple + 8 + 4 * i) & 0x0f0f0f0f) << 4);
    for (int i = 0; i < 4; i++)
        high |= (load_four(multiple + 4 * i) >> 4 & 0x03030303) << 2 * i;
    store_four(at + 8, high);
}

static void block_scales(const uint8_t *block, float scale[16])
{
    mf_floats unit = mf_lanes_all(mf_load_scale(block + UNIT));
    uint8_t multiple[16];

    read_multiples(block + MULTIPLES, multiple);
    for (size_t i = 0; i < 16; i += MF_LANES)
        mf_lanes_store(scale + i,
                       unit * mf_lanes_of(mf_ints_of_u8(multiple + i) - 32));
}

static void decode_part(const uint8_t *low, const uint8_t *high, int shift,
                        const float scale[8], float *out)
{
    for (size_t i = 0; i < 32; i += MF_LANES) {
        mf_ints bits = mf_ints_of_u8(low + i);
        mf_ints third = mf_ints_of_u8(high + i) >> shift;

        for (size_t j = 0; j < 4; j++, bits >>= 2, third >>= 1) {
            mf_ints code = (bits & 3) | (third & 1) << 2;

            mf_lanes_store(out + 32 * j + i,
                           scale[2 * j + i / 16] * mf_lanes_of(code - 4));
        }
    }
}

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    for (; columns; columns -= MF_K, blocks += BLOCK, out += MF_K) {
        float scale[16];

        block_scales(blocks, scale);
        decode_part(blocks + LOW, blocks, 0, scale, out);
        decode_part(blocks + LOW + 32, blocks, 4, scale + 8, out + 128);
    }
}

static void write_codes(const uint8_t code[MF_K], uint8_t *out)
{
    mf_k_write_2bit(code, out + LOW);
    for (size_t j = 0; j < 32; j += sizeof(uint64_t)) {
        uint64_t third = 0;

        for (size_t i = 0; i < 8; i++) {
            uint64_t eight;

            memcpy(&eight, code + 32 * i + j, sizeof(eight));
            third |= (eight >> 2 & 0x0101010101010101) << i;
        }
        memcpy(out + j, &third, sizeof(third));
    }
}

/* ---- without weights */

/* Scales become multiples, of which the one farthest from 0 is -32.  What is
 * not finite ends as the lowest byte of its rounded bits, as in the reference.
 */
static void write_plain_scales(const float scale[16], uint8_t *out)
{
    const float farthest = mf_k_farthest(scale);
    float inverse = -32.0f / farthest;
    uint8_t multiple[16] = { 0 };
    mf_ints by[16 / MF_LANES];

    for (size_t i = 0; i < 16 / MF_LANES; i++) {
        mf_floats x = inverse * mf_lanes_load(scale + i * MF_LANES);

        by[i] = (mf_ints)mf_lanes_round_any(x) << 24 >> 24;
        by[i] = mf_ints_max(by[i], mf_ints_all(-32));
        by[i] = -mf_ints_max(-by[i], mf_ints_all(-31)) + 32;
    }
    if (farthest != 0)
        mf_u8_of_ints(by, multiple);
    write_multiples(multiple, out + MULTIPLES);
    mf_store_scale(out + UNIT, farthest != 0 ? 1.0f / inverse : 0.0f);
}

static void write_plain_block(const struct mf_batch *batch, size_t i,
                              uint8_t *out)
{
    float scale[16];
    uint8_t code[MF_K];

    write_plain_scales(batch->scale + 16 * i, out);
    block_scales(out, scale);
    for (size_t j = 0; j < 16; j++)
        if (scale[j] != 0)
            mf_k_scale_codes(batch, 16 * i + j, scale[j], 4.0f, code + 16 * j);
        else
            mf_refine_codes(batch, (uint16_t)(16 * i + j), code + 16 * j);
    write_codes(code, out);
}

static void encode_plain(const float *row, uint8_t *blocks, size_t columns)
{
    struct mf_batch batch;

    mf_batch_begin(&batch, row, NULL, 16, 16);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_ABREAST);
        mf_refine_search(&batch);
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK)
            write_plain_block(&batch, i, blocks);
    }
}

/* ---- with weights */

static void search_weighted(struct mf_batch *batch)
{
    struct mf_row x[MF_K_SCALE_SIZE], weight[MF_K_SCALE_SIZE];

    mf_batch_square_sums(batch);
    for (size_t i = 0; i < batch->count; i++)
        batch->variance[i] = 2.0f * batch->variance[i] / MF_K;
    for (size_t i = 0; i < 16 * batch->count; i += MF_ABREAST) {
        struct mf_row sum = { { { 0 } } };

        mf_batch_load(batch, i, batch->row, x);
        mf_batch_weigh(batch, i, x, weight);
        for (size_t j = 0; j < MF_K_SCALE_SIZE; j++)
            for (int s = 0; s < MF_SIDES; s++)
                sum.side[s] += weight[j].side[s];
        mf_row_store(batch->weight + i, sum);
        mf_k_search_scale(batch, i, 4.0f, x, weight);
    }
}

/* Rows of a number of each block, a super-block in each lane. */
static void load_supers(const struct mf_batch *batch, const float *values,
                        struct mf_row rows[16])
{
    const float *from[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++)
        from[i] = values + 16 * (i < batch->count ? i : 0);
    mf_rows_load(rows, from, 16);
}

/* The multiples of all super-blocks, and what they are multiples of. */
static void find_multiples(const struct mf_batch *batch, float unit[MF_ABREAST],
                           uint8_t multiple[MF_ABREAST][16])
{
    struct mf_row x[16], weight[16];
    struct mf_scale search;

    load_supers(batch, batch->scale, x);
    load_supers(batch, batch->weight, weight);
    mf_scale_begin(&search, 16, 32.0f, x, weight);
    search.finite = false; /* a sum may have been too large */
    mf_scale_search(&search);
    mf_row_store(unit, search.scale);
    for (size_t i = 0; i < 16; i++) {
        float codes[MF_ABREAST];

        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats y = search.code_scale.side[s] * x[i].side[s];

            y = mf_lanes_round_any(y);
            y = mf_lanes_clamp_round(y, -32.0f, 31.0f) + 32.0f;
            mf_lanes_store(codes + s * MF_LANES,
                           mf_lanes_if_any(search.farthest.side[s], y));
        }
        for (size_t j = 0; j < MF_ABREAST; j++)
            multiple[j][i] = (uint8_t)codes[j];
    }
}

static void encode_weighted(const float *row, const float *weights,
                            uint8_t *blocks, size_t columns)
{
    struct mf_batch batch;
    uint8_t multiple[MF_ABREAST][16], code[MF_K];
    float unit[MF_ABREAST], scale[16];

    mf_batch_begin(&batch, row, weights, 16, 16);
    for (size_t left = columns / MF_K; left; left -= batch.count) {
        mf_batch_advance(&batch, left, MF_ABREAST);
        search_weighted(&batch);
        find_multiples(&batch, unit, multiple);
        for (size_t i = 0; i < batch.count; i++, blocks += BLOCK) {
            write_multiples(multiple[i], blocks + MULTIPLES);
            mf_store_scale(blocks + UNIT, mf_one_nan(unit[i]));
            block_scales(blocks, scale);
            for (size_t j = 0; j < 16; j++)
                mf_k_scale_codes(&batch, 16 * i + j, scale[j], 4.0f,
                                 code + 16 * j);
            write_codes(code, blocks);
        }
    }
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    if (weights)
        encode_weighted(row, weights, blocks, columns);
    else
        encode_plain(row, blocks, columns);
}

static void load(const uint8_t *block, struct mf_parts *parts)
{
    uint8_t multiple[16];

    read_multiples(block + MULTIPLES, multiple);
    parts->unit[0] = mf_load_scale(block + UNIT);
    parts->unit[1] = 0.0f;
    for (size_t i = 0; i < 16; i++) {
        parts->multiple[0][i] = (float)multiple[i] - 32.0f;
        parts->multiple[1][i] = 0.0f;
    }
}

static void store(const struct mf_parts *parts, uint8_t *block)
{
    uint8_t multiple[16];

    for (size_t i = 0; i < 16; i++)
        multiple[i] = (uint8_t)(parts->multiple[0][i] + 32.0f);
    write_multiples(multiple, block + MULTIPLES);
    mf_store_scale(block + UNIT, parts->unit[0]);
    write_codes(parts->code, block);
}

static const mf_depths depths = { { { .scales = 8,
                                      .minimums = 1,
                                      .units = 1,
                                      .scale = 800,
                                      .scale_step = 50 },
                                    { .scales = 12,
                                      .minimums = 1,
                                      .units = 1,
                                      .rounds = 1,
                                      .near = 1,
                                      .scale = 750,
                                      .scale_step = 35 },
                                    { .scales = 60,
                                      .minimums = 1,
                                      .units = 8,
                                      .rounds = 2,
                                      .near = 2,
                                      .scale = 600,
                                      .scale_step = 10,
                                      .unit_step = 15 } },
                                  { { .scales = 12,
                                      .minimums = 1,
                                      .units = 1,
                                      .rounds = 1,
                                      .scale = 700,
                                      .scale_step = 40 },
                                    { .scales = 16,
                                      .minimums = 1,
                                      .units = 2,
                                      .rounds = 2,
                                      .near = 1,
                                      .scale = 650,
                                      .scale_step = 30,
                                      .unit_step = 40 },
                                    { .scales = 60,
                                      .minimums = 1,
                                      .units = 8,
                                      .rounds = 2,
                                      .near = 2,
                                      .scale = 500,
                                      .scale_step = 12,
                                      .unit_step = 15 } } };

static const struct mf_makeup makeup = {
    .bytes = BLOCK,
    .block_size = MF_K_SCALE_SIZE,
    .block_count = 16,
    .numbers = MF_NUMBERS_WHOLE,
    .low = -4,
    .high = 3,
    .least = -32,
    .most = 31,
    .load = load,
    .depths = &depths,
    .store = store,
};

const struct mf_codec MF_CODEC(q3_k) = { .decode = decode,
                                         .encode = MF_ENCODER(encode),
                                         MF_MAKEUP(makeup) };
