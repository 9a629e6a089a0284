/* SPDX-License-Identifier: MIT
 *
 * child.c - processes that the program forks
 */
#if defined(__linux__)
#define _GNU_SOURCE /* prctl */
#endif
#include "cli/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "cli/cli.h"

void child_begin(pid_t parent)
{
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(EXIT_DONE); /* it has ended already */
}

bool child_wait(pid_t child, int *status)
{
    pid_t ended;

    do
        ended = waitpid(child, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child;
}
