/* SPDX-License-Identifier: MIT
 *
 * say.h - lines on standard error
 */
#ifndef MF_CLI_SAY_H
#define MF_CLI_SAY_H

#include "cli/cli.h"

/* Clears the progress first.  The format has the newline. */
void say(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
