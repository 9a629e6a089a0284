/* SPDX-License-Identifier: MIT
 *
 * helper.h - the process that talks to the network
 */
#ifndef MF_CLI_REMOTE_HELPER_H
#define MF_CLI_REMOTE_HELPER_H

#include <sys/types.h>

#include "cli/remote/remote.h"

/* Answers what comes from fd until the program, its parent, closes it.  It
 * opens the URLs that it is given, and files next to them. */
_Noreturn void helper_serve(struct run *run, pid_t program, int fd,
                            const char *const *url, size_t count);

#endif
