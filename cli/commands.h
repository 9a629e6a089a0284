/* SPDX-License-Identifier: MIT
 *
 * commands.h - the list of commands
 */
#ifndef MF_CLI_COMMANDS_H
#define MF_CLI_COMMANDS_H

#include "cli/cli.h"

/* In the order of commands.def; ends with NULL.  Only main.c uses it: commands
 * are below this file, and get the list as run->commands. */
extern const struct command *const commands[];

#endif
