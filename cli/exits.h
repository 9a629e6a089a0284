/* SPDX-License-Identifier: MIT
 *
 * exits.h - what exit codes mean
 */
#ifndef MF_CLI_EXITS_H
#define MF_CLI_EXITS_H

#include "cli/cli.h"

struct exit_meaning {
    int code;
    const char *meaning; /* NULL ends the list */
};
extern const struct exit_meaning exit_meanings[];

/* Whether the command, or any if it is NULL, can end with that code. */
bool exit_can_be(const struct command *command, int code);

/* What it means there. */
const char *exit_meaning(const struct command *command,
                         const struct exit_meaning *exit);

#endif
