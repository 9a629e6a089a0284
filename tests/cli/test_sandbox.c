/* SPDX-License-Identifier: MIT
 *
 * test_sandbox.c - calls that the program has given up are refused
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
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "tests/cli/sandbox_child.h"

/* ---- calls that are refused ---- */

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
    /* The one of user mode needs no right. */
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
    for (size_t i = 0; i < COUNT(calls); i++) {
        int plain = in_child(NULL, calls[i].try);
        int confined = in_child(allow_nothing, calls[i].try);

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
 * something to the machine.  A process with all rights asks with arguments that
 * the kernel refuses. */
static int numbered;

static int call_number(void)
{
    return (int)syscall(numbered, -1, -1, -1, -1, -1, -1);
}

static void test_call_table(void **state)
{
    static const int number[] = {
#define CALL(number)    number,
#define NETWORK(number) number,
#define SERVER(number)  number,
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
#undef SERVER
    };

    (void)state;
    need_seccomp();
    for (size_t i = 0; i < COUNT(number); i++) {
        numbered = number[i];
        if (in_child(allow_nothing, call_number) != EPERM)
            fail_msg("call number %d is not refused", number[i]);
        /* Each of them once. */
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(number[i], number[j]);
    }
}

/* A rank of MPI connects to others, and can do nothing else that is refused. */
static void be_a_rank(struct sandbox *sandbox)
{
    sandbox_begin_ranks(sandbox, NULL);
}

static void test_ranks(void **state)
{
    static const int number[] = {
#define CALL(number) number,
#define NETWORK(number)
#define SERVER(number)
#include "cli/sandbox_calls.def"
#undef CALL
#undef NETWORK
#undef SERVER
    };

    (void)state;
    need_seccomp();
    assert_int_equal(in_child(be_a_rank, open_socket), 0);
    assert_int_equal(in_child(be_a_rank, open_local_socket), 0);
    for (size_t i = 0; i < COUNT(number); i++) {
        numbered = number[i];
        assert_int_equal(in_child(be_a_rank, call_number), EPERM);
    }
}

static void test_terminal(void **state)
{
    (void)state;
    need_seccomp();
    assert_int_equal(in_child(NULL, type_for_the_user), 0);
    assert_int_equal(in_child(allow_nothing, type_for_the_user), EPERM);
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
    for (size_t i = 0; i < COUNT(kept); i++)
        if (in_child(allow_nothing, kept[i].try) != 0)
            fail_msg("%s is refused", kept[i].name);
    close(left_pair[0]);
    close(left_pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),       cmocka_unit_test(test_call_table),
        cmocka_unit_test(test_ranks),       cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_still_there),
    };

    return cmocka_run_group_tests(tests, setup, remove_scratch);
}

#endif
