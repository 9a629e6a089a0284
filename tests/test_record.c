/* SPDX-License-Identifier: MIT
 *
 * test_record.c - figures of a record: percentiles, mean and deviation
 */
#include "cli/latency.h"
#include "tests/support.h"

static void no_times_are_zeros(void **state)
{
    struct latency none = latency_of(NULL, 0);

    (void)state;
    assert_int_equal(none.count, 0);
    assert_true(none.p50 == 0 && none.p95 == 0 && none.p99 == 0);
    assert_true(none.mean == 0 && none.std == 0);
}

/* Nearest rank: a percentile is one of the times, of two the smaller. */
static void percentiles_are_times(void **state)
{
    double two[] = { 9, 4 }, one[] = { 7 };
    struct latency latency = latency_of(two, 2);

    (void)state;
    assert_true(latency.p50 == 4 && latency.p95 == 9 && latency.p99 == 9);
    latency = latency_of(one, 1);
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
        latency_sort(times, count);
        for (size_t i = 0; i < COUNT(percents); i++) {
            size_t rank = (count * percents[i] + 99) / 100;

            assert_true(latency_percentile(times, count, percents[i]) ==
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
    struct latency latency = latency_of(times, COUNT(times));

    (void)state;
    assert_true(latency.mean == 5 && latency.std == 2);
}

/* Times far from zero that hardly differ keep their digits. */
static void deviation_keeps_its_digits(void **state)
{
    double times[] = { 1e12 + 1, 1e12 + 3 };
    struct latency latency = latency_of(times, 2);

    (void)state;
    assert_true(latency.mean == 1e12 + 2 && latency.std == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_times_are_zeros),
        cmocka_unit_test(percentiles_are_times),
        cmocka_unit_test(ranks),
        cmocka_unit_test(deviation_is_of_the_population),
        cmocka_unit_test(deviation_keeps_its_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
