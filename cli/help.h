/* SPDX-License-Identifier: MIT
 *
 * help.h - help made from the rows of commands and options
 */
#ifndef MF_CLI_HELP_H
#define MF_CLI_HELP_H

#include "cli/cli.h"

/* All about one command, for `help COMMAND` and `COMMAND --help`. */
void help_command(struct run *run, const struct command *command);

/* The list of commands; all: and of what measures. */
void help_list(struct run *run, bool all);

/* In JSON: the commands of that name and sub-command; NULL for all. */
void help_json(struct run *run, const char *name, const char *sub);

#endif
