/* SPDX-License-Identifier: MIT
 *
 * test_profile.c - heap profiles of an env, and what tests do with them
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/scratch.h"

/* ---- places that allocate ---- */

#define PLACES 4

/* A call of its own for each, which is not made a jump. */
#define PLACE(number)                                                          \
    __attribute__((noinline)) static void *place_##number(                     \
        const struct mf_allocator *allocator, void *block, size_t old_size,    \
        size_t new_size)                                                       \
    {                                                                          \
        void *moved =                                                          \
            allocator->resize(allocator->user, block, old_size, new_size);     \
        __asm__ volatile("" : : : "memory");                                   \
        return moved;                                                          \
    }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)

static void *(*const places[PLACES])(const struct mf_allocator *allocator,
                                     void *block, size_t old_size,
                                     size_t new_size) = { place_0, place_1,
                                                          place_2, place_3 };

static struct mf_profile *new_profile(const char *path)
{
    struct mf_profile_options options = { .size = sizeof(options),
                                          .path = path,
                                          .command = "a \"test\"" };
    struct mf_profile *profile = mf_profile_new(&options);

    assert_non_null(profile);
    return profile;
}

static bool has_call(const struct mf_profile_point *point, const char *text)
{
    for (size_t i = 0; i < point->call_count; i++)
        if (strstr(point->call[i], text))
            return true;
    return false;
}

/* The point of a place; its numbers are all 0 if there is none. */
static struct mf_profile_point point_of(struct mf_profile *profile, int place)
{
    struct mf_profile_point point;
    char name[32];

    snprintf(name, sizeof(name), ": place_%d (", place);
    for (size_t i = 0;
         mf_profile_point_at(profile, MF_PROFILE_TOTAL, i, &point); i++)
        if (has_call(&point, name))
            return point;
    return (struct mf_profile_point){ 0 };
}

/* ---- against plain counting ---- */

struct plain {
    uint64_t total_bytes, total_blocks;
    size_t bytes, blocks, peak_bytes, peak_blocks;
};

#define BLOCKS 40

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Copies all places at each new peak, as a profile does not. */
static void count(struct plain *all, struct plain *place,
                  struct plain places_of[], size_t old_size, size_t new_size)
{
    struct plain *both[] = { all, place };

    for (int i = 0; i < 2; i++) {
        both[i]->bytes += new_size - old_size;
        both[i]->blocks += (size_t)(old_size == 0) - (size_t)(new_size == 0);
        if (new_size > 0) {
            both[i]->total_bytes += new_size;
            both[i]->total_blocks++;
        }
    }
    if (new_size == 0 || all->bytes < all->peak_bytes)
        return;
    for (int i = 0; i < PLACES; i++) {
        places_of[i].peak_bytes = places_of[i].bytes;
        places_of[i].peak_blocks = places_of[i].blocks;
    }
    all->peak_bytes = all->bytes;
    all->peak_blocks = all->blocks;
}

static void assert_counted(struct mf_profile *profile, const struct plain *all,
                           const struct plain *places_of)
{
    struct mf_heap_stats stats;

    mf_profile_stats(profile, &stats);
    assert_int_equal(stats.live, all->bytes);
    assert_int_equal(stats.live_blocks, all->blocks);
    assert_int_equal(stats.total_bytes, all->total_bytes);
    assert_int_equal(stats.allocations, all->total_blocks);
    assert_int_equal(stats.peak, all->peak_bytes);
    assert_int_equal(stats.peak_blocks, all->peak_blocks);
    for (int i = 0; i < PLACES; i++) {
        struct mf_profile_point point = point_of(profile, i);

        assert_int_equal(point.total_bytes, places_of[i].total_bytes);
        assert_int_equal(point.total_blocks, places_of[i].total_blocks);
        assert_int_equal(point.live_bytes, places_of[i].bytes);
        assert_int_equal(point.live_blocks, places_of[i].blocks);
        assert_int_equal(point.peak_bytes, places_of[i].peak_bytes);
        assert_int_equal(point.peak_blocks, places_of[i].peak_blocks);
    }
}

static void random_blocks(uint32_t seed, int steps)
{
    struct mf_profile *profile = new_profile(NULL);
    struct mf_allocator allocator = mf_profile_allocator(profile);
    struct plain all = { 0 }, places_of[PLACES] = { { 0 } };
    struct {
        void *block;
        size_t size;
        int place;
    } kept[BLOCKS] = { { 0 } };
    /* So that no other is the env. */
    void *first = allocator.resize(allocator.user, NULL, 0, 1);

    count(&all, &(struct plain){ 0 }, places_of, 0, 1);
    for (int i = 0; i < steps; i++) {
        int n = (int)(next_random(&seed) % BLOCKS);
        size_t size = next_random(&seed) % 3 ? 1 + next_random(&seed) % 9 : 0;
        size_t old_size = kept[n].size;

        if (old_size == 0)
            kept[n].place = (int)(next_random(&seed) % PLACES);
        if (old_size + size == 0)
            continue;
        /* A block that is moved stays with its maker. */
        kept[n].block = places[old_size ? i % PLACES : kept[n].place](
            &allocator, kept[n].block, old_size, size);
        assert_int_equal(kept[n].block != NULL, size > 0);
        kept[n].size = size;
        count(&all, &places_of[kept[n].place], places_of, old_size, size);
    }
    assert_counted(profile, &all, places_of);
    for (int n = 0; n < BLOCKS; n++)
        if (kept[n].size > 0)
            allocator.resize(allocator.user, kept[n].block, kept[n].size, 0);
    allocator.resize(allocator.user, first, 1, 0);
    mf_profile_free(profile);
}

static void numbers_are_as_in_plain_counting(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 4; seed++)
        random_blocks(seed, (int)(seed * seed * 60));
}

/* As DHAT has it. */
static void of_equal_peaks_the_last_one_counts(void **state)
{
    struct mf_profile *profile = new_profile(NULL);
    struct mf_allocator allocator = mf_profile_allocator(profile);
    void *a = place_0(&allocator, NULL, 0, 10);
    void *b = place_1(&allocator, NULL, 0, 10), *c;
    struct mf_heap_stats stats;

    (void)state;
    b = place_1(&allocator, b, 10, 4);
    c = place_2(&allocator, NULL, 0, 6);
    mf_profile_stats(profile, &stats);
    assert_int_equal(stats.peak, 20);
    assert_int_equal(stats.peak_blocks, 3);
    assert_int_equal(point_of(profile, 1).peak_bytes, 4);
    assert_int_equal(point_of(profile, 2).peak_bytes, 6);
    allocator.resize(allocator.user, b, 4, 0);
    allocator.resize(allocator.user, c, 6, 0);
    allocator.resize(allocator.user, a, 10, 0);
    assert_int_equal(point_of(profile, 2).peak_bytes, 6);
    mf_profile_free(profile);
}

/* ---- names ---- */

static int line_of_outer;

static inline __attribute__((always_inline)) void *
inlined(const struct mf_allocator *allocator)
{
    return place_1(allocator, NULL, 0, 10);
}

__attribute__((noinline)) static void *
outer(const struct mf_allocator *allocator)
{
    void *block;

    line_of_outer = __LINE__ + 1;
    block = inlined(allocator);
    __asm__ volatile("" : : : "memory");
    return block;
}

static void calls_have_functions_and_lines(void **state)
{
    struct mf_profile *profile = new_profile(NULL);
    struct mf_allocator allocator = mf_profile_allocator(profile);
    void *block = outer(&allocator);
    struct mf_profile_point point = point_of(profile, 1);
    char text[64];

    (void)state;
    assert_true(point.call_count >= 4);
    assert_non_null(strstr(point.call[0], ": place_1 (test_profile.c:"));
    assert_non_null(strstr(point.call[1], ": inlined (test_profile.c:"));
    snprintf(text, sizeof(text), ": outer (test_profile.c:%d)", line_of_outer);
    assert_non_null(strstr(point.call[2], text));
    assert_memory_equal(point.call[1], "0x", 2);
    assert_int_equal(strcspn(point.call[1], ":"), strcspn(point.call[2], ":"));
    assert_non_null(strstr(point.call[point.call_count - 1], ": main ("));
    allocator.resize(allocator.user, block, 10, 0);
    mf_profile_free(profile);
}

/* ---- an env ---- */

static struct mf_env *env_of(struct mf_profile *profile)
{
    struct mf_options options = { .size = sizeof(options), .threads = 2 };
    struct mf_env *env;

    options.allocator = mf_profile_allocator(profile);
    env = mf_env_new(&options);
    assert_non_null(env);
    return env;
}

static void an_env_counts_the_same(void **state)
{
    struct mf_profile *profile = new_profile(NULL);
    struct mf_env *env = env_of(profile);
    struct mf_heap_stats one, other;
    struct mf_profile_point point;
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-llama.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    mf_env_heap(env, &one);
    mf_profile_stats(profile, &other);
    assert_memory_equal(&one, &other, sizeof(one));
    assert_true(mf_profile_point_at(profile, MF_PROFILE_PEAK, 0, &point));
    assert_true(has_call(&point, ": mf_env_resize (heap.c:"));
    assert_true(has_call(&point, ": an_env_counts_the_same (test_profile.c:"));
    mf_model_close(model);
    mf_env_free(env);
    mf_profile_stats(profile, &other);
    assert_int_equal(other.live + other.live_blocks, 0);
    assert_int_equal(other.peak, one.peak);
    mf_profile_free(profile);
}

struct left {
    size_t bytes, blocks, points;
};

static void see_left(void *user, const struct mf_profile_point *point)
{
    struct left *left = user;

    left->bytes += point->live_bytes;
    left->blocks += point->live_blocks;
    assert_true(has_call(point, ": leave_and_free (test_profile.c:"));
    left->points++;
}

__attribute__((noinline)) static void leave_a_model_open(struct mf_env *env)
{
    struct mf_model *model;

    assert_int_equal(
        mf_model_open(env, fixture_path("good-llama.gguf"), NULL, &model),
        MF_OK);
}

/* The profile is there when the first block, the env, is freed. */
__attribute__((noinline)) static int leave_and_free(const char *path)
{
    struct left left = { 0 };
    struct mf_profile_options options = { .size = sizeof(options),
                                          .path = path,
                                          .alive = see_left,
                                          .alive_user = &left };
    struct mf_profile *profile = mf_profile_new(&options);
    struct mf_allocator allocator = mf_profile_allocator(profile);
    /* In an env's place, which would not go on. */
    void *first = allocator.resize(allocator.user, NULL, 0, 100);
    void *two = place_2(&allocator, NULL, 0, 30);
    void *three = place_3(&allocator, NULL, 0, 70);

    allocator.resize(allocator.user, first, 100, 0);
    assert_int_equal(left.bytes, 100);
    assert_int_equal(left.blocks, 2);
    assert_int_equal(left.points, 2);
    allocator.resize(allocator.user, two, 30, 0);
    allocator.resize(allocator.user, three, 70, 0);
    mf_profile_free(profile);
    return left.points == 2;
}

static bool is_profile(const char *path)
{
    static const char beginning[] = "{\"dhatFileVersion\":2,";
    size_t size;
    char *bytes = (char *)load(path, &size);
    bool is_one = size > sizeof(beginning) &&
                  memcmp(bytes, beginning, sizeof(beginning) - 1) == 0 &&
                  bytes[size - 2] == '}';

    free(bytes);
    return is_one;
}

static bool has_text(const char *path, const char *text)
{
    size_t size, length = strlen(text), at = 0;
    char *bytes = (char *)load(path, &size);

    while (at + length <= size && memcmp(bytes + at, text, length) != 0)
        at++;
    free(bytes);
    return at + length <= size;
}

static void blocks_that_are_left_have_names(void **state)
{
    const char *path = scratch_path("left.json");

    (void)state;
    assert_true(leave_and_free(path));
    assert_true(is_profile(path));
    assert_true(has_text(path, "{\"tb\":30,\"tbk\":1,"));
    assert_true(has_text(path, "{\"tb\":70,\"tbk\":1,"));
    assert_false(has_text(path, "\"tbk\":0,"));
    assert_int_equal(unlink(path), 0);
}

static void end_with_a_model_open(const char *path)
{
    struct mf_profile *profile = new_profile(path);
    struct mf_env *env = env_of(profile);

    leave_a_model_open(env);
    mf_env_free(env);
    mf_profile_free(profile);
    _exit(0);
}

static void a_model_that_is_left_open_leaves_a_profile(void **state)
{
    const char *path = scratch_path("open.json");
    int status;
    pid_t child;

    (void)state;
    fflush(NULL);
    child = fork();
    if (child == 0)
        end_with_a_model_open(path);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_profile(path));
    assert_true(has_text(path, ": leave_a_model_open (test_profile.c:"));
    assert_int_equal(unlink(path), 0);
}

/* ---- expectations ---- */

static void an_expectation_that_fails_leaves_the_profile(void **state)
{
    const char *path = scratch_path("expected.json");
    struct mf_profile *profile = new_profile(path);
    struct mf_env *env = env_of(profile);
    struct mf_heap_stats stats;

    (void)state;
    mf_profile_stats(profile, &stats);
    assert_true(mf_profile_expect(profile, stats.live_blocks == 1, "the env"));
    assert_int_equal(access(path, F_OK), -1);
    assert_false(mf_profile_expect(profile, stats.live_blocks == 0, "nothing"));
    assert_string_equal(mf_profile_error(profile)->message,
                        "the expectation 'nothing' does not hold");
    assert_true(is_profile(path));
    assert_int_equal(unlink(path), 0);
    assert_false(mf_profile_expect(profile, true, "too late"));
    assert_int_equal(access(path, F_OK), -1);
    mf_env_free(env);
    mf_profile_free(profile);
}

/* ---- files ---- */

static void only_profiles_are_replaced(void **state)
{
    struct mf_profile *profile = new_profile(NULL);
    const char *path = scratch_path("file"), *link = scratch_path("link");
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    fputs("{\"dhatFileVersioN\":2}", file);
    fclose(file);
    assert_int_equal(mf_profile_write(profile, path), MF_ERR_OUTPUT);
    assert_string_equal(mf_profile_error(profile)->rule, "OUTPUT-EXISTS");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(mf_profile_write(profile, path), MF_OK);
    assert_int_equal(mf_profile_write(profile, path), MF_OK);
    assert_true(is_profile(path));
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(mf_profile_write(profile, link), MF_ERR_OUTPUT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mf_profile_write(profile, link), MF_ERR_OUTPUT);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkfifo(link, 0600), 0); /* no reader */
    assert_int_equal(mf_profile_write(profile, link), MF_ERR_OUTPUT);
    assert_int_equal(mf_profile_write(profile, "/dev/null"), MF_ERR_OUTPUT);
    assert_int_equal(mf_profile_write(profile, scratch_folder), MF_ERR_OUTPUT);
    assert_int_equal(mf_profile_write(profile, ""), MF_ERR_OUTPUT);
    assert_int_equal(empty_scratch(), 1);
    mf_profile_free(profile);
}

/* ---- without memory ---- */

struct scarce {
    size_t left; /* calls that succeed */
};

static void *scarce_resize(void *user, void *block, size_t old_size,
                           size_t new_size)
{
    struct scarce *scarce = user;

    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (new_size > old_size && scarce->left-- == 0) {
        scarce->left = 0;
        return NULL;
    }
    return realloc(block, new_size);
}

/* Whatever cannot be allocated: numbers stay right, or the call fails. */
static bool works_with(size_t calls, const char *path)
{
    struct scarce scarce = { calls };
    struct mf_profile_options options = {
        .size = sizeof(options), .allocator = { scarce_resize, &scarce }
    };
    struct mf_profile *profile = mf_profile_new(&options);
    struct mf_allocator allocator = mf_profile_allocator(profile);
    struct mf_heap_stats stats;
    void *one, *two;
    bool written;

    if (!profile)
        return false;
    one = place_0(&allocator, NULL, 0, 10);
    two = place_1(&allocator, NULL, 0, 20);
    mf_profile_stats(profile, &stats);
    assert_int_equal(stats.live, (one ? 10 : 0) + (two ? 20 : 0));
    written = mf_profile_write(profile, path) == MF_OK;
    assert_true(written || mf_profile_error(profile)->status == MF_ERR_MEMORY);
    if (two)
        allocator.resize(allocator.user, two, 20, 0);
    if (one)
        allocator.resize(allocator.user, one, 10, 0);
    mf_profile_free(profile);
    return written && one && two;
}

static void any_allocation_may_fail(void **state)
{
    const char *path = scratch_path("scarce.json");
    size_t calls = 0;

    (void)state;
    while (!works_with(calls, path))
        calls++;
    assert_true(calls > 10);
    assert_true(is_profile(path));
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_in_plain_counting),
        cmocka_unit_test(of_equal_peaks_the_last_one_counts),
        cmocka_unit_test(calls_have_functions_and_lines),
        cmocka_unit_test(an_env_counts_the_same),
        cmocka_unit_test(blocks_that_are_left_have_names),
        cmocka_unit_test(a_model_that_is_left_open_leaves_a_profile),
        cmocka_unit_test(an_expectation_that_fails_leaves_the_profile),
        cmocka_unit_test(only_profiles_are_replaced),
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
