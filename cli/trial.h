/* SPDX-License-Identifier: MIT
 *
 * trial.h - how much memory a command needs, found by trying
 *
 * What a command needs depends on the file, on its options and on buffers that
 * shrink with the limit, so it is not computed: the command is run with other
 * limits, in processes of its own, until the least that works is found.  A
 * trial prints nothing, writes nothing, and ends soon after it has begun to
 * read the data of tensors: by then it has what it needs.
 */
#ifndef MF_CLI_TRIAL_H
#define MF_CLI_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/modelfile.h"

struct run;

/* Forks the process that will make the trials if they are asked for: before
 * the command has changed anything in memory.  Returns in the program, and in
 * each trial, where run->trial is true. */
void trial_begin(struct run *run);

/* The least limit with which the command has worked, in bytes; 0 if unknown.
 * Takes some tens of milliseconds as a rule, and seconds at most. */
uint64_t trial_least(void);

/* The progress function of a trial: ends it when it is clear that it works. */
bool trial_progress(void *user, const struct mf_progress *progress);

#endif
