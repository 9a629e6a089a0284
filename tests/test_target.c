/* SPDX-License-Identifier: MIT
 *
 * test_target.c - an output file, by itself
 */
#if defined(__linux__)
#include <sys/xattr.h>
#endif

#include "lib/target.h"
#include "tests/scratch.h"

static struct mf_env *env;

static int start(void **state)
{
    env = mf_env_new(NULL);
    return env ? make_scratch(state) : -1;
}

static int stop(void **state)
{
    mf_env_free(env);
    return remove_scratch(state);
}

static void open_target(struct mf_target *target, bool replace)
{
    mf_clear_error(env);
    if (mf_target_open(env, scratch_path("o"), 3, replace, target) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
}

static bool holds(const char *text)
{
    size_t size;
    uint8_t *bytes = load(scratch_path("o"), &size);
    bool same = size == strlen(text) && memcmp(bytes, text, size) == 0;

    free(bytes);
    return same;
}

static void takes_its_name_last(void **state)
{
    struct mf_target target;

    (void)state;
    open_target(&target, false);
    assert_int_equal(mf_target_write(env, &target, 0, "new", 3), MF_OK);
    assert_int_not_equal(access(scratch_path("o"), F_OK), 0);
    assert_int_equal(mf_target_sync(&target), MF_OK);
    assert_int_not_equal(access(scratch_path("o"), F_OK), 0);
    assert_int_equal(mf_target_commit(&target), MF_OK);
    assert_true(holds("new"));
    assert_int_equal(empty_scratch(), 1);
}

static void what_is_forgotten_leaves_nothing(void **state)
{
    struct mf_target target;

    (void)state;
    save(scratch_path("o"), "old", 3);
    open_target(&target, true);
    assert_int_equal(mf_target_write(env, &target, 0, "new", 3), MF_OK);
    mf_target_abort(&target);
    mf_target_abort(&target); /* again, which does nothing */
    assert_true(holds("old"));
    assert_int_equal(empty_scratch(), 1);
}

/* Nobody said that it may be replaced. */
static void what_comes_meanwhile_stays(void **state)
{
    struct mf_target target;

    (void)state;
    open_target(&target, false);
    assert_int_equal(mf_target_write(env, &target, 0, "new", 3), MF_OK);
    save(scratch_path("o"), "another", 7);
    assert_int_equal(mf_target_sync(&target), MF_OK);
    assert_int_equal(mf_target_commit(&target), MF_ERR_OUTPUT);
    assert_true(holds("another"));
    assert_int_equal(empty_scratch(), 1);
}

static void bytes_stay_within_the_size(void **state)
{
    struct mf_target target;

    (void)state;
    open_target(&target, false);
    assert_int_equal(mf_target_write(env, &target, 1, "new", 3),
                     MF_ERR_ARGUMENT);
    mf_clear_error(env);
    assert_int_equal(mf_target_write(env, &target, UINT64_MAX, "new", 3),
                     MF_ERR_ARGUMENT);
    mf_target_abort(&target);
    assert_int_equal(empty_scratch(), 0);
}

static void attributes_pass(void **state)
{
#if defined(__linux__)
    struct mf_target target;
    char value[8];

    (void)state;
    save(scratch_path("o"), "old", 3);
    if (setxattr(scratch_path("o"), "user.modelfile", "kept", 4, 0) != 0) {
        empty_scratch();
        skip();
    }
    open_target(&target, true);
    assert_int_equal(mf_target_write(env, &target, 0, "new", 3), MF_OK);
    assert_int_equal(mf_target_sync(&target), MF_OK);
    assert_int_equal(mf_target_commit(&target), MF_OK);
    assert_true(holds("new"));
    assert_int_equal(
        getxattr(scratch_path("o"), "user.modelfile", value, sizeof(value)), 4);
    assert_memory_equal(value, "kept", 4);
    assert_int_equal(empty_scratch(), 1);
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_its_name_last),
        cmocka_unit_test(what_is_forgotten_leaves_nothing),
        cmocka_unit_test(what_comes_meanwhile_stays),
        cmocka_unit_test(bytes_stay_within_the_size),
        cmocka_unit_test(attributes_pass),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
