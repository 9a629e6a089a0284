/* SPDX-License-Identifier: MIT
 *
 * test_record.c - what records are made of: percentiles, fields, digests
 */
#include <float.h>
#include <math.h>

#include "cli/decimal.h"
#include "cli/measure/csv.h"
#include "cli/measure/fingerprint.h"
#include "tests/support.h"

/* ---- latency ---- */

static void no_times_are_zeros(void **state)
{
    struct mf_watch_times none = mf_times_of(NULL, 0);

    (void)state;
    assert_int_equal(none.count, 0);
    assert_true(none.p50 == 0 && none.p95 == 0 && none.p99 == 0);
    assert_true(none.mean == 0 && none.std == 0);
}

/* Nearest rank: a percentile is one of the times, of two the smaller. */
static void percentiles_are_times(void **state)
{
    double two[] = { 9, 4 }, one[] = { 7 };
    struct mf_watch_times latency = mf_times_of(two, 2);

    (void)state;
    assert_true(latency.p50 == 4 && latency.p95 == 9 && latency.p99 == 9);
    latency = mf_times_of(one, 1);
    assert_true(latency.p50 == 7 && latency.p99 == 7 && latency.std == 0);
}

/* ceil(percent / 100 * count), in integers. */
static void ranks(void **state)
{
    static const unsigned percents[] = { 1, 50, 95, 99, 100 };
    static double times[1000];

    (void)state;
    for (size_t count = 1; count <= COUNT(times); count++) {
        for (size_t i = 0; i < count; i++)
            times[i] = (double)(count - i);
        mf_times_sort(times, count);
        for (size_t i = 0; i < COUNT(percents); i++) {
            size_t rank = (count * percents[i] + 99) / 100;

            assert_true(mf_times_percentile(times, count, percents[i]) ==
                        (double)rank);
            assert_true(100 * rank >= count * percents[i]);
            assert_true(100 * (rank - 1) < count * percents[i]);
        }
    }
}

/* By hand: the mean is 5, the squares add up to 32, and 32 / 8 is 4. */
static void deviation_is_of_the_population(void **state)
{
    double times[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
    struct mf_watch_times latency = mf_times_of(times, COUNT(times));

    (void)state;
    assert_true(latency.mean == 5 && latency.std == 2);
}

/* Times far from zero that hardly differ keep their digits. */
static void deviation_keeps_its_digits(void **state)
{
    double times[] = { 1e12 + 1, 1e12 + 3 };
    struct mf_watch_times latency = mf_times_of(times, 2);

    (void)state;
    assert_true(latency.mean == 1e12 + 2 && latency.std == 1);
}

/* ---- fields ---- */

static void numbers(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0, "0" },
        { 1, "1" },
        { -0.25, "-0.25" },
        { 0.1, "0.1" },
        { 1150, "1150" },
        { 0.000001, "0.000001" },
        { 1.5e-7, "0.00000015" },
        { 1e21, "1000000000000000000000" },
        { 123456789012345680.0, "123456789012345680" },
        { 0x1p-44, "0.00000000000005684341886080802" },
        { NAN, "NaN" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(decimal_text(cases[i].value).at, cases[i].text);
    assert_int_equal(strlen(decimal_text(DBL_MAX).at), 309);
    assert_int_equal(strlen(decimal_text(-0x1p-1074).at), 327);
}

/* Bit patterns all over: what is printed reads back, and has no exponent. */
static void numbers_read_back(void **state)
{
    uint64_t bits = 88172645463325252;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct decimal_text text;
        double value;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        text = decimal_text(value);
        assert_true(strtod(text.at, NULL) == value);
        assert_null(strchr(text.at, 'e'));
    }
}

static void floats_of_json(void **state)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        { 0, "0.0" },
        { 1, "1.0" },
        { 0.5F, "0.5" },
        { 0.01F, "0.01" },
        { 1e-5F, "0.00001" },
        { 1e-6F, "0.000001" },
        { 1.5e-7F, "1.5e-7" },
        { 16777216, "16777216.0" },
        { 1e12F, "1000000000000.0" },
        { 1e16F, "1e16" },
        { 3.4028235e38F, "3.4028235e38" },
        { -0.25F, "-0.25" },
        { NAN, "null" },
        { INFINITY, "null" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(decimal_json_f32(cases[i].value).at, cases[i].text);
}

static const char *field(const char *text)
{
    static char buffer[OUT_BUFFER];
    static struct out out;

    out_init(&out, -1, buffer);
    csv_text(&out, text);
    out.buffer[out.filled] = 0;
    return out.buffer;
}

static void fields(void **state)
{
    (void)state;
    assert_string_equal(field("plain text"), "plain text");
    assert_string_equal(field(""), "");
    assert_string_equal(field("a,b"), "\"a,b\"");
    assert_string_equal(field("say \"a\""), "\"say \"\"a\"\"\"");
    assert_string_equal(field("a\nb"), "\"a\nb\"");
    assert_string_equal(field("a\rb"), "\"a\rb\"");
}

/* ---- digests ---- */

/* The examples of FIPS 180, and every length around the end of a block. */
static void sha256_examples(void **state)
{
    static char many[1000];
    struct mf_sha256 sha;

    (void)state;
    assert_string_equal(
        sha256_of("", 0).at,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(
        sha256_of("abc", 3).at,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(
        sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  56)
            .at,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(many, 'a', sizeof(many));
    mf_sha256_begin(&sha);
    for (int i = 0; i < 1000; i++)
        mf_sha256_add(&sha, many, sizeof(many));
    assert_string_equal(
        sha256_end(&sha).at,
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256_in_pieces(void **state)
{
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    for (size_t size = 0; size <= sizeof(text); size++) {
        struct mf_sha256 sha;

        mf_sha256_begin(&sha);
        for (size_t i = 0; i < size; i++) {
            mf_sha256_add(&sha, text + i, 1);
            sha256_end(&sha); /* which must not end it */
        }
        assert_string_equal(sha256_end(&sha).at, sha256_of(text, size).at);
    }
}

static void fingerprints(void **state)
{
    struct fingerprint_config config = { "abc1234", "def5678", 0.5F,
                                         2,         0.01F,     "-O3" };

    (void)state;
    assert_string_equal(
        fingerprint_of(&config).at,
        "8194ad7276a762e3eeee09d9d2cb18ab888c08854a9f3deaf87e92142bca82df");
    config.compiler_flags = "-O3 -mavx2";
    assert_string_equal(
        fingerprint_of(&config).at,
        "45b57923f8c1a4fe99d72e45cea9b1d27607af3a2e8af6963e6fe3276e2319b7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_times_are_zeros),
        cmocka_unit_test(percentiles_are_times),
        cmocka_unit_test(ranks),
        cmocka_unit_test(deviation_is_of_the_population),
        cmocka_unit_test(deviation_keeps_its_digits),
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(floats_of_json),
        cmocka_unit_test(fields),
        cmocka_unit_test(sha256_examples),
        cmocka_unit_test(sha256_in_pieces),
        cmocka_unit_test(fingerprints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
