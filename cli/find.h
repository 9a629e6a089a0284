/* SPDX-License-Identifier: MIT
 *
 * find.h - which command the command line names
 */
#ifndef MF_CLI_FIND_H
#define MF_CLI_FIND_H

#include "cli/cli.h"

/* ---- what people type for a command ---- */

/* The command and sub-command that the word means after the name of a command,
 * or as the first word if after is "".  False if it means none. */
bool words_find(const char *after, const char *word, const char **name,
                const char **sub);

/* Whether it is a first word for something that no command does. */
bool words_is_refused(const char *word);

/* The first words that mean a command, one with each call from *at 0 on, then
 * NULL. */
const char *words_next(size_t *at);

/* Those that mean this command, as in "list, ls"; "" if there is none. */
struct words_of {
    char text[96];
};
struct words_of words_of(const struct command *command);

/* ---- which command the command line names ---- */

/* The command of that name and sub-command, else the first one of that name;
 * NULL if there is none.  sub may be NULL. */
const struct command *find_command(const struct command *const *list,
                                   const char *name, const char *sub);

/* Whether the argument after this option is its value, also before the command
 * is known. */
bool find_takes_next(const struct run *run, const char *argument);

/* Sets run->command and returns how many words at the front of the arguments,
 * which are put in order for it, name it; -1 after report_usage. */
int find_in_arguments(struct run *run, int count, char **arguments);

#endif
