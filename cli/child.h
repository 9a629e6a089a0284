/* SPDX-License-Identifier: MIT
 *
 * child.h - processes that the program forks
 */
#ifndef MF_CLI_CHILD_H
#define MF_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* In the child: from now on it ends when its parent does. */
void child_begin(pid_t parent);

/* Waits until it has ended, whatever signals come.  False if it cannot be
 * waited for. */
bool child_wait(pid_t child, int *status);

#endif
