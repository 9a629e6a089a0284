/* SPDX-License-Identifier: MIT
 *
 * start.h - what a process of the program begins and ends with
 *
 * There is one, and with --jobs one more for each file.
 */
#ifndef MF_CLI_START_H
#define MF_CLI_START_H

#include "cli/cli.h"

/* An env as the options say, in the sandbox.  False after a report. */
bool start_env(struct run *run);

/* One more env, for a file of its own, in a process that has begun. */
bool start_env_for_file(struct run *run);

/* What was counted is about other files. */
void start_answer(struct run *run);

/* The answer is complete: the rest of it, errors of writing, the closing line.
 * A full disk is an error; a reader that went away (| head) is not. */
void start_finish(struct run *run);

#endif
