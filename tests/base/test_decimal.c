/* SPDX-License-Identifier: MIT
 *
 * test_decimal.c - numbers as digits and back, against printf and strtod
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "lib/base/decimal.h"
#include "tests/support.h"

#define ROUNDS 300000

static uint64_t bits = 1;

static uint64_t random_bits(void)
{
    bits ^= bits << 13;
    bits ^= bits >> 7;
    return bits ^= bits << 17;
}

static double double_of(uint64_t from)
{
    double value;

    memcpy(&value, &from, sizeof(value));
    return value;
}

static float float_of(uint64_t from)
{
    uint32_t half = (uint32_t)from;
    float value;

    memcpy(&value, &half, sizeof(value));
    return value;
}

/* Any bits, few digits, few bits, below the smallest normal number. */
static double random_double(uint64_t round)
{
    uint64_t some = random_bits();
    double value;

    switch (round % 8) {
    case 0:
        value = (double)(some >> 40) / 1000;
        break;
    case 1:
        value = (double)(int32_t)some * pow(10, (int)(some >> 32) % 20);
        break;
    case 2:
        value = double_of(some & UINT64_MAX << some % 52);
        break;
    case 3:
        value = double_of(some >> 12 >> some % 50);
        break;
    default:
        value = double_of(some);
    }
    return isnan(value) ? 0 : value;
}

/* As C's own locale has it. */
#define LIKE_PRINTF(mine, format, ...)                                         \
    do {                                                                       \
        struct mf_number_text text_ = mine;                                    \
        char wanted_[512];                                                     \
        snprintf(wanted_, sizeof(wanted_), format, __VA_ARGS__);               \
        assert_string_equal(text_.at, wanted_);                                \
        assert_int_equal(text_.size, strlen(wanted_));                         \
    } while (0)

static void digits_are_as_in_printf(void **state)
{
    static const double values[] = { 0,        -0.0,      NAN,     -NAN,
                                     INFINITY, -INFINITY, 0.5,     2.5,
                                     1e22,     1e23,      5e-324,  DBL_MIN,
                                     DBL_MAX,  0x1p63,    9.5,     99.95,
                                     1e15,     123456.5,  0.00001, 0.0001 };

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++)
        for (int count = 1; count <= 17; count++)
            LIKE_PRINTF(mf_number_text(values[i], count), "%.*g", count,
                        values[i]);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        double value = random_double(i);
        int count = 1 + (int)(random_bits() % 17);

        LIKE_PRINTF(mf_number_text(value, count), "%.*g", count, value);
    }
}

static void fixed_digits_are_as_in_printf(void **state)
{
    static const double values[] = { 0,     -0.0, 0.5,   1.5,        0.005,
                                     0.015, 9.95, 99.5,  999.5,      -2.25,
                                     1e15,  -1,   1e-20, 0.00499999, 3 };

    (void)state;
    for (int decimals = 0; decimals <= 2; decimals++) {
        for (size_t i = 0; i < COUNT(values); i++)
            LIKE_PRINTF(mf_number_fixed(values[i], decimals), "%.*f", decimals,
                        values[i]);
        for (int i = 0; i < ROUNDS / 4; i++) {
            double value = ldexp((double)(random_bits() >> 14),
                                 -(int)(random_bits() % 64));

            LIKE_PRINTF(mf_number_fixed(value, decimals), "%.*f", decimals,
                        value);
        }
    }
}

/* The first of the usual numbers of digits that are read as the same. */
static void fewest_digits_are_the_first_that_come_back(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        float value = i % 3 ? float_of(random_bits()) : (float)random_double(i);
        int count = FLT_DIG;
        char text[64];

        if (!isfinite(value))
            continue;
        do {
            snprintf(text, sizeof(text), "%.*g", count, (double)value);
        } while ((float)strtod(text, NULL) != value && count++ < 17);
        assert_string_equal(mf_number_f32(value).at, text);
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        double value = random_double(i);

        if (isfinite(value))
            assert_true(strtod(mf_number_f64(value).at, NULL) == value);
    }
}

static void read_as(const char *text)
{
    double mine = mf_decimal_read(text), wanted = strtod(text, NULL);

    if (memcmp(&mine, &wanted, sizeof(mine)) != 0)
        fail_msg("%s is read as %a, not %a", text, mine, wanted);
}

static void digits_are_read_as_by_strtod(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "0.000",
        "0e999",
        "1e999999999999",
        "1e-999",
        "-1e400",
        "1e309",
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "9007199254740993",
        "9007199254740992.9999999999999999999",
        "9007199254740993.0000000000000000001",
        "1.00000000000000011102230246251565404e0",
        "000000000000000000000000000000000000001",
        "0.0000000000000000000000000000000000001e40",
        "1234567890123456789012345678901234567890",
        "1E+5",
        "1e+05",
        "12.5e1",
    };
    char text[96];

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        read_as(texts[i]);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        double value = random_double(i);

        if (isfinite(value)) {
            snprintf(text, sizeof(text), "%.*e", (int)(random_bits() % 39),
                     value);
            read_as(text);
        }
        snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64 "e%d",
                 random_bits() >> random_bits() % 64,
                 random_bits() >> random_bits() % 64,
                 (int)(random_bits() % 760) - 380);
        read_as(text);
    }
}

/* Half-way between two doubles there are 16 to 18 digits, and the last one
 * decides. */
static void halves_are_rounded_to_even(void **state)
{
    char text[64];

    (void)state;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t odd = (random_bits() >> 10) | (uint64_t)1 << 53 | 1;

        for (int more = -1; more <= 1; more++) {
            snprintf(text, sizeof(text), "%" PRIu64 "%se%d", odd,
                     more == 0 ? "" : "0000000000000000000",
                     more == 0 ? 0 : -19);
            if (more != 0)
                text[strcspn(text, "e") - 1] = more > 0 ? '1' : '0';
            read_as(text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_as_in_printf),
        cmocka_unit_test(fixed_digits_are_as_in_printf),
        cmocka_unit_test(fewest_digits_are_the_first_that_come_back),
        cmocka_unit_test(digits_are_read_as_by_strtod),
        cmocka_unit_test(halves_are_rounded_to_even),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
