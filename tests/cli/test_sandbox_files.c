/* SPDX-License-Identifier: MIT
 *
 * test_sandbox_files.c - files that the program may not write are refused
 *
 * Each attempt is made by a child of this process twice: as it is, to see that
 * it would succeed, and in the sandbox.
 */
#if !defined(__linux__)

#include <stdio.h>

int main(void)
{
    puts("1..0 # SKIP only Linux has a sandbox of this kind");
    return 0;
}

#else

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/cli/sandbox_child.h"

/* in/, beside/, in/link -> ../beside/far, and a file in each; all that an
 * attempt left is gone. */
static void make_tree(void)
{
    static const char *const files[] = { "in/old", "beside/old", "old" };

    mkdir(scratch_path("in"), 0777);
    mkdir(scratch_path("beside"), 0777);
    for (size_t i = 0; i < COUNT(files); i++) {
        int fd = open(scratch_path(files[i]), O_WRONLY | O_CREAT, 0666);

        assert_true(fd >= 0 && write(fd, "old", 3) == 3);
        close(fd);
    }
    assert_int_equal(symlink("../beside/far", scratch_path("in/link")), 0);
    assert_int_equal(mkfifo(scratch_path("pipe"), 0666), 0);
}

static void remove_tree(void)
{
    static const char *const names[] = {
        "in/old",     "in/new",     "in/link",    "in/folder",    "in/moved",
        "beside/old", "beside/new", "beside/far", "beside/moved", "old",
        "new",        "pipe",       "in",         "beside",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        remove(scratch_path(names[i]));
}

static int writing(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);

    return fd >= 0 && write(fd, "new", 3) == 3 ? 0 : -1;
}

#define TRY(name, expression)                                                  \
    static int name(void)                                                      \
    {                                                                          \
        return expression;                                                     \
    }

TRY(make_in, writing(scratch_path("in/new"), O_CREAT | O_EXCL))
TRY(write_in, writing(scratch_path("in/old"), 0))
TRY(clear_in, writing(scratch_path("in/old"), O_TRUNC))
TRY(cut_in, truncate(scratch_path("in/old"), 1))
TRY(remove_in, unlink(scratch_path("in/old")))
TRY(move_in, rename(scratch_path("in/old"), scratch_path("in/moved")))
TRY(write_link, writing(scratch_path("in/link"), O_CREAT))
TRY(folder_in, mkdir(scratch_path("in/folder"), 0777))
TRY(link_in, symlink("old", scratch_path("in/new")))
TRY(make_beside, writing(scratch_path("beside/new"), O_CREAT | O_EXCL))
TRY(write_beside, writing(scratch_path("beside/old"), 0))
TRY(clear_beside, writing(scratch_path("beside/old"), O_TRUNC))
TRY(cut_beside, truncate(scratch_path("beside/old"), 1))
TRY(remove_beside, unlink(scratch_path("beside/old")))
TRY(move_beside, rename(scratch_path("beside/old"), scratch_path("beside/new")))
TRY(move_over, rename(scratch_path("in/old"), scratch_path("beside/old")))
TRY(move_out, rename(scratch_path("in/old"), scratch_path("beside/moved")))
TRY(link_out, link(scratch_path("beside/old"), scratch_path("in/new")))
TRY(write_above, writing(scratch_path("old"), 0))
TRY(remove_folder,
    rmdir(scratch_path("beside")) == 0 || errno == ENOTEMPTY ? 0 : -1)
TRY(write_pipe,
    writing(scratch_path("pipe"), O_NONBLOCK) == 0 || errno == ENXIO ? 0 : -1)
TRY(write_null, writing("/dev/null", 0))

static void allow_in(struct sandbox *sandbox)
{
    sandbox_allow_file(sandbox, scratch_path("in/out.gguf"));
}

static void allow_link(struct sandbox *sandbox)
{
    sandbox_allow_file(sandbox, scratch_path("in/link"));
}

static void allow_folder(struct sandbox *sandbox)
{
    sandbox_allow_folder(sandbox, scratch_path("in"));
}

static void allow_pipe(struct sandbox *sandbox)
{
    sandbox_allow_file(sandbox, scratch_path("pipe"));
}

static void allow_missing(struct sandbox *sandbox)
{
    sandbox_allow_file(sandbox, scratch_path("missing/out.gguf"));
}

static void allow_here(struct sandbox *sandbox)
{
    if (chdir(scratch_path("in")) == 0)
        sandbox_allow_file(sandbox, "out.gguf");
}

static const struct file_attempt {
    const char *name;
    int (*try)(void);
    void (*prepare)(struct sandbox *);
    int error; /* 0: it is allowed */
} files[] = {
    { "write where nothing is allowed", write_in, allow_nothing, EACCES },
    { "make where nothing is allowed", make_in, allow_nothing, EACCES },
    { "write to a device", write_null, allow_nothing, EACCES },
    { "make a file beside OUT", make_in, allow_in, 0 },
    { "write OUT's neighbour", write_in, allow_in, 0 },
    { "empty it", clear_in, allow_in, 0 },
    { "shorten it", cut_in, allow_in, 0 },
    { "remove it", remove_in, allow_in, 0 },
    { "give it another name", move_in, allow_in, 0 },
    { "make a folder there", folder_in, allow_in, EACCES },
    { "make a link there", link_in, allow_in, EACCES },
    { "make a file elsewhere", make_beside, allow_in, EACCES },
    { "write one elsewhere", write_beside, allow_in, EACCES },
    { "empty one", clear_beside, allow_in, EACCES },
    { "remove one", remove_beside, allow_in, EACCES },
    { "rename one", move_beside, allow_in, EACCES },
    { "replace one", move_over, allow_in, EACCES },
    { "move one there", move_out, allow_in, EACCES },
    { "write above", write_above, allow_in, EACCES },
    { "remove a folder", remove_folder, allow_in, EACCES },
    { "write by a link that leads elsewhere", write_link, allow_in, EACCES },
    { "write where OUT leads", write_link, allow_link, 0 },
    { "write next to the link", make_in, allow_link, 0 },
    { "make a folder below $TMPDIR", folder_in, allow_folder, 0 },
    { "write elsewhere then", write_beside, allow_folder, EACCES },
    { "write to the pipe", write_pipe, allow_pipe, 0 },
    { "write next to the pipe", write_above, allow_pipe, EACCES },
    { "write to another pipe", write_pipe, allow_in, EACCES },
    { "write where OUT has no folder", write_above, allow_missing, EACCES },
    { "write where we stand", make_in, allow_here, 0 },
    { "write elsewhere from there", make_beside, allow_here, EACCES },
};

static bool is_refused(int error)
{
    /* Between folders also where names are refused, and not files. */
    return error == EACCES || error == EPERM || error == EXDEV;
}

static void test_files(void **state)
{
    (void)state;
    need_landlock();
    umask(0);
    for (size_t i = 0; i < COUNT(files); i++) {
        const struct file_attempt *file = &files[i];
        int plain, confined;

        make_tree();
        plain = in_child(NULL, file->try);
        remove_tree();
        make_tree();
        confined = in_child(file->prepare, file->try);
        remove_tree();
        if (plain != 0)
            fail_msg("%s: fails without a sandbox: %s", file->name,
                     strerror(plain));
        if (file->error ? !is_refused(confined) : confined != 0)
            fail_msg("%s: %s", file->name, strerror(confined));
    }
}

/* From version 3 of Landlock on. */
static void test_truncate(void **state)
{
    struct sandbox sandbox;

    (void)state;
    need_landlock();
    sandbox_begin(&sandbox, NULL);
    close(sandbox.rules);
    if (sandbox.landlock < 3) {
        print_message("# Landlock of this kernel lets files be shortened\n");
        skip();
    }
    make_tree();
    assert_int_equal(in_child(NULL, cut_beside), 0);
    remove_tree();
    make_tree();
    assert_int_equal(in_child(allow_in, cut_beside), EACCES);
    remove_tree();
}

/* A name of a file elsewhere in the folder that may be written. */
static void test_link_out(void **state)
{
    (void)state;
    need_landlock();
    make_tree();
    assert_int_equal(in_child(NULL, link_out), 0);
    remove_tree();
    make_tree();
    assert_true(is_refused(in_child(allow_in, link_out)));
    remove_tree();
}

static int try_off(void)
{
    struct sandbox sandbox;

    sandbox_begin(&sandbox, "for a reason");
    sandbox_allow_file(&sandbox, scratch_path("in/old"));
    sandbox_enter(&sandbox);
    return sandbox.landlock > 0 || sandbox.seccomp || write_beside() != 0 ||
           open_socket() != 0;
}

static int try_valgrind(void)
{
    setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so",
           1);
    return what_is_possible() == -1 && errno == 9 ? 0 : -1;
}

static void test_off(void **state)
{
    (void)state;
    make_tree();
    assert_int_equal(in_child(NULL, try_off), 0);
    assert_int_equal(in_child(NULL, try_valgrind), 0);
    remove_tree();
}

/* Whatever was opened for the rules is closed again. */
static int try_descriptors(void)
{
    struct sandbox sandbox;
    int before = dup(STDIN_FILENO), after;

    sandbox_begin(&sandbox, NULL);
    allow_in(&sandbox);
    allow_pipe(&sandbox);
    sandbox_enter(&sandbox);
    after = dup(STDIN_FILENO);
    return after == before + 1 ? 0 : -1;
}

static void test_descriptors(void **state)
{
    (void)state;
    assert_int_equal(in_child(NULL, try_descriptors), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),       cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_link_out),    cmocka_unit_test(test_off),
        cmocka_unit_test(test_descriptors),
    };

    return cmocka_run_group_tests(tests, setup, remove_scratch);
}

#endif
