/* SPDX-License-Identifier: MIT
 *
 * test_error.c - what an error says besides its message
 */
#include <errno.h>

#include "lib/base/error.h"
#include "tests/with_scratch.h"

/* In the C locale, in which tests run, glibc has the same texts. */
static void test_texts(void **state)
{
    static const int numbers[] = {
#define ERRNO(name, text) name,
#include "lib/base/errnos.def"
#undef ERRNO
    };

    (void)state;
    assert_true(COUNT(numbers) > 20);
#if !defined(__GLIBC__)
    skip();
#endif
    setlocale(LC_ALL, "C");
    for (size_t i = 0; i < COUNT(numbers); i++)
        assert_string_equal(mf_errno_text(numbers[i]), strerror(numbers[i]));
}

static void check_path(const char *path, const char *about, int number)
{
    struct mf_model *model;

    assert_int_not_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_string_equal(mf_env_error(env)->path, about);
    assert_int_equal(mf_env_error(env)->system, number);
}

/* The file that is at fault, whatever the fault. */
static void test_paths(void **state)
{
    char shard[512], name[300], tail[800];

    (void)state;
    check_path(scratch_path("none.gguf"), scratch_path("none.gguf"), ENOENT);
    check_path(fixture_path("bad-empty.gguf"), fixture_path("bad-empty.gguf"),
               0);
    check_path(fixture_path("bad-magic-fugg.gguf"),
               fixture_path("bad-magic-fugg.gguf"), 0);
    snprintf(shard, sizeof(shard), "%s",
             fixture_path("bad-split-order-00002-of-00002.gguf"));
    check_path(fixture_path("bad-split-order-00001-of-00002.gguf"), shard, 0);
    assert_int_equal(mf_env_error(env)->file, MF_ERROR_IN_SHARD);
    /* Of a path that is too long its name is left. */
    memset(name, 'x', 200);
    snprintf(name + 200, sizeof(name) - 200, ".gguf");
    snprintf(tail, sizeof(tail), "%s/%0100d/%s", scratch_folder, 0, name);
    check_path(tail, name, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_texts),
        WITH_ENV(test_paths),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
