/* SPDX-License-Identifier: MIT
 *
 * test_quant.c - every codec: the same bytes on every instruction set, no byte
 * outside its buffers, nothing undefined whatever the input
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <sys/mman.h>

#include "lib/check/scan.h"
#include "lib/quant/fp16.h"
#include "tests/quant/inputs.h"
#include "tests/quant/quant.h"

#define COLUMNS 4096 /* a multiple of every block */

/* ---- instruction sets ---- */

static void check_encode(enum mf_type type, const struct mf_codec *portable,
                         const struct mf_codec *codec)
{
    static float row[COLUMNS], weights[COLUMNS];
    static uint8_t expected[8 * COLUMNS], got[8 * COLUMNS];
    size_t size = quant_row_size(type, COLUMNS);

    for (size_t input = 0; mf_codec_encodes(codec) && input < 2 * INPUTS;
         input++) {
        bool refused;
        const float *given = input % 2 ? weights : NULL;

        for (size_t i = 0; i < COLUMNS; i++) {
            row[i] = inputs[input / 2]();
            weights[i] = fabsf(near_normal());
        }
        memset(expected, 0x55, sizeof(expected));
        memset(got, 0xaa, sizeof(got));
        refused = !quant_encode(portable, row, given, expected, COLUMNS);
        if (refused != !quant_encode(codec, row, given, got, COLUMNS) ||
            (!refused && memcmp(expected, got, size) != 0))
            fail_msg("%s: input %zu", mf_types[type].name, input);
    }
}

static void check_decode(enum mf_type type, const struct mf_codec *portable,
                         const struct mf_codec *codec)
{
    static uint8_t blocks[8 * COLUMNS];
    static float expected[COLUMNS], got[COLUMNS];
    size_t size = quant_row_size(type, COLUMNS);

    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < size; i++)
            blocks[i] = (uint8_t)next_noise();
        memset(expected, 0x55, sizeof(expected));
        memset(got, 0xaa, sizeof(got));
        portable->decode(blocks, expected, COLUMNS);
        codec->decode(blocks, got, COLUMNS);
        for (size_t i = 0; i < COLUMNS; i++)
            if (mf_float_bits(expected[i]) != mf_float_bits(got[i]))
                fail_msg("%s: column %zu is %a, and portable %a",
                         mf_types[type].name, i, got[i], expected[i]);
    }
}

static void instruction_sets_agree_on_encoding(void **state)
{
    (void)state;
    each_codec(check_encode);
}

static void instruction_sets_agree_on_decoding(void **state)
{
    (void)state;
    each_codec(check_decode);
}

/* ---- bounds ---- */

#define GUARDED 65536

struct guarded { /* memory between two pages that cannot be touched */
    uint8_t *map, *start;
};

static struct guarded guarded_new(void)
{
    struct guarded g;

    g.map =
        mmap(NULL, 3 * GUARDED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    g.start = g.map + GUARDED;
    assert_int_equal(mprotect(g.start, GUARDED, PROT_READ | PROT_WRITE), 0);
    return g;
}

/* Size bytes that touch the front page or the back page. */
static void *place(struct guarded g, size_t size, bool back)
{
    return back ? g.start + GUARDED - size : g.start;
}

static struct guarded in, extra, out;

static void check_bounds(enum mf_type type, const struct mf_codec *portable,
                         const struct mf_codec *codec)
{
    size_t block = mf_types[type].block, most = block == 1 ? 130 : 9;

    (void)portable;
    for (size_t count = 0; count <= 2 * most + 1; count++) {
        size_t columns = count / 2 * block;
        size_t size = quant_row_size(type, columns);
        bool back = count % 2;
        float *row = place(in, 4 * columns, back);
        float *weights = place(extra, 4 * columns, back);
        float *decoded = place(in, 4 * columns, back);
        uint8_t *blocks = place(out, size, back);

        for (size_t i = 0; i < columns; i++)
            row[i] = weights[i] = near_normal();
        if (mf_codec_encodes(codec)) {
            quant_encode(codec, row, NULL, blocks, columns);
            quant_encode(codec, row, weights, blocks, columns);
        }
        codec->decode(blocks, decoded, columns);
    }
}

static void codecs_stay_in_their_buffers(void **state)
{
    (void)state;
    in = guarded_new();
    extra = guarded_new();
    out = guarded_new();
    each_codec(check_bounds);
    munmap(in.map, 3 * GUARDED);
    munmap(extra.map, 3 * GUARDED);
    munmap(out.map, 3 * GUARDED);
}

/* ---- NaN and infinity ---- */

/* Types whose scales show that a block held a NaN or an infinity. */
static const enum mf_type shown[] = {
    MF_TYPE_F32,   MF_TYPE_F16,   MF_TYPE_BF16, MF_TYPE_Q4_0,  MF_TYPE_Q4_1,
    MF_TYPE_Q5_0,  MF_TYPE_Q5_1,  MF_TYPE_Q8_0, MF_TYPE_TQ1_0, MF_TYPE_TQ2_0,
    MF_TYPE_MXFP4, MF_TYPE_NVFP4, MF_TYPE_Q1_0, MF_TYPE_Q2_0,
};

static void check_shown(enum mf_type type, float odd, size_t column)
{
    static float row[COLUMNS];
    static uint8_t bytes[4 * COLUMNS];
    size_t block = mf_types[type].block;
    uint64_t count;

    for (size_t i = 0; i < COLUMNS; i++)
        row[i] = near_normal();
    row[column] = odd;
    mf_codec_of(mf_isas, type)->encode(row, NULL, bytes, COLUMNS);
    if (mf_scan(mf_isas, type, false, bytes, quant_row_size(type, COLUMNS),
                &count) != column / block ||
        count != 1)
        fail_msg("%s: %f in column %zu, %zu bad blocks", mf_types[type].name,
                 odd, column, (size_t)count);
}

static void nan_and_infinity_can_be_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
        for (size_t column = 0; column < COLUMNS; column += 101) {
            check_shown(shown[i], NAN, column);
            check_shown(shown[i], -NAN, column);
            check_shown(shown[i], INFINITY, column);
            check_shown(shown[i], -INFINITY, column);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets_agree_on_encoding),
        cmocka_unit_test(instruction_sets_agree_on_decoding),
        cmocka_unit_test(codecs_stay_in_their_buffers),
        cmocka_unit_test(nan_and_infinity_can_be_found),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    say_what_runs();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
