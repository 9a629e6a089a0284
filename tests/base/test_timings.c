/* SPDX-License-Identifier: MIT
 *
 * test_timings.c - phases: their sums, their percentiles, their memory
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/parallel.h"
#include "lib/base/timings.h"
#include "tests/support.h"

static struct mf_env *timed_env(unsigned threads)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = threads,
                                  .timings = true };
    struct mf_env *made = mf_env_new(&options);

    assert_non_null(made);
    return made;
}

static struct mf_timing timing_of(const struct mf_env *env, const char *phase)
{
    struct mf_timing timing;

    for (size_t i = 0; mf_env_timing(env, i, &timing); i++)
        if (strcmp(timing.phase, phase) == 0)
            return timing;
    fail_msg("no phase '%s'", phase);
    return timing;
}

static uint64_t now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static void spin(uint64_t ns)
{
    uint64_t until = now() + ns;

    while (now() < until)
        ;
}

/* ---- percentiles ---- */

static int by_size(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* Against the sorted list: the same bucket, hence within a factor of two; and
 * what is exact must be. */
static void compare(uint64_t *list, size_t count)
{
    struct mf_timings timings;
    const struct mf_phase_times *times = &timings.phase[MF_PHASE_READ];
    uint64_t sum = 0;

    mf_timings_init(&timings);
    for (size_t i = 0; i < count; i++) {
        mf_timings_count(&timings, MF_PHASE_READ, list[i]);
        sum += list[i];
    }
    qsort(list, count, sizeof(*list), by_size);
    assert_int_equal(times->count, count);
    assert_int_equal(times->total, sum);
    assert_int_equal(times->least, list[0]);
    assert_int_equal(times->most, list[count - 1]);
    for (unsigned percent = 1; percent <= 100; percent++) {
        uint64_t true_one = list[(count * percent + 99) / 100 - 1] | 1;
        uint64_t found = mf_phase_percentile(times, percent) | 1;

        assert_int_equal(__builtin_clzll(found), __builtin_clzll(true_one));
        assert_in_range(found, list[0], list[count - 1] | 1);
    }
    assert_int_equal(mf_phase_percentile(times, 100), list[count - 1]);
}

static void percentiles_fit_a_sorted_list(void **state)
{
    static uint64_t list[20000];
    uint64_t random = 1;

    (void)state;
    for (size_t count = 1; count <= COUNT(list); count = count * 3 / 2 + 1)
        for (unsigned spread = 0; spread < 64; spread += 7) {
            for (size_t i = 0; i < count; i++) {
                random = random * UINT64_C(6364136223846793005) +
                         UINT64_C(1442695040888963407);
                /* A sum of 20,000 is a number, whatever the spread. */
                list[i] = (random >> 15) >> (random % (spread + 1));
            }
            compare(list, count);
        }
}

static void one_value_is_exact(void **state)
{
    static const uint64_t values[] = {
        0, 1, 2, 3, 999, 1000, 1024, UINT64_MAX
    };

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        struct mf_timings timings;

        mf_timings_init(&timings);
        for (size_t k = 0; k < 5; k++) {
            const struct mf_phase_times *times = &timings.phase[MF_PHASE_OPEN];

            mf_timings_count(&timings, MF_PHASE_OPEN, values[i]);
            for (unsigned percent = 1; percent <= 100; percent++)
                assert_int_equal(mf_phase_percentile(times, percent),
                                 values[i]);
        }
    }
}

/* What two workers counted is what one would have. */
static void merging_is_counting(void **state)
{
    struct mf_timings one, two, both;

    (void)state;
    mf_timings_init(&one);
    mf_timings_init(&two);
    mf_timings_init(&both);
    mf_timings_add(&one, &two); /* of nothing */
    assert_int_equal(one.phase[MF_PHASE_SCAN].count, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        enum mf_phase phase = i % 3 ? MF_PHASE_SCAN : MF_PHASE_WRITE;

        mf_timings_count(i % 5 ? &one : &two, phase, i * i * 37);
        mf_timings_count(&both, phase, i * i * 37);
    }
    mf_timings_add(&one, &two);
    assert_memory_equal(one.phase, both.phase, sizeof(one.phase));
    mf_timings_init(&two);
    mf_timings_add(&two, &one);
    assert_memory_equal(two.phase, both.phase, sizeof(two.phase));
}

/* ---- phases ---- */

/* A phase inside another one counts alone, and once. */
static void phases_inside_phases_count_once(void **state)
{
    uint64_t before = now(), passed, sum = 0;
    struct mf_env *env = timed_env(1);
    struct mf_timing timing;
    struct mf_timed outer, inner;

    (void)state;
    outer = mf_timed_begin(env, MF_PHASE_OPEN);
    spin(3000000);
    for (size_t i = 0; i < 4; i++) {
        inner = mf_timed_begin(env, MF_PHASE_READ);
        spin(1000000);
        mf_timed_end(env, inner);
    }
    mf_timed_end(env, outer);
    spin(2000000);
    for (size_t i = 0; mf_env_timing(env, i, &timing); i++)
        sum += timing.total_ns;
    passed = now() - before;
    assert_in_range(sum, passed - passed / 20, passed);

    timing = timing_of(env, "open");
    assert_int_equal(timing.count, 1);
    assert_true(timing.total_ns >= 3000000);
    timing = timing_of(env, "read");
    assert_int_equal(timing.count, 4);
    assert_true(timing.total_ns >= 4000000 && timing.min_ns >= 1000000);
    assert_true(timing.total_ns >= timing.max_ns + 3 * timing.min_ns);
    assert_true(timing_of(env, "program").total_ns >= 2000000);
    assert_int_equal(timing_of(env, "rest").count, 0);
    mf_env_free(env);
}

static enum mf_status read_a_while(struct mf_worker *worker, void *context,
                                   size_t task)
{
    struct mf_timed timed = mf_timed_begin(&worker->env, MF_PHASE_READ);

    (void)context;
    (void)task;
    spin(1000000);
    mf_timed_end(&worker->env, timed);
    return MF_OK;
}

/* The thread that waits for the workers does not count. */
static void workers_count_for_their_env(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct mf_env *env = timed_env(threads);
        struct mf_crew crew;

        assert_int_equal(mf_crew_init(&crew, env, UINT64_MAX, UINT64_MAX, 0),
                         MF_OK);
        for (unsigned runs = 1; runs <= 2; runs++) {
            assert_int_equal(mf_crew_run(&crew, read_a_while, NULL, 50), MF_OK);
            assert_int_equal(timing_of(env, "read").count, runs * 50);
        }
        mf_crew_release(&crew);
        assert_true(timing_of(env, "read").total_ns >= 100 * 1000000);
        assert_true(timing_of(env, "program").total_ns <
                    timing_of(env, "read").total_ns / 4);
        mf_env_free(env);
    }
}

static void another_env_s_time_is_added(void **state)
{
    struct mf_env *env = timed_env(1), *other = timed_env(1);
    struct mf_timed timed = mf_timed_begin(other, MF_PHASE_ENCODE);
    uint64_t before = now(), sum = 0;
    struct mf_timing timing;

    (void)state;
    spin(2000000);
    mf_timed_end(other, timed);
    mf_env_add_timings(env, other);
    mf_env_free(other);
    assert_true(timing_of(env, "encode").total_ns >= 2000000);
    for (size_t i = 0; mf_env_timing(env, i, &timing); i++)
        sum += timing.total_ns;
    assert_in_range(sum, 2000000, now() - before + 1000000);
    mf_env_free(env);
}

/* ---- memory ---- */

static size_t live_after(struct mf_env *env, size_t rounds)
{
    struct mf_heap_stats heap;

    for (size_t i = 0; i < rounds; i++) {
        struct mf_model *model;

        assert_int_equal(
            mf_model_open(env, fixture_path("good-base.gguf"), NULL, &model),
            MF_OK);
        assert_int_equal(mf_model_validate_data(model), MF_OK);
        mf_model_close(model);
    }
    mf_env_heap(env, &heap);
    return heap.live;
}

static void memory_is_constant(void **state)
{
    struct mf_env *env = timed_env(1), *without = mf_env_new(NULL);
    size_t once = live_after(env, 1);

    (void)state;
    assert_int_equal(live_after(env, 999), once);
    assert_int_equal(once, live_after(without, 1) + sizeof(struct mf_timings));
    assert_int_equal(timing_of(env, "check").count, 1000);
    mf_env_free(env);
    mf_env_free(without);
}

static void without_the_option_there_are_none(void **state)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .timings = true,
                                  .heap_limit = sizeof(struct mf_timings) };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_timing timing = { .phase = "as it was" };

    (void)state;
    live_after(env, 1);
    assert_false(mf_env_timing(env, 0, &timing));
    assert_string_equal(timing.phase, "as it was");
    mf_env_free(env);
    assert_null(mf_env_new(&options)); /* no memory for them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_fit_a_sorted_list),
        cmocka_unit_test(one_value_is_exact),
        cmocka_unit_test(merging_is_counting),
        cmocka_unit_test(phases_inside_phases_count_once),
        cmocka_unit_test(workers_count_for_their_env),
        cmocka_unit_test(another_env_s_time_is_added),
        cmocka_unit_test(memory_is_constant),
        cmocka_unit_test(without_the_option_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
