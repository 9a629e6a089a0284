/* SPDX-License-Identifier: MIT
 *
 * held.h - the line that standard error ends with
 *
 * A signal handler may call all of it.
 */
#ifndef MF_CLI_HELD_H
#define MF_CLI_HELD_H

#include <stddef.h>

#define HELD_SIZE 2048

/* To standard error, which has no buffer: one write per line, so that lines of
 * several programs do not mix. */
void held_write(const char *text, size_t size);

/* Where that goes from now on, in place of standard error; NULL: there. */
void held_to(void (*sink)(void *user, const char *text, size_t size),
             void *user);

/* Keeps a line, of at most HELD_SIZE bytes, for held_print.  The line before is
 * printed now. */
void held_keep(const char *line, size_t size);

/* Prints the line that is kept. */
void held_print(void);

#endif
