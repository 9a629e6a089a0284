/* SPDX-License-Identifier: MIT
 *
 * test_sandbox.c - what the program has given up is refused
 *
 * Each attempt is made by a child of this process twice: as it is, to see that
 * the attempt is one that would succeed, and in the sandbox.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* needs these */

#include "cli/sandbox.h"

#if !defined(__linux__)

int main(void)
{
    puts("1..0 # SKIP only Linux has a sandbox of this kind");
    return 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/scratch.h"

/* ---- a child that tries something ---- */

#define CHILD_FAILED 250 /* no errno is that */

/* 0, or the errno with which try ended. */
static int in_child(void (*prepare)(struct sandbox *), int (*try)(void))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct sandbox sandbox;

        if (prepare) {
            sandbox_begin(&sandbox, NULL);
            prepare(&sandbox);
            sandbox_enter(&sandbox);
        }
        errno = 0;
        _exit(try() == 0 ? 0 : errno ? errno : CHILD_FAILED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* nothing is killed */
    return WEXITSTATUS(status);
}

static struct sandbox possible; /* in a child of this process */

static void learn(struct sandbox *sandbox)
{
    (void)sandbox;
}

static int told(void)
{
    struct sandbox sandbox;

    sandbox_begin(&sandbox, NULL);
    sandbox_enter(&sandbox);
    errno = sandbox.off ? 9 : (sandbox.landlock > 0) + 2 * sandbox.seccomp;
    return errno ? -1 : 0;
}

static int setup(void **state)
{
    int said = in_child(NULL, told);

    possible.off = said == 9 ? "off" : NULL;
    possible.landlock = said != 9 && (said & 1);
    possible.seccomp = said != 9 && (said & 2);
    return make_scratch(state);
}

static void need_landlock(void)
{
    if (possible.landlock == 0) {
        print_message("# this kernel, or this build, has no Landlock\n");
        skip();
    }
}

static void need_seccomp(void)
{
    if (!possible.seccomp) {
        print_message("# this kernel, or this build, has no seccomp\n");
        skip();
    }
}

/* ---- calls ---- */

static char program[] = "/bin/true";
static char *const words[] = { program, NULL };

static int run_program(void)
{
    return execv(program, words);
}

static int run_program_at(void)
{
    int file = open(program, O_RDONLY);

    return (int)syscall(SYS_execveat, file, "", words, NULL, AT_EMPTY_PATH);
}

static int open_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : -1;
}

static int open_local_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : -1;
}

static int open_pair(void)
{
    int pair[2];

    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int left_pair[2]; /* open before the sandbox is entered */

static int send_on_socket(void)
{
    return send(left_pair[0], "x", 1, MSG_DONTWAIT) == 1 ? 0 : -1;
}

static int write_on_socket(void)
{
    return write(left_pair[0], "x", 1) == 1 ? 0 : -1;
}

static int be_traced(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : -1;
}

static int read_process(void)
{
    char from = 'x', into = 0;
    struct iovec local = { &into, 1 }, remote = { &from, 1 };

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 ? 0 : -1;
}

static int hide_files(void)
{
    return unshare(CLONE_FS);
}

static int make_page_faults(void)
{
    /* That of user mode needs no right. */
    return syscall(SYS_userfaultfd, 1) >= 0 ? 0 : -1;
}

static int change_mode(void)
{
    return chmod(scratch_path("in"), 0755);
}

static int change_owner(void)
{
    return chown(scratch_path("in"), (uid_t)-1, (gid_t)-1);
}

static int set_personality(void)
{
    return syscall(SYS_personality, 0xffffffff) >= 0 ? 0 : -1;
}

/* Refused before it is looked at whether this is a terminal. */
static int type_for_the_user(void)
{
    int result = ioctl(STDIN_FILENO, TIOCSTI, "x");

    return result == 0 || errno != EPERM ? 0 : -1;
}

static const struct attempt {
    const char *name;
    int (*try)(void);
} calls[] = {
    { "execve", run_program },
    { "execveat", run_program_at },
    { "socket", open_socket },
    { "a local socket", open_local_socket },
    { "socketpair", open_pair },
    { "sendto", send_on_socket },
    { "ptrace", be_traced },
    { "process_vm_readv", read_process },
    { "unshare", hide_files },
    { "userfaultfd", make_page_faults },
    { "chmod", change_mode },
    { "chown", change_owner },
    { "personality", set_personality },
};

static void test_calls(void **state)
{
    (void)state;
    need_seccomp();
    mkdir(scratch_path("in"), 0755);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, left_pair), 0);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        int plain = in_child(NULL, calls[i].try);
        int confined = in_child(learn, calls[i].try);

        /* What a container refuses anyway proves nothing, but harms nothing. */
        if (plain != 0 && plain != CHILD_FAILED)
            print_message("# %s fails here in any case: %s\n", calls[i].name,
                          strerror(plain));
        if (confined != EPERM && confined != EACCES)
            fail_msg("%s gives %s", calls[i].name, strerror(confined));
    }
    rmdir(scratch_path("in"));
    close(left_pair[0]);
    close(left_pair[1]);
}

/* By number: what is not called by a function of the C library, or would do
 * something to the machine.  Whoever has all rights asks with arguments that
 * the kernel refuses. */
static int numbered;

static int call_number(void)
{
    return (int)syscall(numbered, -1, -1, -1, -1, -1, -1);
}

static void test_call_table(void **state)
{
    static const int number[] = {
#define CALL(number) number,
#include "cli/sandbox_calls.def"
#undef CALL
    };

    (void)state;
    need_seccomp();
    for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++) {
        numbered = number[i];
        if (in_child(learn, call_number) != EPERM)
            fail_msg("call number %d is not refused", number[i]);
        /* Each of them once. */
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(number[i], number[j]);
    }
}

static void test_terminal(void **state)
{
    (void)state;
    need_seccomp();
    assert_int_equal(in_child(NULL, type_for_the_user), 0);
    assert_int_equal(in_child(learn, type_for_the_user), EPERM);
}

/* ---- calls that go on working ---- */

static void *nothing(void *user)
{
    return user;
}

static int start_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, nothing, NULL) != 0 ||
           pthread_join(thread, NULL) != 0;
}

static int load_library(void)
{
    return dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL) ? 0 : -1;
}

static int map_memory(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                   MAP_FAILED
               ? -1
               : 0;
}

static int make_process(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    return child > 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int reading(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, &byte, 1);

    return got == 1 ? 0 : -1;
}

static int read_elsewhere(void)
{
    return reading("/proc/self/status") || reading("/etc/passwd") ||
           reading(fixture_path("good-llama.gguf"));
}

static void test_still_there(void **state)
{
    static const struct attempt kept[] = {
        { "a thread", start_thread },  { "a library", load_library },
        { "memory", map_memory },      { "a child", make_process },
        { "reading", read_elsewhere }, { "an open socket", write_on_socket },
    };

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, left_pair), 0);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (in_child(learn, kept[i].try) != 0)
            fail_msg("%s is refused", kept[i].name);
    close(left_pair[0]);
    close(left_pair[1]);
}

/* ---- files ---- */

/* in/, beside/, in/link -> ../beside/far, and a file in each; all that an
 * attempt left is gone. */
static void make_tree(void)
{
    static const char *const files[] = { "in/old", "beside/old", "old" };

    mkdir(scratch_path("in"), 0777);
    mkdir(scratch_path("beside"), 0777);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
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

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
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
    { "write where nothing is allowed", write_in, learn, EACCES },
    { "make where nothing is allowed", make_in, learn, EACCES },
    { "write to a device", write_null, learn, EACCES },
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
    { "write beside the link", make_in, allow_link, 0 },
    { "make a folder below $TMPDIR", folder_in, allow_folder, 0 },
    { "write elsewhere then", write_beside, allow_folder, EACCES },
    { "write to the pipe", write_pipe, allow_pipe, 0 },
    { "write beside the pipe", write_above, allow_pipe, EACCES },
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
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
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
    return told() == -1 && errno == 9 ? 0 : -1;
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
        cmocka_unit_test(test_calls),       cmocka_unit_test(test_call_table),
        cmocka_unit_test(test_terminal),    cmocka_unit_test(test_still_there),
        cmocka_unit_test(test_files),       cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_link_out),    cmocka_unit_test(test_off),
        cmocka_unit_test(test_descriptors),
    };

    return cmocka_run_group_tests(tests, setup, remove_scratch);
}

#endif
