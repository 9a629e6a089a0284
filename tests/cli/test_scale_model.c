/* SPDX-License-Identifier: MIT
 *
 * test_scale_model.c - the arithmetic of bench --scale
 */
#include <math.h>

#include "cli/measure/bench/scale_model.h"
#include "lib/write/piece.h"
#include "tests/support.h"

#define MIB ((uint64_t)1024 * 1024)

/* A byte of the source takes a nanosecond in all, a byte of the output one. */
static const struct scale_costs costs = { .read = 0.25e-9,
                                          .decode = 0.25e-9,
                                          .encode = 0.5e-9,
                                          .write = 1e-9,
                                          .plan_tensor = 1e-6,
                                          .plan_piece = 1e-7,
                                          .gather = 1e-4,
                                          .message = 1e-6,
                                          .network = 1e-10,
                                          .disk_read = 2e-10,
                                          .disk_write = 4e-10,
                                          .shared = 1e-11,
                                          .open = 1e-5 };

static const struct scale_work gib = {
    .in = 1024 * MIB, .out = 256 * MIB, .tensors = 100, .files = 3, .threads = 1
};

static struct scale_time predict(struct scale_work work, uint64_t ranks)
{
    return scale_predict(&costs, &work, ranks);
}

static void is(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", found, expected);
}

static void what_ranks_bring_is_what_the_library_sends(void **state)
{
    (void)state;
    assert_int_equal(SCALE_RESULT,
                     sizeof(uint64_t) + sizeof(struct mf_piece_result));
}

static void one_rank_gathers_nothing(void **state)
{
    struct scale_time time = predict(gib, 1);

    (void)state;
    is(time.term[SCALE_ENCODER], 1280 * MIB * 1e-9);
    is(time.term[SCALE_DISK], 1024 * MIB * 2e-10 + 256 * MIB * 4e-10);
    is(time.term[SCALE_SHARED], 1280 * MIB * 1e-11);
    is(time.term[SCALE_PLAN], 100e-6 + 4096 * 1e-7);
    is(time.term[SCALE_METADATA], 4e-5);
    assert_true(time.term[SCALE_WAITING] == 0);
    assert_true(time.term[SCALE_GATHER] == 0);
    assert_int_equal(time.bound, SCALE_ENCODER);
    is(time.seconds, time.term[SCALE_ENCODER] + time.term[SCALE_PLAN] +
                         time.term[SCALE_METADATA]);
}

/* 4096 pieces are 16 runs of 256 each, for two ranks 8 of 512. */
static void ranks_share_work_but_not_the_plan(void **state)
{
    struct scale_time one = predict(gib, 1), two = predict(gib, 2);
    double gathers = 2 * 8 + SCALE_MEETINGS;
    double bytes =
        (8 + SCALE_MEETINGS) * 2.0 * SCALE_CARD + 4096.0 * SCALE_RESULT;

    (void)state;
    is(two.term[SCALE_ENCODER], one.term[SCALE_ENCODER] / 2);
    is(two.term[SCALE_DISK], one.term[SCALE_DISK] / 2);
    is(two.term[SCALE_SHARED], one.term[SCALE_SHARED]);
    is(two.term[SCALE_PLAN], one.term[SCALE_PLAN]);
    is(two.term[SCALE_METADATA], 2 * one.term[SCALE_METADATA]);
    is(two.term[SCALE_GATHER], gathers * (1e-4 + 1e-6) + bytes * 1e-10);
    assert_true(two.term[SCALE_WAITING] == 0);
}

/* Three threads have 342, 341 and 341 pieces of a run of 1024 ... */
static void threads_wait_for_the_busiest(void **state)
{
    struct scale_work work = gib;
    double piece = 1280 * MIB * 1e-9 / 4096;
    struct scale_time time;

    (void)state;
    work.threads = 3;
    time = predict(work, 1); /* 16 runs: 86 of 256 pieces */
    is(time.term[SCALE_ENCODER] + time.term[SCALE_WAITING], 16 * 86 * piece);
    work.threads = 1;
    time = predict(work, 3); /* 5 runs of 768: 256 each; then 256: 86 */
    is(time.term[SCALE_ENCODER] + time.term[SCALE_WAITING],
       (5 * 256 + 86) * piece);
}

/* 2^18 pieces: a run has no more than 64 ranks of 256. */
static void many_ranks_have_fewer_pieces_each(void **state)
{
    struct scale_work work = gib;
    double bytes =
        (16 + SCALE_MEETINGS) * 100.0 * SCALE_CARD + 64.0 * 4096 * SCALE_RESULT;
    double piece = 1280 * MIB * 1e-9 / 4096;
    struct scale_time time;

    (void)state;
    work.in *= 64;
    work.out *= 64;
    time = predict(work, 100);
    is(time.term[SCALE_GATHER],
       (2 * 16 + SCALE_MEETINGS) * (1e-4 + 99e-6) + bytes * 1e-10);
    is(time.term[SCALE_ENCODER] + time.term[SCALE_WAITING], 16 * 164 * piece);
}

static void more_ranks_than_pieces(void **state)
{
    struct scale_work work = { .in = 5 * SCALE_PIECE + 1,
                               .out = 6,
                               .tensors = 1,
                               .files = 1,
                               .threads = 4 };
    struct scale_time time = predict(work, 1000);
    double moving = (double)work.in * 1e-9 + 6e-9;

    (void)state;
    is(time.term[SCALE_ENCODER], moving / 4000);
    is(time.term[SCALE_ENCODER] + time.term[SCALE_WAITING], moving / 6);
    assert_int_equal(time.bound, SCALE_METADATA);
}

/* Whatever there is of it, more ranks have less to do each, and all parts of
 * the time are numbers. */
static void nothing_is_done_in_no_time(void **state)
{
    struct scale_work none = { .threads = 1 };
    const struct scale_costs free_of_charge = { 0 };
    struct scale_time time = predict(none, 1);

    (void)state;
    is(time.seconds, 1e-5); /* the output is opened */
    assert_int_equal(time.bound, SCALE_METADATA);
    time = predict(none, 7);
    is(time.term[SCALE_GATHER],
       SCALE_MEETINGS * (1e-4 + 6e-6 + 7.0 * SCALE_CARD * 1e-10));
    assert_true(time.term[SCALE_WAITING] == 0);
    time = scale_predict(&free_of_charge, &gib, 3);
    assert_true(time.seconds == 0);
    assert_int_equal(time.bound, SCALE_ENCODER);
}

static void the_slowest_of_three_counts(void **state)
{
    struct scale_costs slow = costs;
    struct scale_time time;

    (void)state;
    slow.disk_read = 1e-8;
    time = scale_predict(&slow, &gib, 2);
    assert_int_equal(time.bound, SCALE_DISK);
    is(time.seconds, time.term[SCALE_DISK] + time.term[SCALE_PLAN] +
                         time.term[SCALE_GATHER] + time.term[SCALE_METADATA]);
    slow.shared = 1e-7;
    time = scale_predict(&slow, &gib, 2);
    assert_int_equal(time.bound, SCALE_SHARED);
    is(time.term[SCALE_SHARED], 1280 * MIB * 1e-7);
}

static void the_largest_of_numbers(void **state)
{
    struct scale_work work = { .in = UINT64_MAX,
                               .out = UINT64_MAX,
                               .tensors = UINT64_MAX,
                               .files = UINT64_MAX,
                               .threads = UINT64_MAX };

    (void)state;
    for (uint64_t ranks = 1; ranks < UINT64_MAX / 2; ranks *= 2)
        assert_true(isfinite(predict(work, ranks).seconds));
    assert_true(isfinite(predict(work, UINT64_MAX).seconds));
}

static void each_term_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < SCALE_TERMS; i++)
        assert_non_null(scale_names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ranks_bring_is_what_the_library_sends),
        cmocka_unit_test(one_rank_gathers_nothing),
        cmocka_unit_test(ranks_share_work_but_not_the_plan),
        cmocka_unit_test(threads_wait_for_the_busiest),
        cmocka_unit_test(many_ranks_have_fewer_pieces_each),
        cmocka_unit_test(more_ranks_than_pieces),
        cmocka_unit_test(nothing_is_done_in_no_time),
        cmocka_unit_test(the_slowest_of_three_counts),
        cmocka_unit_test(the_largest_of_numbers),
        cmocka_unit_test(each_term_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
