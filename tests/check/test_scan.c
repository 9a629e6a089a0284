/* SPDX-License-Identifier: MIT
 *
 * test_scan.c - NaN, infinite and extreme values are found at any place, in
 * every type
 *
 * Compared with a reading of each number on its own, by the positions that the
 * specifications of the types give.
 */
#include <math.h>

#include "lib/check/scan.h"
#include "tests/support.h"

#define BLOCKS 300 /* more than are looked at together, and a rest */

struct place { /* a number within a block */
    enum mf_type type;
    size_t offset, width;
    uint64_t infinite, largest; /* bits of an infinity and of another NaN */
};

/* ggml's struct of each type, by hand: not made from lib/check/scan.def. */
static const struct place places[] = {
    { MF_TYPE_F64, 0, 8, 0x7ff0000000000000, 0x7fefffffffffffff },
    { MF_TYPE_F32, 0, 4, 0x7f800000, 0x7f7fffff },
    { MF_TYPE_F16, 0, 2, 0xfc00, 0x7bff },
    { MF_TYPE_BF16, 0, 2, 0x7f80, 0x7f7f },
    { MF_TYPE_Q4_0, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q4_1, 2, 2, 0x7e00, 0x7bff },
    { MF_TYPE_Q5_0, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q5_1, 2, 2, 0x7c01, 0x7bff },
    { MF_TYPE_Q8_0, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q2_K, 80, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q2_K, 82, 2, 0xffff, 0x7bff },
    { MF_TYPE_Q3_K, 108, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q4_K, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q4_K, 2, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q5_K, 2, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q6_K, 208, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q8_K, 0, 4, 0x7fc00000, 0x7f7fffff },
    { MF_TYPE_IQ1_S, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ2_XXS, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ2_XS, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ2_S, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ3_XXS, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ3_S, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ4_NL, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_IQ4_XS, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_TQ1_0, 52, 2, 0x7c00, 0x7bff },
    { MF_TYPE_TQ2_0, 64, 2, 0x7c00, 0x7bff },
    { MF_TYPE_MXFP4, 0, 1, 0xff, 0xfe },
    { MF_TYPE_NVFP4, 3, 1, 0x7f, 0x7e },
    { MF_TYPE_Q1_0, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_Q2_0, 0, 2, 0x7c00, 0x7bff },
    { MF_TYPE_F8_E5M2, 0, 1, 0xfc, 0x7b },
    { MF_TYPE_F8_E4M3, 0, 1, 0xff, 0x7e },
    { MF_TYPE_F8_E4M3FNUZ, 0, 1, 0x80, 0xff },
    { MF_TYPE_F8_E5M2FNUZ, 0, 1, 0x80, 0x7f },
    { MF_TYPE_BOOL, 0, 1, 2, 1 },
    { MF_TYPE_BOOL, 0, 1, 0xff, 0 },
};

static void put(uint8_t *at, uint64_t bits, size_t width, bool big_endian)
{
    for (size_t i = 0; i < width; i++)
        at[big_endian ? width - 1 - i : i] = (uint8_t)(bits >> 8 * i);
}

static void check_place(const struct mf_isa *isa, const struct place *place,
                        bool big_endian)
{
    size_t stride = mf_scan_stride(place->type);
    uint8_t *bytes = calloc(BLOCKS, stride);
    uint64_t count;

    assert_non_null(bytes);
    for (size_t i = 0; i < BLOCKS; i++)
        put(bytes + i * stride + place->offset, place->largest, place->width,
            big_endian);
    assert_true(mf_scan(isa, place->type, big_endian, bytes, BLOCKS * stride,
                        &count) == MF_SCAN_CLEAN);
    assert_int_equal(count, 0);
    for (size_t i = BLOCKS; i-- > 0;) {
        put(bytes + i * stride + place->offset, place->infinite, place->width,
            big_endian);
        if (mf_scan(isa, place->type, big_endian, bytes, BLOCKS * stride,
                    &count) != i ||
            count != BLOCKS - i)
            fail_msg("%s: block %zu", mf_types[place->type].name, i);
    }
    free(bytes);
}

static void bad_numbers_are_found(void **state)
{
    (void)state;
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
            if (!mf_isa_runs(isa))
                continue;
            check_place(isa, &places[i], false);
            check_place(isa, &places[i], true);
        }
}

/* Four high nibbles of four words make iq1_m's scale. */
static void iq1_m_has_its_scale_in_pieces(void **state)
{
    uint8_t block[56] = { 0 };
    uint64_t count;

    (void)state;
    block[48 + 5] = 0xc0; /* the third word: bits 8 to 11 */
    assert_true(mf_scan(mf_isas, MF_TYPE_IQ1_M, false, block, sizeof(block),
                        &count) == MF_SCAN_CLEAN);
    block[48 + 7] = 0x70; /* the fourth: bits 12 to 15; 0x7c00 */
    assert_int_equal(
        mf_scan(mf_isas, MF_TYPE_IQ1_M, false, block, sizeof(block), &count),
        0);
}

static void every_bit_pattern_of_a_half(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        uint8_t bytes[2] = { (uint8_t)bits, (uint8_t)(bits >> 8) };
        bool finite = (bits >> 10 & 31) != 31;
        uint64_t count;

        assert_int_equal(mf_scan(mf_isas, MF_TYPE_F16, false, bytes, 2,
                                 &count) == MF_SCAN_CLEAN,
                         finite);
        assert_int_equal(count, !finite);
    }
}

/* ---- finite values out of bounds ---- */

/* The first bits that are too large, and the first that are not too small; by
 * hand: not made from lib/check/scan.def. */
static const struct bound {
    enum mf_type type;
    size_t offset, width;
    uint64_t high, enough; /* enough 0: nothing is too small */
} bounds[] = {
    { MF_TYPE_F64, 0, 8, 0x43f0000000000000, 0 }, /* 2^64 */
    { MF_TYPE_F32, 0, 4, 0x5f800000, 0 },
    { MF_TYPE_C64, 0, 4, 0x5f800000, 0 },
    { MF_TYPE_BF16, 0, 2, 0x5f80, 0 },
    { MF_TYPE_F16, 0, 2, 0x7800, 0 }, /* 2^15 */
    { MF_TYPE_Q4_0, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q4_1, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q4_1, 2, 2, 0x7800, 0 }, /* a minimum */
    { MF_TYPE_Q5_0, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q5_1, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q5_1, 2, 2, 0x7800, 0 },
    { MF_TYPE_Q8_0, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q8_1, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q2_K, 80, 2, 0x7800, 8 },
    { MF_TYPE_Q2_K, 82, 2, 0x7800, 0 },
    { MF_TYPE_Q3_K, 108, 2, 0x7800, 8 },
    { MF_TYPE_Q4_K, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q4_K, 2, 2, 0x7800, 0 },
    { MF_TYPE_Q5_K, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q5_K, 2, 2, 0x7800, 0 },
    { MF_TYPE_Q6_K, 208, 2, 0x7800, 8 },
    { MF_TYPE_Q8_K, 0, 4, 0x5f800000, 0 },
    { MF_TYPE_IQ1_S, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ2_XXS, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ2_XS, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ2_S, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ3_XXS, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ3_S, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ4_NL, 0, 2, 0x7800, 8 },
    { MF_TYPE_IQ4_XS, 0, 2, 0x7800, 8 },
    { MF_TYPE_TQ1_0, 52, 2, 0x7800, 8 },
    { MF_TYPE_TQ2_0, 64, 2, 0x7800, 8 },
    { MF_TYPE_MXFP4, 0, 1, 0xbf, 0 },
    { MF_TYPE_Q1_0, 0, 2, 0x7800, 8 },
    { MF_TYPE_Q2_0, 0, 2, 0x7800, 8 },
    { MF_TYPE_APR_Q4, 0, 2, 0x7800, 8 },
};

/* The type and order of bytes that is_out looks at. */
struct view {
    const struct mf_isa *isa;
    const struct bound *bound;
    bool big_endian;
    uint8_t *bytes;
};

/* Puts a value into blocks 3 and BLOCKS - 1; whether both are found to be high,
 * or both low. */
static bool is_out(const struct view *view, uint64_t value, bool high)
{
    const struct bound *bound = view->bound;
    size_t stride = mf_scan_stride(bound->type);
    struct mf_scan_found found;

    memset(view->bytes, 0, BLOCKS * stride);
    put(view->bytes + 3 * stride + bound->offset, value, bound->width,
        view->big_endian);
    put(view->bytes + (BLOCKS - 1) * stride + bound->offset, value,
        bound->width, view->big_endian);
    mf_scan_all(view->isa, bound->type, view->big_endian, view->bytes,
                BLOCKS * stride, &found);
    assert_int_equal(found.bad, 0);
    if (high)
        return found.high == 2 && found.first_high == 3 && found.low == 0;
    return found.high == 0 && found.low == 2;
}

static void check_bound(const struct view *view)
{
    const struct bound *bound = view->bound;
    uint64_t sign = UINT64_C(1) << (8 * bound->width - 1);

    if (!is_out(view, bound->high, true) ||
        is_out(view, bound->high - 1, true) || is_out(view, 1, true) ||
        is_out(view, 1, false) != (bound->enough > 0) ||
        is_out(view, 0, false) || is_out(view, 8, false))
        fail_msg("%s", mf_types[bound->type].name);
    if (bound->enough > 0 && !is_out(view, bound->enough - 1, false))
        fail_msg("%s: %d", mf_types[bound->type].name, (int)bound->enough);
    if (bound->width > 1 && !is_out(view, sign | bound->high, true))
        fail_msg("%s: negative", mf_types[bound->type].name);
}

static void extreme_values_are_found(void **state)
{
    static uint8_t bytes[BLOCKS * 300];

    (void)state;
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
            struct view view = { isa, &bounds[i], false, bytes };

            if (!mf_isa_runs(isa))
                continue;
            check_bound(&view);
            view.big_endian = true;
            check_bound(&view);
        }
}

/* All types whose values have bounds, and none besides, are in the list. */
static void every_type_has_its_bounds(void **state)
{
    (void)state;
    for (size_t type = 0; type < MF_TYPE_COUNT; type++) {
        size_t stride = mf_scan_stride((enum mf_type)type), listed = 0;
        uint8_t block[300];
        struct mf_scan_found found;

        for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
            listed += bounds[i].type == (enum mf_type)type;
        /* 0x7878 and 0x78787878 are high in all types but types of one byte. */
        memset(block, mf_types[type].name[0] == 'm' ? 0xc8 : 0x78,
               sizeof(block));
        mf_scan_all(mf_isas, (enum mf_type)type, false, block, stride, &found);
        if (type != MF_TYPE_IQ1_M && (found.high > 0) != (listed > 0))
            fail_msg("%s", mf_types[type].name);
    }
}

static void scales_of_iq1_m_have_bounds(void **state)
{
    uint8_t block[56] = { 0 };
    struct mf_scan_found found;

    (void)state;
    block[48 + 7] = 0x70; /* bits 12 to 15 of 0x7800 */
    block[48 + 5] = 0x80; /* bits 8 to 11 */
    mf_scan_all(mf_isas, MF_TYPE_IQ1_M, false, block, sizeof(block), &found);
    assert_int_equal(found.high, 1);
    block[48 + 7] = block[48 + 5] = 0;
    block[48 + 1] = 0x70; /* bits 0 to 3: 7 */
    mf_scan_all(mf_isas, MF_TYPE_IQ1_M, false, block, sizeof(block), &found);
    assert_int_equal(found.low, 1);
}

static void check_lane(const struct mf_isa *isa, const uint8_t *bytes)
{
    for (size_t width = 1; width <= 8; width *= 2)
        for (size_t count = 0; count < 600; count++) {
            const uint8_t *start = bytes + count % 7;
            uint64_t mask = UINT64_MAX >> (65 - 8 * width);
            struct mf_bounds some = { mask, mask / 8 * 7, count % 3 };
            size_t stride = count % 2 ? width : 8;
            bool reverse = count % 5 == 0;
            struct mf_outside own, plain;

            own = mf_range_of(isa)(start, count, stride, (uint8_t)width,
                                   reverse, some);
            plain = mf_range_portable(start, count, stride, (uint8_t)width,
                                      reverse, some);
            assert_int_equal(own.high, plain.high);
            assert_int_equal(own.low, plain.low);
        }
}

/* Any bytes, any start: every lane counts what the plainest one counts. */
static void lanes_agree(void **state)
{
    uint8_t bytes[5000];
    uint32_t noise = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        noise = noise * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(noise >> 24) | 0x70;
    }
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa))
            check_lane(isa, bytes);
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        for (size_t width = 1; mf_isa_runs(isa) && width <= 8; width *= 2)
            for (size_t count = 0; count < 600; count++) {
                const uint8_t *start = bytes + count % 7;
                uint64_t mask = 0x7070707070707070 >> (64 - 8 * width);
                struct mf_bits bits = { mask, mask };

                if (count % 2)
                    bits = (struct mf_bits){ 3, 1 };
                assert_int_equal(
                    mf_count_of(isa)(start, count, width, (uint8_t)width, bits),
                    mf_count_portable(start, count, width, (uint8_t)width,
                                      bits));
            }
}

/* Of the types of one byte each value is known: the bad ones of each. */
static void every_byte_of_the_types_of_one(void **state)
{
    static const struct {
        enum mf_type type;
        size_t bad;
    } rows[] = {
        { MF_TYPE_F8_E4M3, 2 },     /* 0x7f and 0xff */
        { MF_TYPE_F8_E5M2, 8 },     /* two signs, infinity and three NaN */
        { MF_TYPE_F8_E8M0, 1 },     /* 0xff */
        { MF_TYPE_F8_E4M3FNUZ, 1 }, /* 0x80 */
        { MF_TYPE_F8_E5M2FNUZ, 1 }, /* 0x80 */
        { MF_TYPE_BOOL, 254 },      /* all but 0 and 1 */
        { MF_TYPE_U8, 0 },          { MF_TYPE_I8, 0 },
    };
    uint8_t bytes[256];
    uint64_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            if (!mf_isa_runs(isa))
                continue;
            mf_scan(isa, rows[i].type, false, bytes, sizeof(bytes), &count);
            if (count != rows[i].bad)
                fail_msg("%s: %zu", mf_types[rows[i].type].name, (size_t)count);
        }
}

static void zeros_are_distinguished_from_anything_else(void **state)
{
    uint8_t bytes[100] = { 0 };

    (void)state;
    for (size_t size = 0; size <= sizeof(bytes); size++)
        assert_false(mf_scan_any(bytes, size));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 1;
        for (size_t size = 0; size <= sizeof(bytes); size++)
            assert_int_equal(mf_scan_any(bytes, size), size > i);
        bytes[i] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_numbers_are_found),
        cmocka_unit_test(iq1_m_has_its_scale_in_pieces),
        cmocka_unit_test(every_bit_pattern_of_a_half),
        cmocka_unit_test(extreme_values_are_found),
        cmocka_unit_test(every_type_has_its_bounds),
        cmocka_unit_test(scales_of_iq1_m_have_bounds),
        cmocka_unit_test(lanes_agree),
        cmocka_unit_test(every_byte_of_the_types_of_one),
        cmocka_unit_test(zeros_are_distinguished_from_anything_else),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
