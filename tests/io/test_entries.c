/* SPDX-License-Identifier: MIT
 *
 * test_entries.c - the names in a folder, each of them once
 */
#include <fcntl.h>

#include "lib/program.h"
#include "tests/scratch.h"

enum { FILES = 300 };

/* Of very different lengths, up to the longest that Linux has. */
static const char *name_of(int i)
{
    static char name[256];
    int size = snprintf(name, sizeof(name), "%d-", i);

    for (; size < i * 255 / (FILES - 1); size++)
        name[size] = 'x';
    name[size] = 0;
    return name;
}

static int number_of(const char *name)
{
    int i = atoi(name);

    assert_in_range(i, 0, FILES - 1);
    assert_string_equal(name, name_of(i));
    return i;
}

static void every_name_is_given_once(void **state)
{
    int seen[FILES] = { 0 }, dots = 0;
    int folder = open(scratch_folder, O_RDONLY | O_DIRECTORY);
    struct mf_entries entries;
    const char *name;

    (void)state;
    assert_true(folder >= 0);
    for (int i = 0; i < FILES; i++)
        save(scratch_path(name_of(i)), "", 0);
    mf_entries_begin(&entries, folder);
    while ((name = mf_entries_next(&entries)) != NULL)
        if (name[0] == '.')
            dots++;
        else
            seen[number_of(name)]++;
    assert_int_equal(errno, 0);
    assert_null(mf_entries_next(&entries)); /* the end stays */
    for (int i = 0; i < FILES; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(dots, 2);
    mf_entries_end(&entries);
    assert_int_equal(fcntl(folder, F_GETFD), -1);
}

static void a_file_for_a_folder_is_an_error(void **state)
{
    struct mf_entries entries;
    int file;

    (void)state;
    save(scratch_path("file"), "", 0);
    file = open(scratch_path("file"), O_RDONLY);
    mf_entries_begin(&entries, file);
    assert_null(mf_entries_next(&entries));
    assert_int_equal(errno, ENOTDIR);
    mf_entries_end(&entries);
    mf_entries_begin(&entries, -1);
    assert_null(mf_entries_next(&entries));
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_given_once),
        cmocka_unit_test(a_file_for_a_folder_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
