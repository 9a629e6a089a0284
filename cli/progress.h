/* SPDX-License-Identifier: MIT
 *
 * progress.h - the progress line, and ending on a signal
 */
#ifndef MF_CLI_PROGRESS_H
#define MF_CLI_PROGRESS_H

#include "cli/cli.h"

/* For mf_options.progress; user is the run.  False once a signal came. */
bool progress_update(void *user, const struct mf_progress *progress);

/* Removes the line from the terminal. */
void progress_clear(struct run *run);

/* From now on SIGINT, SIGTERM and SIGHUP end work through progress_update; if
 * that takes too long, a timer ends the program and removes the temporary files
 * of run->env. */
void progress_catch_signals(struct run *run);

/* Called by the timer, in a signal handler, for files that the program itself
 * made; NULL: nothing. */
void progress_at_end(void (*act)(void));

/* The first signal that came, or 0. */
int progress_signal(void);

#endif
