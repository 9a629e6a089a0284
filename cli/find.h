/* SPDX-License-Identifier: MIT
 *
 * find.h - which command the command line names
 */
#ifndef MF_CLI_FIND_H
#define MF_CLI_FIND_H

#include "cli/cli.h"

/* The command of that name and sub-command, else the first one of that name;
 * NULL if there is none.  sub may be NULL. */
const struct command *find_command(const struct command *const *list,
                                   const char *name, const char *sub);

/* Sets run->command and returns how many words at the front of the arguments,
 * which are put in order for it, name it; -1 after report_usage. */
int find_in_arguments(struct run *run, int count, char **arguments);

#endif
