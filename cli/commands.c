/* SPDX-License-Identifier: MIT
 *
 * commands.c - the list of commands
 */
#include "cli/commands.h"

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};
