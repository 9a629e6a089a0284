/* SPDX-License-Identifier: MIT
 *
 * test_watch.c - mf_watch_*: what grows, how long rounds take, what they cost
 */
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/scratch.h"

static struct mf_env *env;

/* ---- counts ---- */

/* What the own count says; *most is one more. */
static uint64_t value;

static bool say(void *user, uint64_t *now, uint64_t *most)
{
    assert_ptr_equal(user, &value);
    *now = value;
    *most = value + 1;
    return true;
}

static struct mf_watch_options options(uint64_t rounds)
{
    return (struct mf_watch_options){ .size = sizeof(struct mf_watch_options),
                                      .rounds = rounds,
                                      .own = say,
                                      .own_user = &value };
}

static struct mf_watch *watch_of(const struct mf_watch_options *how)
{
    struct mf_watch *watch;

    assert_int_equal(mf_watch_open(env, how, &watch), MF_OK);
    return watch;
}

static struct mf_watch_count own(const struct mf_watch *watch)
{
    struct mf_watch_count count;

    assert_true(mf_watch_count_at(watch, MF_WATCH_OWN, &count));
    assert_string_equal(count.name, "own");
    return count;
}

/* Rounds in which the value rises. */
static struct mf_watch_count risen(const struct mf_watch_options *how,
                                   uint64_t from, uint64_t by)
{
    struct mf_watch *watch = watch_of(how);
    struct mf_watch_count count;

    for (value = from; mf_watch_begin(watch); value += by)
        mf_watch_end(watch);
    count = own(watch);
    mf_watch_close(watch);
    return count;
}

static void test_rise_is_a_leak(void **state)
{
    struct mf_watch_options how = options(20);
    uint64_t limit[MF_WATCH_KINDS] = { 0 };
    struct mf_watch_count count;

    (void)state;
    limit[MF_WATCH_OWN] = 1000;
    how.limits = limit;
    how.limit_count = MF_WATCH_KINDS;
    how.warm_up = 2;
    count = risen(&how, 100, 10);
    assert_true(count.known && count.complete && count.leaks);
    assert_int_equal(count.rounds, 20);
    assert_int_equal(count.first, 120);
    assert_int_equal(count.last, 310);
    assert_int_equal(count.high_water, 311);
    assert_true(count.per_round == 10);
    assert_int_equal(count.limit, 1000);
    assert_int_equal(count.rounds_left, 68); /* (1000 - 311) / 10 */

    /* Nothing is left of a limit that was exceeded. */
    limit[MF_WATCH_OWN] = 311;
    assert_int_equal(risen(&how, 100, 10).rounds_left, 0);
    limit[MF_WATCH_OWN] = 0;
    assert_true(risen(&how, 100, 10).limit == UINT64_MAX);
    assert_true(risen(&how, 100, 10).rounds_left == UINT64_MAX);
}

static void test_a_constant_is_not_a_leak(void **state)
{
    const struct mf_watch_options how = options(0);
    struct mf_watch_count count = risen(&how, 7, 0);

    (void)state;
    assert_true(count.complete && !count.leaks && count.per_round == 0);
    assert_int_equal(count.rounds, MF_WATCH_LEAST);
    assert_true(count.rounds_left == UINT64_MAX);
}

static void test_thresholds_are_the_last_that_is_not_a_leak(void **state)
{
    struct mf_watch_threshold threshold[MF_WATCH_KINDS] = { { 0 } };
    struct mf_watch_options how = options(8);

    (void)state;
    how.thresholds = threshold;
    how.threshold_count = MF_WATCH_KINDS;
    /* The lowest of the first quarter is 0, of the last 60. */
    threshold[MF_WATCH_OWN].growth = 59;
    assert_true(risen(&how, 0, 10).leaks);
    threshold[MF_WATCH_OWN].growth = 60;
    assert_false(risen(&how, 0, 10).leaks);
    threshold[MF_WATCH_OWN] = (struct mf_watch_threshold){ .per_round = 9.5 };
    assert_true(risen(&how, 0, 10).leaks);
    threshold[MF_WATCH_OWN].per_round = 10;
    assert_false(risen(&how, 0, 10).leaks);
}

static void test_nothing_leaks_before_the_last_round(void **state)
{
    const struct mf_watch_options how = options(8);
    struct mf_watch *watch = watch_of(&how);

    (void)state;
    assert_int_equal(own(watch).rounds, 0);
    assert_false(own(watch).known);
    for (int i = 0; i < 7; i++) {
        value = (uint64_t)i;
        assert_true(mf_watch_begin(watch));
        mf_watch_end(watch);
    }
    assert_true(own(watch).per_round == 1 && own(watch).rounds == 7);
    assert_false(own(watch).complete || own(watch).leaks);
    /* An end without a beginning is not a round. */
    mf_watch_end(watch);
    assert_int_equal(own(watch).rounds, 7);
    assert_true(mf_watch_begin(watch));
    value = 7;
    mf_watch_end(watch);
    assert_true(own(watch).complete && own(watch).leaks);
    assert_false(mf_watch_begin(watch));
    mf_watch_close(watch);
}

/* What really grows: a model in each round, and a descriptor. */
static void test_models_and_files_that_stay_open(void **state)
{
    struct mf_watch_options how = options(8);
    struct mf_watch *watch = watch_of(&how);
    struct mf_model *model[8];
    struct mf_watch_count heap, files;
    struct mf_heap_stats stats;
    int file[8];

    (void)state;
    for (size_t i = 0; mf_watch_begin(watch); i++) {
        assert_int_equal(
            mf_model_open(env, "fixtures/good-llama.gguf", NULL, &model[i]),
            MF_OK);
        file[i] = dup(0);
        mf_watch_end(watch);
    }
    mf_env_heap(env, &stats);
    assert_true(mf_watch_count_at(watch, MF_WATCH_HEAP, &heap));
    assert_true(heap.leaks && heap.per_round > 1000);
    assert_int_equal(heap.last, stats.live);
    assert_int_equal(heap.high_water, stats.peak);
    assert_true(mf_watch_count_at(watch, MF_WATCH_FILES, &files));
    if (files.known) {
        assert_true(files.leaks && files.per_round >= 1);
        assert_true(files.rounds_left < files.limit);
    }
    for (size_t i = 0; i < 8; i++) {
        mf_model_close(model[i]);
        close(file[i]);
    }
    mf_watch_close(watch);
}

/* A process that has come to its limit grows no more, and leaks all the same;
 * looking needs a descriptor. */
static void test_all_descriptors_leak(void **state)
{
    const struct mf_watch_options how = options(100);
    struct mf_watch_count files;
    struct rlimit before, few;
    struct mf_watch *watch;
    int file[100];

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    watch = watch_of(&how);
    for (size_t i = 0; mf_watch_begin(watch); i++) {
        file[i] = dup(0);
        mf_watch_end(watch);
    }
    assert_true(mf_watch_count_at(watch, MF_WATCH_FILES, &files));
    mf_watch_close(watch);
    for (size_t i = 0; i < 100; i++)
        if (file[i] >= 0)
            close(file[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (!files.known)
        skip();
    assert_int_equal(files.rounds, 100);
    assert_true(files.complete && files.leaks);
    assert_int_equal(files.limit, 40);
    assert_true(files.last >= 39); /* more where some were above the limit */
}

/* Known in all rounds but one. */
static bool say_mostly(void *user, uint64_t *now, uint64_t *most)
{
    *now = *most = value;
    return ++*(unsigned *)user != 4;
}

static void test_a_gap_is_said(void **state)
{
    struct mf_watch_options how = options(8);
    struct mf_watch_count count;
    struct mf_watch *watch;
    unsigned rounds = 0;

    (void)state;
    how.own = say_mostly;
    how.own_user = &rounds;
    watch = watch_of(&how);
    for (value = 0; mf_watch_begin(watch); value += 10)
        mf_watch_end(watch);
    count = own(watch);
    assert_int_equal(count.rounds, 7);
    assert_false(count.complete || count.leaks);
    mf_watch_close(watch);
}

/* ---- times and energy ---- */

static void pass(long milliseconds)
{
    nanosleep(&(struct timespec){ .tv_nsec = milliseconds * 1000000 }, NULL);
}

static void test_times(void **state)
{
    struct mf_watch_options how = options(8);
    struct mf_watch_times times;
    struct mf_watch *watch;

    (void)state;
    watch = watch_of(&how);
    assert_false(mf_watch_times(watch, &times));
    mf_watch_close(watch);

    how.times = true;
    how.warm_up = 1;
    watch = watch_of(&how);
    assert_true(mf_watch_times(watch, &times) && times.count == 0);
    while (mf_watch_begin(watch)) {
        pass(2);
        mf_watch_end(watch);
    }
    assert_true(mf_watch_times(watch, &times));
    assert_int_equal(times.count, 8);
    assert_true(times.p50 >= 2e6 && times.p50 <= times.p95);
    assert_true(times.p95 <= times.p99 && times.mean >= 2e6);
    mf_watch_close(watch);
}

static void test_energy(void **state)
{
    struct mf_watch_options how = options(8);
    struct mf_watch_energy energy;
    struct mf_watch *watch = watch_of(&how);

    (void)state;
    assert_true(mf_watch_energy(watch, &energy));
    assert_string_equal(energy.status, "not measured");
    mf_watch_close(watch);

    how.power = "mock:50";
    watch = watch_of(&how);
    while (mf_watch_begin(watch)) {
        pass(1);
        mf_watch_end(watch);
    }
    assert_true(mf_watch_energy(watch, &energy));
    assert_string_equal(energy.status, "measured");
    assert_int_equal(energy.samples, 16);
    assert_true(energy.mean_watts == 50 && energy.peak_watts == 50);
    assert_true(energy.seconds >= 0.008);
    assert_true(fabs(energy.joules - 50 * energy.seconds) < 1e-6);
    mf_watch_close(watch);

    how.power = "auto";
    how.power_root = "/nonexistent";
    watch = watch_of(&how);
    assert_true(mf_watch_energy(watch, &energy));
    assert_string_equal(energy.status, "unavailable (no energy counter)");
    mf_watch_close(watch);
}

static const char *counter_path;
static bool unreadable; /* the next time */

/* 100 J more at the end of each round, after it was sampled. */
static bool burn(void *user, uint64_t *now, uint64_t *most)
{
    char text[32];

    *now = *most = *(uint64_t *)user += 100000000;
    if (unreadable)
        snprintf(text, sizeof(text), "x\n");
    else
        snprintf(text, sizeof(text), "%" PRIu64 "\n", *now);
    unreadable = false;
    save(counter_path, text, strlen(text));
    return true;
}

/* What a counter had before the first round belongs to no round. */
static void test_energy_of_a_counter(void **state)
{
    struct mf_watch_options how = options(8);
    char folder[3][300], file[2][320];
    struct mf_watch_energy energy;
    struct mf_watch *watch;
    uint64_t burnt = 5;

    (void)state;
    snprintf(folder[0], 300, "%s", scratch_path("class"));
    snprintf(folder[1], 300, "%s", scratch_path("class/powercap"));
    snprintf(folder[2], 300, "%s", scratch_path("class/powercap/intel-rapl:0"));
    snprintf(file[0], 320, "%s/name", folder[2]);
    snprintf(file[1], 320, "%s/energy_uj", folder[2]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mkdir(folder[i], 0700), 0);
    save(file[0], "package-0\n", 10);
    save(file[1], "5\n", 2);
    counter_path = file[1];
    how.own = burn;
    how.own_user = &burnt;
    how.power = "auto";
    how.power_root = scratch_folder;
    how.warm_up = 1;
    watch = watch_of(&how);
    while (mf_watch_begin(watch)) {
        pass(1);
        mf_watch_end(watch);
    }
    assert_true(mf_watch_energy(watch, &energy));
    assert_string_equal(energy.status, "measured");
    assert_true(energy.joules == 700);
    mf_watch_close(watch);

    /* Where it cannot be read at first, energy burnt before then belongs to no
     * round, either: the second time, 100 J later, it can. */
    unreadable = true;
    watch = watch_of(&how);
    while (mf_watch_begin(watch)) {
        pass(1);
        mf_watch_end(watch);
    }
    assert_true(mf_watch_energy(watch, &energy));
    assert_true(energy.joules == 600);
    mf_watch_close(watch);
    for (int i = 0; i < 2; i++)
        unlink(file[i]);
    for (int i = 3; i-- > 0;)
        rmdir(folder[i]);
}

/* ---- a file ---- */

static void test_write(void **state)
{
    struct mf_watch_options how = options(8);
    char *path = strdup(scratch_path("watch.json"));
    struct mf_watch *watch;
    char text[4096];
    size_t size;
    FILE *file;

    (void)state;
    how.times = true;
    how.power = "mock:1";
    watch = watch_of(&how);
    for (value = 5; mf_watch_begin(watch); value += 2)
        mf_watch_end(watch);
    assert_int_equal(mf_watch_write(watch, path, false), MF_OK);
    assert_int_equal(mf_watch_write(watch, path, false), MF_ERR_OUTPUT);
    assert_int_equal(mf_watch_write(watch, path, true), MF_OK);
    mf_watch_close(watch);
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = 0;
    assert_non_null(strstr(text, "{\"rounds\":8,\"warm_up\":0,"
                                 "\"complete\":true,\"counts\":["));
    assert_non_null(strstr(text, "{\"count\":\"own\",\"rounds\":8,"
                                 "\"complete\":true,\"first\":5,\"last\":19,"
                                 "\"high_water\":20,\"per_round\":2,"
                                 "\"limit\":null,\"rounds_left\":null,"
                                 "\"leaks\":true}"));
    assert_non_null(strstr(text, "\"leaks\":true,\"times\":{\"count\":8,"));
    assert_non_null(strstr(text, "\"energy\":{\"status\":\"measured\","
                                 "\"samples\":16,"));
    assert_int_equal(text[size - 1], '\n');
    free(path);
}

/* ---- wrong use ---- */

static void refused(struct mf_watch_options how, const char *message)
{
    struct mf_watch *watch = NULL;

    assert_int_not_equal(mf_watch_open(env, &how, &watch), MF_OK);
    assert_null(watch);
    if (!strstr(mf_env_error(env)->message, message))
        fail_msg("%s", mf_env_error(env)->message);
}

static void test_what_is_refused(void **state)
{
    struct mf_watch_threshold threshold[MF_WATCH_KINDS] = { { 0 } };
    struct mf_watch_options how;

    (void)state;
    refused(options(MF_WATCH_LEAST - 1), "7 rounds do not tell");
    how = options(8);
    how.power = "mock:x";
    refused(how, "not from 'mock:x'");
    how.power = "sun";
    refused(how, "not from 'sun'");
    how = options(UINT64_MAX);
    how.times = true;
    refused(how, "too many");
    how = options(UINT64_MAX);
    how.warm_up = 1;
    refused(how, "too many");
    how = options(8);
    threshold[MF_WATCH_FILES].per_round = NAN;
    how.thresholds = threshold;
    how.threshold_count = MF_WATCH_KINDS;
    refused(how, "'open_files' is not a number from 0 on");
    threshold[MF_WATCH_FILES].per_round = -0.5;
    refused(how, "'open_files' is not a number from 0 on");
}

/* What comes after the last that is given has its default. */
static void test_short_lists(void **state)
{
    struct mf_watch_threshold threshold[] = { { 0 }, { .growth = 1000 } };
    struct mf_watch_options how = options(8);

    (void)state;
    how.thresholds = threshold;
    how.threshold_count = 2;
    assert_false(risen(&how, 0, 10).leaks);
    how.threshold_count = 1;
    assert_true(risen(&how, 0, 10).leaks);
    how.thresholds = NULL;
    refused(how, "'how->thresholds'");
}

/* The env goes when both are closed, in either order; memory that is refused
 * leaves nothing. */
static void test_closing_and_memory(void **state)
{
    struct mf_options limited = { .size = sizeof(limited), .heap_limit = 4000 };
    struct mf_env *other = mf_env_new(&limited);
    struct mf_watch_options how = options(1000);
    struct mf_watch *watch;
    struct mf_heap_stats before, after;

    (void)state;
    mf_env_heap(other, &before);
    how.times = true;
    assert_int_equal(mf_watch_open(other, &how, &watch), MF_ERR_LIMIT);
    mf_env_heap(other, &after);
    assert_int_equal(before.live, after.live);
    mf_env_free(other);

    other = mf_env_new(NULL);
    assert_int_equal(mf_watch_open(other, NULL, &watch), MF_OK);
    mf_env_free(other);
    assert_true(mf_watch_begin(watch));
    mf_watch_end(watch);
    mf_watch_close(watch);
}

static int set_up(void **state)
{
    (void)state;
    env = mf_env_new(NULL);
    return env ? make_scratch(state) : -1;
}

static int tear_down(void **state)
{
    mf_env_free(env);
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rise_is_a_leak),
        cmocka_unit_test(test_a_constant_is_not_a_leak),
        cmocka_unit_test(test_thresholds_are_the_last_that_is_not_a_leak),
        cmocka_unit_test(test_nothing_leaks_before_the_last_round),
        cmocka_unit_test(test_models_and_files_that_stay_open),
        cmocka_unit_test(test_all_descriptors_leak),
        cmocka_unit_test(test_a_gap_is_said),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_energy_of_a_counter),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_short_lists),
        cmocka_unit_test(test_closing_and_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
