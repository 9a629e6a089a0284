/* SPDX-License-Identifier: MIT
 *
 * dhat.h - --dhat: a profile of the heap of the whole process
 *
 * Counting begins before main, so that it includes blocks of OpenMP's start and
 * of the C library: the command line is looked at twice.
 */
#ifndef MF_CLI_DHAT_H
#define MF_CLI_DHAT_H

#include "cli/cli.h"

/* False after a report if a profile was requested and this build makes none, or
 * it would go to standard output or into a file that the command works on.
 * Else it is written when the process exits, what is left by then included, and
 * its sums go to standard error; if it cannot be written the exit code is
 * EXIT_OUTPUT. */
bool dhat_check(struct run *run);

/* At once after the env was made. */
void dhat_env_begins(const struct mf_env *env);

/* Before the env is freed.  If blocks of it are left, names them, and writes
 * the profile at once. */
void dhat_env_ends(const struct mf_env *env);

/* Allows the sandbox to write the profile. */
void dhat_allow(struct run *run);

#endif
