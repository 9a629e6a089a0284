/* SPDX-License-Identifier: MIT
 *
 * test_slope.c - what grows, what only moves, and how steep it is
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* needs those above */

#include <math.h>

#include "lib/watch/watch.h"

/* The count of a round. */
typedef uint64_t series(uint64_t round);

static struct mf_slope through(uint64_t rounds, series *of)
{
    struct mf_slope slope = { .rounds = rounds };

    for (uint64_t i = 0; i < rounds; i++)
        mf_slope_add(&slope, of(i));
    assert_int_equal(slope.count, rounds);
    return slope;
}

static uint64_t constant(uint64_t round)
{
    (void)round;
    return 12345678901;
}

static uint64_t line(uint64_t round)
{
    return 1000 + 16 * round;
}

static uint64_t falling(uint64_t round)
{
    return 5000000 - 3 * round;
}

/* Grows by 100 a round, and is dropped every 7th. */
static uint64_t sawtooth(uint64_t round)
{
    return 4096 + 100 * (round % 7);
}

static uint64_t sawtooth_and_line(uint64_t round)
{
    return sawtooth(round) + round;
}

static uint64_t step(uint64_t round)
{
    return round < 11 ? 500 : 100000;
}

/* Once in five rounds. */
static uint64_t stairs(uint64_t round)
{
    return 777 + round / 5;
}

static uint64_t huge(uint64_t round)
{
    return UINT64_C(9007199254740993) + 16 * round;
}

static uint64_t huge_constant(uint64_t round)
{
    (void)round;
    return UINT64_MAX;
}

static void equal_counts_have_no_slope(void **state)
{
    (void)state;
    for (uint64_t rounds = 0; rounds < 70; rounds++) {
        struct mf_slope slope = through(rounds, constant);

        assert_true(mf_slope_of(&slope) == 0);
        assert_false(mf_slope_leaks(&slope, 0, 0));
    }
    for (int i = 0; i < 2; i++) {
        struct mf_slope slope = through(100000, i ? huge_constant : constant);

        assert_true(mf_slope_of(&slope) == 0);
        assert_false(mf_slope_leaks(&slope, 0, 0));
    }
}

static void a_line_has_its_slope(void **state)
{
    static const uint64_t many[] = { 2, 3, 7, 8, 50, 1000, 100000 };

    (void)state;
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++) {
        struct mf_slope up = through(many[i], line);
        struct mf_slope down = through(many[i], falling);

        assert_true(mf_slope_of(&up) == 16);
        assert_true(mf_slope_of(&down) == -3);
        assert_int_equal(mf_slope_leaks(&up, 0, 0), many[i] >= MF_WATCH_LEAST);
        assert_false(mf_slope_leaks(&down, 0, 0));
        assert_int_equal(up.last, 1000 + 16 * (many[i] - 1));
        assert_int_equal(up.most, up.last);
        assert_int_equal(down.most, down.first);
    }
}

/* A double has no room for these counts; their differences fit. */
static void large_counts_lose_nothing(void **state)
{
    struct mf_slope slope = through(1000, huge);

    (void)state;
    assert_true(mf_slope_of(&slope) == 16);
    assert_true(mf_slope_leaks(&slope, 0, 0));
    assert_int_equal(slope.first, UINT64_C(9007199254740993));
}

/* Wherever it begins, and wherever in a period the rounds end. */
static void sawtooth_is_not_a_leak(void **state)
{
    (void)state;
    for (uint64_t rounds = 28; rounds < 60; rounds++)
        for (uint64_t begin = 0; begin < 7; begin++) {
            struct mf_slope slope = { .rounds = rounds };

            for (uint64_t i = 0; i < rounds; i++)
                mf_slope_add(&slope, sawtooth(i + begin));
            assert_false(mf_slope_leaks(&slope, 0, 0));
        }
}

/* A period that is long, but not as long as three quarters of the rounds. */
static void long_sawtooth_is_not_a_leak(void **state)
{
    (void)state;
    for (uint64_t period = 2; period <= 37; period++)
        for (uint64_t begin = 0; begin < period; begin++) {
            struct mf_slope slope = { .rounds = 50 };

            for (uint64_t i = 0; i < 50; i++)
                mf_slope_add(&slope, (i + begin) % period);
            if (mf_slope_leaks(&slope, 0, 0))
                fail_msg("period %d, from %d on", (int)period, (int)begin);
        }
}

static void leak_in_a_sawtooth_is_found(void **state)
{
    struct mf_slope slope = through(50, sawtooth_and_line);

    (void)state;
    assert_true(mf_slope_leaks(&slope, 0, 0));
}

static void one_step_is_not_a_leak(void **state)
{
    struct mf_slope slope = through(50, step);

    (void)state;
    assert_true(mf_slope_of(&slope) > 0);
    assert_false(mf_slope_leaks(&slope, 0, 0));
}

static void steps_are_one(void **state)
{
    struct mf_slope slope = through(50, stairs);

    (void)state;
    assert_true(mf_slope_leaks(&slope, 0, 0));
    assert_true(fabs(mf_slope_of(&slope) - 0.2) < 0.01);
}

static void noise_is_allowed_for(void **state)
{
    struct mf_slope slope = through(40, line);

    (void)state; /* the lowest of the quarters: 0, 10, 20 and 30 rounds on */
    assert_true(mf_slope_leaks(&slope, 479, 15.9));
    assert_false(mf_slope_leaks(&slope, 480, 0));
    assert_false(mf_slope_leaks(&slope, 0, 16));
}

/* The rest of a division goes to the first quarters: none stays empty. */
static void quarters_are_of_all_rounds(void **state)
{
    (void)state;
    for (uint64_t rounds = 4; rounds < 100; rounds++) {
        struct mf_slope slope = through(rounds, line);

        assert_int_equal(slope.lowest[0], line(0));
        for (uint64_t i = 1; i < 4; i++) {
            uint64_t begin = (slope.lowest[i] - 1000) / 16;

            assert_in_range(begin, i * rounds / 4,
                            i * (rounds / 4) + rounds % 4);
        }
    }
}

static void unfinished_is_not_a_leak(void **state)
{
    struct mf_slope slope = { .rounds = 100 };

    (void)state;
    for (uint64_t i = 0; i < 99; i++)
        mf_slope_add(&slope, line(i));
    assert_true(mf_slope_of(&slope) == 16);
    assert_false(mf_slope_leaks(&slope, 0, 0));
    mf_slope_add(&slope, line(99));
    assert_true(mf_slope_leaks(&slope, 0, 0));
    mf_slope_add(&slope, 0);
    assert_int_equal(slope.count, 100);
    assert_int_equal(slope.last, line(99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_counts_have_no_slope),
        cmocka_unit_test(a_line_has_its_slope),
        cmocka_unit_test(large_counts_lose_nothing),
        cmocka_unit_test(sawtooth_is_not_a_leak),
        cmocka_unit_test(long_sawtooth_is_not_a_leak),
        cmocka_unit_test(leak_in_a_sawtooth_is_found),
        cmocka_unit_test(one_step_is_not_a_leak),
        cmocka_unit_test(steps_are_one),
        cmocka_unit_test(noise_is_allowed_for),
        cmocka_unit_test(quarters_are_of_all_rounds),
        cmocka_unit_test(unfinished_is_not_a_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
