/* SPDX-License-Identifier: MIT
 *
 * test_stats.c - statistics of numbers that no float can hold
 *
 * What is expected was computed by hand and with integers of any size.
 */
#include <math.h>

#include "tests/read/one_tensor.h"

static struct mf_tensor_stats stats_of(const char *type, const void *bytes,
                                       size_t count, size_t element)
{
    struct mf_model *model = tensor_in_memory(type, bytes, count, element);
    struct mf_tensor_stats stats;

    assert_int_equal(mf_tensor_stats(model, (size_t[]){ 0 }, 1, &stats), MF_OK);
    mf_model_close(model);
    return stats;
}

#define STATS(type, ...)                                                       \
    stats_of(type, __VA_ARGS__, COUNT(__VA_ARGS__), sizeof(*__VA_ARGS__))

/* But for the last places. */
static void check_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-15 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

static void check_moments(const struct mf_tensor_stats *stats, double mean,
                          double std, double l2)
{
    check_near(stats->mean, mean);
    check_near(stats->std, std);
    check_near(stats->l2, l2);
}

/* A float of 32 bits calls all of them -172064160. */
static void signed_integers_are_exact(void **state)
{
    const int64_t near[] = { -172064161, -172064161, -172064160 };
    const int64_t ends[] = { INT64_MIN, INT64_MAX, 0 };
    struct mf_tensor_stats stats = STATS("I64", near);

    (void)state;
    assert_int_equal(stats.kind, MF_VALUE_I64);
    assert_int_equal(stats.count, 3);
    assert_true(stats.least.i64 == -172064161);
    assert_true(stats.greatest.i64 == -172064160);
    assert_true(stats.min == -172064161 && stats.max == -172064160);
    check_moments(&stats, -172064160.66666666, 0.4714045207910317,
                  298023868.4363611);
    stats = STATS("I64", ends);
    assert_true(stats.least.i64 == INT64_MIN);
    assert_true(stats.greatest.i64 == INT64_MAX);
    assert_int_equal(stats.zeros, 1);
    check_moments(&stats, -0.3333333333333333, 7.530851732716321e+18,
                  1.3043817825332783e+19);
}

static void unsigned_integers_are_exact(void **state)
{
    const uint64_t ends[] = { UINT64_MAX, UINT64_MAX, ((uint64_t)1 << 63) + 1 };
    const uint64_t same[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
    struct mf_tensor_stats stats = STATS("U64", ends);

    (void)state;
    assert_int_equal(stats.kind, MF_VALUE_U64);
    assert_true(stats.least.u64 == ((uint64_t)1 << 63) + 1);
    assert_true(stats.greatest.u64 == UINT64_MAX);
    check_moments(&stats, 1.5372286728091294e+19, 4.3479392751109274e+18,
                  2.7670116110564327e+19);
    stats = STATS("U64", same);
    check_moments(&stats, 1.8446744073709552e+19, 0, 3.195069796988503e+19);
}

/* Sums beyond 64 bits, over several pieces. */
static void many_integers_are_exact(void **state)
{
    enum { MANY = 200000 };
    static uint64_t at[MANY];
    struct mf_tensor_stats stats;

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        at[i] = UINT64_MAX - i % 2;
    stats = STATS("U64", at);
    assert_int_equal(stats.count, MANY);
    check_moments(&stats, 1.8446744073709552e+19, 0.5, 8.24963474247119e+21);
}

static void bools_and_small_integers(void **state)
{
    const uint8_t bools[] = { 1, 0, 255, 1 };
    const int8_t bytes[] = { -128, 127, -1, 0 };
    const int32_t words[] = { INT32_MIN, INT32_MAX, 16777217 };
    const uint16_t halves[] = { 65535, 65535 };
    struct mf_tensor_stats stats = STATS("BOOL", bools);

    (void)state;
    assert_int_equal(stats.kind, MF_VALUE_U64);
    assert_true(stats.least.u64 == 0 && stats.greatest.u64 == 1);
    assert_int_equal(stats.zeros, 1);
    check_moments(&stats, 0.75, 0.4330127018922193, sqrt(3));
    stats = STATS("I8", bytes);
    assert_true(stats.least.i64 == -128 && stats.greatest.i64 == 127);
    check_moments(&stats, -0.5, sqrt(8128.25), sqrt(32514));
    stats = STATS("I32", words);
    assert_true(stats.least.i64 == INT32_MIN);
    assert_true(stats.greatest.i64 == INT32_MAX);
    check_near(stats.mean, 16777216 / 3.0);
    stats = STATS("U16", halves);
    check_moments(&stats, 65535, 0, 65535 * sqrt(2));
}

static void doubles_are_not_rounded(void **state)
{
    const double near[] = { 3, 3 + 1e-9 }, far[] = { 1e9, 1e9 + 1, 1e9 + 2 };
    const float floats[] = { 1e6F, 1e6F + 0.0625F };
    struct mf_tensor_stats stats = STATS("F64", near);

    (void)state;
    assert_int_equal(stats.kind, MF_VALUE_F64);
    assert_true(stats.min == 3 && stats.max == near[1]);
    check_near(stats.std, (near[1] - 3) / 2);
    stats = STATS("F64", far);
    check_moments(&stats, 1e9 + 1, sqrt(2 / 3.0), 1732050809.300928);
    stats = STATS("F32", floats);
    assert_int_equal(stats.kind, MF_VALUE_F32);
    check_near(stats.std, 0.03125);
}

/* Their squares are out of the range of doubles. */
static void squares_do_not_overflow(void **state)
{
    const double huge[] = { 1e300, -1e300 }, tiny[] = { 3e-200, 4e-200, 0 };
    const double both[] = { 1e300, 1e-300 }, most[] = { 1.7e308, 1.7e308 };
    struct mf_tensor_stats stats = STATS("F64", huge);

    (void)state;
    assert_int_equal(stats.infinities, 0);
    check_moments(&stats, 0, 1e300, 1e300 * sqrt(2));
    stats = STATS("F64", tiny);
    check_near(stats.l2, 5e-200);
    check_near(stats.mean, 7e-200 / 3);
    check_near(stats.std, sqrt(25 / 3.0 - 49 / 9.0) * 1e-200);
    stats = STATS("F64", both);
    check_moments(&stats, 5e299, 5e299, 1e300);
    stats = STATS("F64", most);
    check_near(stats.mean, 1.7e308);
    assert_true(stats.std == 0);
}

/* A batch of zeros, or of small numbers, before and after large ones. */
static void batches_of_any_size_are_joined(void **state)
{
    enum { BATCH = 256 };
    static double at[3 * BATCH];
    struct mf_tensor_stats stats;

    (void)state;
    for (size_t i = 0; i < BATCH; i++)
        at[BATCH + i] = 1e-200;
    stats = STATS("F64", at);
    check_moments(&stats, 1e-200 / 3, sqrt(2) / 3 * 1e-200, 16e-200);
    for (size_t i = 0; i < BATCH; i++)
        at[2 * BATCH + i] = -1e200;
    stats = STATS("F64", at);
    check_moments(&stats, -1e200 / 3, sqrt(2) / 3 * 1e200, 16e200);
}

static void what_is_not_finite_is_counted(void **state)
{
    const double odd[] = { NAN, INFINITY, -INFINITY, 2, -0.0 };
    const double none[] = { NAN };
    struct mf_tensor_stats stats = STATS("F64", odd);

    (void)state;
    assert_int_equal(stats.count, 2);
    assert_int_equal(stats.nans, 1);
    assert_int_equal(stats.infinities, 2);
    assert_int_equal(stats.zeros, 1);
    assert_true(stats.min == 0 && stats.max == 2);
    check_moments(&stats, 1, 1, 2);
    stats = STATS("F64", none);
    assert_int_equal(stats.count, 0);
    assert_true(stats.min == 0 && stats.max == 0 && stats.l2 == 0);
}

/* A full batch of finite numbers takes another way than one with a NaN, of
 * zeros, or whose squares are not doubles. */
static void full_batches_with_any_number(void **state)
{
    enum { BATCH = 256, MANY = 5 * BATCH + 7 };
    static double at[MANY];
    struct mf_tensor_stats stats;

    (void)state;
    for (size_t i = BATCH; i < MANY; i++)
        at[i] = i % 2 ? 3 : 1;
    at[BATCH + 9] = NAN; /* of threes */
    at[2 * BATCH + 9] = INFINITY;
    at[2 * BATCH + 11] = -INFINITY;
    at[4 * BATCH + 9] = 1e200;
    stats = STATS("F64", at);
    assert_int_equal(stats.count, MANY - 3);
    assert_int_equal(stats.nans, 1);
    assert_int_equal(stats.infinities, 2);
    assert_int_equal(stats.zeros, BATCH);
    assert_true(stats.min == 0 && stats.max == 1e200);
    check_near(stats.l2, 1e200);
    at[4 * BATCH + 9] = -3;
    stats = STATS("F64", at);
    assert_true(stats.min == -3 && stats.max == 3);
    check_near(stats.mean, (4 * 2 * BATCH + 7 * 2 - 1 - 9 - 6) / (MANY - 3.0));
    check_near(stats.l2, sqrt(4 * 5 * BATCH + 3 * 9 + 4 * 1 - 27));
}

/* Nor does the size of buffers. */
static void no_number_of_threads_shows(void **state)
{
    enum { MANY = 300007 };
    static double at[MANY];
    struct mf_tensor_stats first = { 0 };
    uint32_t noise = 1;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        noise = noise * 1664525 + 1013904223;
        at[i] = 1e6 + (double)noise / 4294967296;
    }
    for (unsigned threads = 1; threads < 8; threads += 3)
        for (size_t limit = 0; limit < 2; limit++) {
            struct mf_options options = { .size = sizeof(options),
                                          .threads = threads,
                                          .heap_limit = limit * 65536 };
            struct mf_tensor_stats stats;

            mf_env_free(env);
            env = mf_env_new(&options);
            assert_non_null(env);
            stats = STATS("F64", at);
            if (first.count == 0)
                first = stats;
            assert_memory_equal(&stats.mean, &first.mean, sizeof(stats.mean));
            assert_memory_equal(&stats.std, &first.std, sizeof(stats.std));
            assert_memory_equal(&stats.l2, &first.l2, sizeof(stats.l2));
        }
    assert_true(fabs(first.mean - 1e6 - 0.5) < 1e-3);
    assert_true(fabs(first.std - sqrt(1 / 12.0)) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(signed_integers_are_exact),
        WITH_ENV(unsigned_integers_are_exact),
        WITH_ENV(many_integers_are_exact),
        WITH_ENV(bools_and_small_integers),
        WITH_ENV(doubles_are_not_rounded),
        WITH_ENV(squares_do_not_overflow),
        WITH_ENV(batches_of_any_size_are_joined),
        WITH_ENV(full_batches_with_any_number),
        WITH_ENV(what_is_not_finite_is_counted),
        WITH_ENV(no_number_of_threads_shows),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
