/* SPDX-License-Identifier: MIT
 *
 * test_quant_numbers.c - every code of the small types is the number that its
 * definition says
 */
#include <float.h>
#include <math.h>

#include "lib/quant/fp16.h"
#include "tests/quant/quant.h"

/* ---- halves ---- */

/* By the definition: sign, exponent with bias 15, 10 bits. */
static float half_by_definition(uint16_t half)
{
    int exponent = half >> 10 & 31;
    float fraction = (float)(half & 1023);
    float value = exponent == 0    ? ldexpf(fraction, -24)
                  : exponent == 31 ? (half & 1023 ? NAN : INFINITY)
                                   : ldexpf(1024 + fraction, exponent - 25);

    return half & 0x8000 ? -value : value;
}

static void every_half_is_its_value(void **state)
{
    (void)state;
    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        float expected = half_by_definition((uint16_t)half);
        float got = mf_half_to_float((uint16_t)half);

        if (isnan(expected))
            assert_true(isnan(got));
        else
            assert_int_equal(mf_float_bits(got), mf_float_bits(expected));
    }
}

/* Around every half, and around what lies in the middle of two. */
static void floats_become_the_nearest_half(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x7c00; half++) {
        float low = half_by_definition((uint16_t)half);
        float high = half == 0x7bff ? 65536.0f
                                    : half_by_definition((uint16_t)(half + 1));
        float middle = (low + high) / 2;
        uint32_t even = half % 2 ? half + 1 : half;

        assert_int_equal(mf_float_to_half(low), half);
        assert_int_equal(mf_float_to_half(-low), half | 0x8000);
        assert_int_equal(mf_float_to_half(middle), even);
        assert_int_equal(mf_float_to_half(nextafterf(middle, 0)), half);
        assert_int_equal(mf_float_to_half(nextafterf(middle, 1e9f)), half + 1);
    }
    assert_int_equal(mf_float_to_half(3.4e38f), 0x7c00);
    assert_int_equal(mf_float_to_half(-INFINITY), 0xfc00);
    assert_int_equal(mf_float_to_half(mf_float_of_bits(0x7f800001)), 0x7e00);
    assert_int_equal(mf_float_to_half(mf_float_of_bits(0xffffffff)), 0xfe00);
}

/* ---- floats of eight bits ---- */

static const struct small {
    enum mf_type type;
    int below, bias; /* bits below the exponent; bias of exponents */
    int infinite;    /* the code of infinity, or -1 */
    int first_nan;   /* the first code of NaN */
    int nan_count;
} smalls[] = {
    { MF_TYPE_F8_E4M3, 3, 7, -1, 0x7f, 1 },
    { MF_TYPE_F8_E5M2, 2, 15, 0x7c, 0x7d, 3 },
    { MF_TYPE_F8_E4M3FNUZ, 3, 8, -1, 0x80, 1 },
    { MF_TYPE_F8_E5M2FNUZ, 2, 16, -1, 0x80, 1 },
};

static bool small_is_nan(const struct small *small, int code)
{
    int positive = small->first_nan == 0x80 ? code : code & 0x7f;

    return positive >= small->first_nan &&
           positive < small->first_nan + small->nan_count;
}

static float small_by_definition(const struct small *small, int code)
{
    int exponent = (code & 0x7f) >> small->below;
    int one = 1 << small->below, fraction = code & (one - 1);
    float value = exponent == 0
                      ? ldexpf((float)fraction, 1 - small->bias - small->below)
                      : ldexpf((float)(one + fraction),
                               exponent - small->bias - small->below);

    if ((code & 0x7f) == small->infinite)
        value = INFINITY;
    return code & 0x80 ? -value : value;
}

static void every_float_of_eight_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(smalls) / sizeof(*smalls); i++)
        for (int code = 0; code < 256; code++) {
            float expected = small_by_definition(&smalls[i], code), got;
            uint8_t byte = (uint8_t)code;

            mf_codec_of(mf_isas, smalls[i].type)->decode(&byte, &got, 1);
            if (small_is_nan(&smalls[i], code)
                    ? !isnan(got)
                    : mf_float_bits(got) != mf_float_bits(expected))
                fail_msg("%s: %d is %a, not %a", mf_types[smalls[i].type].name,
                         code, got, expected);
        }
}

static void every_power_of_two(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        uint8_t byte = (uint8_t)code;
        float got;

        mf_codec_of(mf_isas, MF_TYPE_F8_E8M0)->decode(&byte, &got, 1);
        assert_true(code == 255 ? isnan(got) : got == ldexpf(1, code - 127));
    }
}

/* ---- numbers of C ---- */

static float decode_one(enum mf_type type, const void *number, size_t size)
{
    uint8_t bytes[8];
    float got;

    memcpy(bytes, number, size);
    in_file_order(bytes, 1, size);
    mf_codec_of(mf_isas, type)->decode(bytes, &got, 1);
    return got;
}

#define CHECK(TYPE, type, ...)                                                 \
    do {                                                                       \
        const type numbers[] = { __VA_ARGS__ };                                \
                                                                               \
        for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)        \
            assert_true(decode_one(MF_TYPE_##TYPE, &numbers[i],                \
                                   sizeof(type)) == (float)numbers[i]);        \
    } while (0)

static void numbers_are_rounded_to_floats(void **state)
{
    const double tie = 1 + 0x1p-24, above = 1 + 0x1.8p-23;

    (void)state;
    CHECK(I8, int8_t, 0, 1, -1, INT8_MIN, INT8_MAX);
    CHECK(I16, int16_t, 0, -1, INT16_MIN, INT16_MAX);
    CHECK(I32, int32_t, 0, -1, INT32_MIN, INT32_MAX, 16777217, -16777219);
    CHECK(I64, int64_t, 0, -1, INT64_MIN, INT64_MAX, 16777217,
          INT64_C(1) << 40);
    CHECK(U8, uint8_t, 0, UINT8_MAX);
    CHECK(U16, uint16_t, 0, UINT16_MAX);
    CHECK(U32, uint32_t, 0, UINT32_MAX, 0x80000001);
    CHECK(U64, uint64_t, 0, UINT64_MAX, UINT64_C(1) << 63);
    CHECK(F64, double, 0.1, -1e300, 1e-300, DBL_MAX, 1e-40);
    assert_true(decode_one(MF_TYPE_F64, &tie, sizeof(tie)) == 1);
    assert_true(decode_one(MF_TYPE_F64, &above, sizeof(above)) == 1 + 0x1p-22f);
}

/* ---- mxfp4's exponent ---- */

/* It is floor(log2f(x)) of a block's largest number x, to the last bit below
 * each power of two; compared with the C library's. */
static void exponents_are_as_in_log2f(void **state)
{
    const struct mf_codec *codec = mf_codec_of(mf_isas, MF_TYPE_MXFP4);

    (void)state;
    for (int k = -124; k <= 128; k++)
        for (uint32_t below = 0; below < 120; below++) {
            uint32_t bits = ((uint32_t)(k + 127) << 23) - below;
            float row[32] = { 0, mf_float_of_bits(bits) };
            uint8_t block[17];

            if (!isfinite(row[1]))
                continue;
            codec->encode(row, NULL, block, 32);
            assert_int_equal(block[0], (int)floorf(log2f(row[1])) + 125);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_its_value),
        cmocka_unit_test(floats_become_the_nearest_half),
        cmocka_unit_test(every_float_of_eight_bits),
        cmocka_unit_test(every_power_of_two),
        cmocka_unit_test(numbers_are_rounded_to_floats),
        cmocka_unit_test(exponents_are_as_in_log2f),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
