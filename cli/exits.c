/* SPDX-License-Identifier: MIT
 *
 * exits.c - what exit codes mean
 */
#include "cli/exits.h"

#include <signal.h>

const struct exit_meaning exit_meanings[] = {
    { EXIT_DONE, "success" },
    { EXIT_NO, "invalid or different: see the help of the command" },
    { EXIT_USAGE, "the command line is wrong" },
    { EXIT_INPUT, "an input cannot be read" },
    { EXIT_OUTPUT, "an output cannot be written" },
    { EXIT_MEMORY, "out of memory, or --max-memory was reached" },
    { EXIT_SIGNAL + SIGHUP, "ended by SIGHUP" },
    { EXIT_SIGNAL + SIGINT, "ended by SIGINT (Ctrl-C)" },
    { EXIT_SIGNAL + SIGTERM, "ended by SIGTERM" },
    { 0 },
};

bool exit_can_be(const struct command *command, int code)
{
    return !command || ((code != EXIT_NO || command->exit_no) &&
                        (code != EXIT_INPUT || !command->no_input));
}

const char *exit_meaning(const struct command *command,
                         const struct exit_meaning *exit)
{
    return command && exit->code == EXIT_NO ? command->exit_no : exit->meaning;
}
