/* SPDX-License-Identifier: MIT
 *
 * advice.h - what a user can do about an error of the library
 */
#ifndef MF_CLI_ADVICE_H
#define MF_CLI_ADVICE_H

#include "cli/cli.h"

/* "use --force to overwrite it"; NULL if there is no advice for this error and
 * this command. */
const char *advice_for(const struct run *run, const struct mf_error *error);

/* The request was refused by choice, not because of the input: exit code 2. */
bool advice_is_choice(const struct mf_error *error);

/* Nothing in the input matches what was asked for: exit code 1. */
bool advice_is_absent(const struct mf_error *error);

#endif
