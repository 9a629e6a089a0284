/* SPDX-License-Identifier: MIT
 *
 * test_target.c - an output file, by itself
 */
#define _XOPEN_SOURCE 700 /* S_ISVTX */

#if defined(__linux__)
#include <sys/xattr.h>
#endif

#include "lib/io/path.h"
#include "lib/io/target.h"
#include "tests/with_scratch.h"

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

/* A file that neither we nor the folder's owner put where all may put files and
 * none may take away another's. */
static void planted_is_what_others_put_where_all_may(void **state)
{
    const uid_t we = geteuid();
    const struct {
        mode_t mode;
        uid_t folder, file;
        bool planted;
    } rows[] = {
        { S_ISVTX | 0777, we + 1, we + 2, true },
        { S_ISVTX | 0777, we, we + 2, true },
        { S_ISVTX | 0002, we + 1, we + 2, true },
        { S_ISVTX | 0777, we + 1, we, false },
        { S_ISVTX | 0777, we + 1, we + 1, false },
        { S_ISVTX | 0775, we + 1, we + 2, false },
        { 0777, we + 1, we + 2, false },
        { 0755, we + 1, we + 2, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct stat folder = { .st_mode = rows[i].mode,
                               .st_uid = rows[i].folder };
        struct stat file = { .st_mode = 0644, .st_uid = rows[i].file };

        if (mf_is_planted(&folder, &file) != rows[i].planted)
            fail_msg("row %zu", i);
    }
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

/* Of the one file in the scratch folder whose name begins with a dot. */
static unsigned temporary_mode(void)
{
    DIR *folder = opendir(scratch_path(""));
    struct dirent *entry;
    struct stat status = { .st_mode = 0 };
    unsigned found = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        if (has_suffix(entry->d_name, ".tmp")) {
            assert_int_equal(stat(scratch_path(entry->d_name), &status), 0);
            found++;
        }
    closedir(folder);
    assert_int_equal(found, 1);
    return status.st_mode & 07777;
}

static unsigned mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void is_private_before_it_is_whole(void **state)
{
    mode_t umask_before = umask(027);
    struct mf_target target;

    (void)state;
    for (int old = 0; old < 2; old++) {
        if (old)
            assert_int_equal(chmod(scratch_path("o"), 0666), 0);
        open_target(&target, old);
        assert_int_equal(temporary_mode(), 0600);
        assert_int_equal(mf_target_write(env, &target, 0, "new", 3), MF_OK);
        assert_int_equal(temporary_mode(), 0600);
        assert_int_equal(mf_target_sync(&target), MF_OK);
        assert_int_equal(temporary_mode(), old ? 0666 : 0640);
        assert_int_equal(mf_target_commit(&target), MF_OK);
        assert_int_equal(mode_of(scratch_path("o")), old ? 0666 : 0640);
    }
    umask(umask_before);
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

/* A program has its own words for what to do: it learns which error it is. */
static void one_that_exists_is_noticed(void **state)
{
    struct mf_target target;

    (void)state;
    save(scratch_path("o"), "old", 3);
    assert_int_equal(mf_target_open(env, scratch_path("o"), 3, false, &target),
                     MF_ERR_OUTPUT);
    assert_string_equal(mf_env_error(env)->rule, "OUTPUT-EXISTS");
    assert_null(strstr(mf_env_error(env)->message, "--"));
    mf_clear_error(env);
    assert_string_equal(mf_env_error(env)->rule, "");
    assert_int_equal(empty_scratch(), 1);
}

/* Without permission to replace it. */
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
#if !defined(MF_SYSTEM_LINUX)
    skip();
#endif
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

/* ---- ended from within ---- */

enum { OPEN = 5 };

/* Files in the scratch folder. */
static size_t files(void)
{
    DIR *folder = opendir(scratch_folder);
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

/* Of those that are open, whichever was closed before, and how. */
static void what_is_abandoned_leaves_nothing(void **state)
{
    static const char *const names[OPEN] = { "a", "b", "c", "d", "e" };
    struct mf_target target[OPEN];
    char old[sizeof(target[0].temporary.name)];

    (void)state;
    mf_env_abandon(NULL);
    mf_env_abandon(env);
    for (size_t closed = 0; closed < OPEN; closed++)
        for (int whole = 0; whole < 2; whole++) {
            for (size_t i = 0; i < OPEN; i++)
                assert_int_equal(mf_target_open(env, scratch_path(names[i]), 0,
                                                false, &target[i]),
                                 MF_OK);
            snprintf(old, sizeof(old), "%s", target[closed].temporary.name);
            if (whole)
                assert_int_equal(mf_target_commit(&target[closed]), MF_OK);
            mf_target_abort(&target[closed]);
            save(scratch_path(old), "ours no more", 1);
            assert_int_equal(files(), OPEN + (size_t)whole);
            mf_env_abandon(env);
            assert_int_equal(files(), 1 + (size_t)whole);
            assert_int_equal(access(scratch_path(old), F_OK), 0);
            for (size_t i = 0; i < OPEN; i++)
                mf_target_abort(&target[i]);
            save(scratch_path("x"), "", 0);
            mf_env_abandon(env);
            assert_int_equal(empty_scratch(), 2 + (size_t)whole);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_is_what_others_put_where_all_may),
        cmocka_unit_test(takes_its_name_last),
        cmocka_unit_test(is_private_before_it_is_whole),
        cmocka_unit_test(what_is_forgotten_leaves_nothing),
        cmocka_unit_test(one_that_exists_is_noticed),
        cmocka_unit_test(what_comes_meanwhile_stays),
        cmocka_unit_test(what_is_abandoned_leaves_nothing),
        cmocka_unit_test(bytes_stay_within_the_size),
        cmocka_unit_test(attributes_pass),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
