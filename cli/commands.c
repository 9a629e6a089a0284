/* SPDX-License-Identifier: MIT
 *
 * commands.c - the list of commands
 */
#include "cli/commands.h"

#define COMMAND(name) extern const struct command command_##name;
#define GROUP(title, first)
#include "cli/commands.def"
#undef COMMAND
#undef GROUP

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#define GROUP(title, first)
#include "cli/commands.def"
#undef COMMAND
#undef GROUP
    NULL,
};

const struct command_group command_groups[] = {
#define COMMAND(name)
#define GROUP(title, first) { title, &command_##first },
#include "cli/commands.def"
#undef COMMAND
#undef GROUP
    { NULL, NULL },
};
