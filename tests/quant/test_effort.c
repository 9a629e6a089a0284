/* SPDX-License-Identifier: MIT
 *
 * test_effort.c - searches for better blocks: never worse than the reference's,
 * better by as much as is promised, the same on every instruction set
 */
#include "tests/quant/inputs.h"
#include "tests/quant/quant.h"

#define COLUMNS 1536 /* a multiple of every block */

/* Of a block, added up in the order of columns: not as the search does it. */
static double error_of(const float *row, const float *weights,
                       const float *decoded, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double off = (double)row[i] - (double)decoded[i];

        sum += off * off * (weights ? (double)weights[i] : 1);
    }
    return sum;
}

static void fill(float *row, float *weights, float (*input)(void))
{
    for (size_t i = 0; i < COLUMNS; i++) {
        row[i] = input();
        weights[i] = fabsf(near_normal());
    }
}

/* ---- never worse ---- */

/* A block whose error is not a number stays the reference's. */
static void compare_blocks(enum mf_type type, const float *row,
                           const float *weights, const uint8_t *before,
                           const uint8_t *after, const struct mf_codec *codec)
{
    static float old[COLUMNS], new[COLUMNS];
    size_t block = mf_types[type].block, bytes = mf_types[type].bytes;

    codec->decode(before, old, COLUMNS);
    codec->decode(after, new, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i += block) {
        const float *w = weights ? weights + i : NULL;
        double was = error_of(row + i, w, old + i, block);
        double is = error_of(row + i, w, new + i, block);
        size_t at = i / block * bytes;

        if (!(is <= was) && memcmp(before + at, after + at, bytes) != 0)
            fail_msg("%s: block %zu errs by %a, and by %a before",
                     mf_types[type].name, i / block, is, was);
    }
}

/* Bytes that stand after the blocks. */
#define GUARD 64

static void check_further(enum mf_type type, const struct mf_codec *portable,
                          const struct mf_codec *codec, int effort,
                          float (*input)(void), bool weighted)
{
    static float row[COLUMNS], weights[COLUMNS];
    static uint8_t before[8 * COLUMNS], expected[8 * COLUMNS], got[8 * COLUMNS];
    const float *given = weighted ? weights : NULL;
    size_t size = quant_row_size(type, COLUMNS);

    fill(row, weights, input);
    memset(before, 0x55, size + GUARD);
    if (!quant_encode(portable, row, given, before, COLUMNS))
        return;
    memcpy(expected, before, size + GUARD);
    memcpy(got, before, size + GUARD);
    portable->further(portable, portable->makeup, effort, row, given, expected,
                      COLUMNS);
    codec->further(codec, portable->makeup, effort, row, given, got, COLUMNS);
    if (memcmp(expected, got, size + GUARD) != 0)
        fail_msg("%s: instruction sets differ", mf_types[type].name);
    compare_blocks(type, row, given, before, got, codec);
    assert_memory_equal(before + size, got + size, GUARD);
}

/* What a model has: rows of much the same size, a few numbers far away. */
static float far_away(void)
{
    return near_normal() * (next_noise() % 64 == 0 ? 30.0f : 1.0f);
}

static float same_again(void)
{
    return -0.125f;
}

static float not_below_0(void)
{
    return fabsf(near_normal());
}

static void check_type(enum mf_type type, const struct mf_codec *portable,
                       const struct mf_codec *codec)
{
    static float (*const more[])(void) = { far_away, same_again, not_below_0 };

    if (!codec->further)
        return;
    for (int effort = MF_EFFORT_LEAST + 1; effort <= MF_EFFORT_MOST; effort++)
        for (int weighted = 0; weighted < 2; weighted++) {
            for (size_t i = 0; i < INPUTS; i++)
                check_further(type, portable, codec, effort, inputs[i],
                              weighted);
            for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
                check_further(type, portable, codec, effort, more[i], weighted);
        }
}

static void no_block_is_worse(void **state)
{
    (void)state;
    each_codec(check_type);
}

/* A row is searched in batches: where it ends says nothing about its blocks. */
static void check_ends(enum mf_type type, const struct mf_codec *portable,
                       const struct mf_codec *codec)
{
    static float row[COLUMNS], weights[COLUMNS];
    static uint8_t all[8 * COLUMNS], part[8 * COLUMNS];
    size_t block = mf_types[type].block, bytes = mf_types[type].bytes;

    if (!codec->further || !codec->encode)
        return;
    fill(row, weights, near_normal);
    codec->encode(row, NULL, all, COLUMNS);
    for (size_t i = 1; i * block <= COLUMNS && i < 36; i++) {
        memcpy(part, all, i * bytes);
        codec->further(codec, portable->makeup, 2, row, NULL, part, i * block);
        if (i > 1) /* the blocks before are the same as with one less */
            assert_memory_equal(part, part + 4 * COLUMNS, (i - 1) * bytes);
        memcpy(part + 4 * COLUMNS, part, i * bytes);
    }
}

static void every_number_of_blocks_is_searched(void **state)
{
    (void)state;
    each_codec(check_ends);
}

/* ---- better ---- */

/* By how many percent errors of effort 3 are lower at least, on normal numbers,
 * without weights and with them. */
static const struct gain {
    enum mf_type type;
    double plain, weighted;
} gains[] = {
    { MF_TYPE_Q4_0, 6, 3 },   { MF_TYPE_Q4_1, 8, 3 },
    { MF_TYPE_Q5_0, 6, 4 },   { MF_TYPE_Q5_1, 4, 4 },
    { MF_TYPE_Q8_0, 4, 4 },   { MF_TYPE_IQ4_NL, 6, 6 },
    { MF_TYPE_IQ4_XS, 6, 6 }, { MF_TYPE_Q2_K, 15, 5 },
    { MF_TYPE_Q3_K, 8, 3 },   { MF_TYPE_Q4_K, 5, 6 },
    { MF_TYPE_Q5_K, 10, 12 }, { MF_TYPE_Q6_K, 11, 12 },
};

enum { ROWS = 40 };

static double gain_of(enum mf_type type, bool weighted)
{
    static float row[COLUMNS], weights[COLUMNS], decoded[COLUMNS];
    static uint8_t blocks[8 * COLUMNS];
    const struct mf_isa *isa = mf_isas;
    const struct mf_codec *codec;
    const float *given = weighted ? weights : NULL;
    double before = 0, after = 0;

    while (isa[1].name && mf_isa_runs(isa + 1))
        isa++;
    codec = mf_codec_of(isa, type);
    for (int i = 0; i < ROWS; i++) {
        fill(row, weights, near_normal);
        for (size_t j = 0; j < COLUMNS; j++)
            weights[j] = expf(2 * near_normal());
        codec->encode(row, given, blocks, COLUMNS);
        codec->decode(blocks, decoded, COLUMNS);
        before += error_of(row, given, decoded, COLUMNS);
        codec->further(codec, mf_codec_of(mf_isas, type)->makeup, 3, row, given,
                       blocks, COLUMNS);
        codec->decode(blocks, decoded, COLUMNS);
        after += error_of(row, given, decoded, COLUMNS);
    }
    return 100 * (1 - after / before);
}

static void errors_are_lower(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(gains) / sizeof(*gains); i++) {
        const struct gain *gain = &gains[i];
        double plain = gain_of(gain->type, false);
        double weighted = gain_of(gain->type, true);

        printf("# %s %.2f %.2f\n", mf_types[gain->type].name, plain, weighted);
        if (plain < gain->plain || weighted < gain->weighted)
            fail_msg("%s: %.2f %% and, with weights, %.2f %%",
                     mf_types[gain->type].name, plain, weighted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_block_is_worse),
        cmocka_unit_test(every_number_of_blocks_is_searched),
        cmocka_unit_test(errors_are_lower),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    say_what_runs();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
