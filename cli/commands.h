/* SPDX-License-Identifier: MIT
 *
 * commands.h - the list of commands
 */
#ifndef MF_CLI_COMMANDS_H
#define MF_CLI_COMMANDS_H

#include "cli/cli.h"

/* In the order of commands.def; ends with NULL.  Only main.c uses them:
 * commands are below this file, and get the lists as run->commands and
 * run->groups. */
extern const struct command *const commands[];

/* Ends with a title that is NULL. */
extern const struct command_group command_groups[];

#endif
