/* SPDX-License-Identifier: MIT
 *
 * manual.h - pages of the manual, made from the rows that help is made of
 */
#ifndef MF_CLI_COMMANDS_HELP_MANUAL_H
#define MF_CLI_COMMANDS_HELP_MANUAL_H

#include "cli/cli.h"

/* Each prints one page to standard output. */
void manual_program(struct run *run);                                /* (1) */
void manual_command(struct run *run, const struct command *command); /* (1) */
void manual_rules(struct run *run);                                  /* (7) */
void manual_types(struct run *run);                                  /* (7) */

/* The names of all pages, one per line, and what --man calls each:
 * "modelfile-meta-set.1 meta set". */
void manual_list(struct run *run);

#endif
