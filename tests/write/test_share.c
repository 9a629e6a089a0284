/* SPDX-License-Identifier: MIT
 *
 * test_share.c - equal files that share their data, and others that do not
 */
#include <sys/stat.h>

#include "lib/program.h"
#include "tests/with_scratch.h"

#define SIZE ((size_t)300 * 1000)

/* Bytes of which the one at `odd` is another one; SIZE: none. */
static const char *put_file(const char *name, size_t odd)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    for (size_t i = 0; i < SIZE; i++)
        assert_int_not_equal(fputc((int)(i % 251) ^ (i == odd), file), EOF);
    assert_int_equal(fclose(file), 0);
    return path;
}

static struct stat status_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    return status;
}

static enum mf_share_end share(const char *from, const char *path)
{
    struct mf_share out;

    assert_int_equal(mf_file_share(env, from, path, true, &out), MF_OK);
    return out.end;
}

static void equal_files_become_one(void **state)
{
    const char *a = put_file("a", SIZE), *b = put_file("b", SIZE);

    (void)state;
    assert_int_equal(share(a, b), MF_SHARE_DONE);
    assert_int_equal(status_of(a).st_ino, status_of(b).st_ino);
    assert_int_equal(status_of(b).st_mode & 0777, 0444);
    assert_int_equal(share(a, b), MF_SHARE_ALREADY);
    assert_int_equal(empty_scratch(), 2);
}

/* Wherever the byte is that differs: in any piece of any thread. */
static void others_stay(void **state)
{
    const size_t odd[] = { 0, 4095, 4096, SIZE / 2, SIZE - 1 };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        const char *a = put_file("a", SIZE), *b = put_file("b", odd[i]);
        struct stat before = status_of(b);

        assert_int_equal(share(a, b), MF_SHARE_DIFFERENT);
        assert_int_equal(status_of(b).st_ino, before.st_ino);
        assert_int_equal(status_of(a).st_mode, before.st_mode);
        assert_int_equal(empty_scratch(), 2);
    }
}

static void links_are_not_followed(void **state)
{
    const char *a = put_file("a", SIZE), *b = put_file("b", SIZE);
    const char *link = scratch_path("link");
    struct mf_share out;

    (void)state;
    assert_int_equal(symlink(b, link), 0);
    assert_int_equal(mf_file_share(env, a, link, true, &out), MF_ERR_IO);
    assert_int_equal(mf_file_share(env, link, a, true, &out), MF_ERR_IO);
    assert_int_equal(status_of(b).st_nlink, 1);
    assert_int_equal(empty_scratch(), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_files_become_one),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(links_are_not_followed),
    };

    return RUN_WITH_SCRATCH(tests);
}
