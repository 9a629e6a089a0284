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

/* A line that begins with "modelfile: ", in yellow on a terminal.  The format
 * has no newline, here and below. */
void say_warning(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same in red, and held back: standard error ends with the last error, so
 * its last line shows why the exit code is not 0.  The error before is printed
 * now. */
void say_error(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
