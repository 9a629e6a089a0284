/* SPDX-License-Identifier: MIT
 *
 * help.h - what help.c and help_json.c share
 */
#ifndef MF_CLI_HELP_H
#define MF_CLI_HELP_H

#include <signal.h>

#include "cli/cli.h"

struct exit_meaning {
    int code;
    const char *meaning; /* NULL ends a list */
};
extern const struct exit_meaning exit_meanings[];

/* The commands of that name, and sub-command; NULL for all. */
void help_json(struct run *run, const char *name, const char *sub);

#endif
