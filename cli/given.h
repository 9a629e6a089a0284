/* SPDX-License-Identifier: MIT
 *
 * given.h - an option that is given, as text
 */
#ifndef MF_CLI_GIVEN_H
#define MF_CLI_GIVEN_H

#include "cli/args.h"

/* value: NULL for a flag. */
typedef void given_put(void *user, const char *name, const char *value);

/* Calls put for each value of an option that is set to another than its
 * default. */
void given_values(const struct option *option, given_put *put, void *user);

#endif
