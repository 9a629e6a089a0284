/* SPDX-License-Identifier: MIT
 *
 * sandbox_child.h - attempts that a child process makes in the sandbox
 *
 * Include it before all system headers, and only on Linux.
 */
#ifndef TESTS_SANDBOX_CHILD_H
#define TESTS_SANDBOX_CHILD_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "cli/sandbox.h"
#include "tests/scratch.h"

#define CHILD_FAILED 250 /* no errno is that */

/* 0, or the errno with which try ended. */
static inline int in_child(void (*prepare)(struct sandbox *), int (*try)(void))
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

/* What the sandbox can do in a child of this process. */
static struct sandbox possible;

static inline void allow_nothing(struct sandbox *sandbox)
{
    (void)sandbox;
}

static inline int what_is_possible(void)
{
    struct sandbox sandbox;

    sandbox_begin(&sandbox, NULL);
    sandbox_enter(&sandbox);
    errno = sandbox.off ? 9 : (sandbox.landlock > 0) + 2 * sandbox.seccomp;
    return errno ? -1 : 0;
}

static inline int setup(void **state)
{
    int answer = in_child(NULL, what_is_possible);

    possible.off = answer == 9 ? "off" : NULL;
    possible.landlock = answer != 9 && (answer & 1);
    possible.seccomp = answer != 9 && (answer & 2);
    return make_scratch(state);
}

static inline void need_landlock(void)
{
    if (possible.landlock == 0) {
        print_message("# this kernel, or this build, has no Landlock\n");
        skip();
    }
}

static inline void need_seccomp(void)
{
    if (!possible.seccomp) {
        print_message("# this kernel, or this build, has no seccomp\n");
        skip();
    }
}

static inline int open_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : -1;
}

#endif
