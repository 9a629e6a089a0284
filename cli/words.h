/* SPDX-License-Identifier: MIT
 *
 * words.h - what people type for a command, from habit or other programs
 */
#ifndef MF_CLI_WORDS_H
#define MF_CLI_WORDS_H

#include "cli/cli.h"

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

#endif
