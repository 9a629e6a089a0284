/* SPDX-License-Identifier: MIT
 *
 * budget.h - what --max-memory allows the process, and what it needs
 */
#ifndef MF_CLI_BUDGET_H
#define MF_CLI_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/modelfile.h"

/* ---- trials ---- */

/* What a command needs depends on the file, on its options and on buffers that
 * shrink with the limit, so it is not computed: the command is run with other
 * limits, in processes of its own, until the least that works is found.  A
 * trial prints nothing, writes nothing, and ends soon after it has begun to
 * read the data of tensors: by then it has what it needs. */

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

/* ---- what --max-memory allows the process, and what it needs ---- */

/* Limits the heap of the whole process, once its options are known. */
void budget_begin(struct run *run);

/* Gives a new env the rest of the limit. */
void budget_env(const struct run *run, struct mf_options *options);

/* Allows the sandbox what a trial writes to; see above. */
void budget_allow(struct run *run);

/* Ends the process if it is a trial. */
void budget_end_trial(const struct run *run);

/* Whether it was --max-memory that refused memory, not the system. */
bool budget_is_limit(const struct mf_error *error);

/* The least --max-memory with which the command works, in bytes; 0 if that is
 * unknown, or if it was the system that refused.  error: NULL if there is not
 * even an env. */
uint64_t budget_least(const struct run *run, const struct mf_error *error);

/* As --max-memory takes it. */
struct budget_text {
    char at[32];
};
struct budget_text budget_text(uint64_t least);

/* For atexit.  OpenMP's library calls exit where it gets no memory or no
 * thread: the program then ends with 5, unless budget_end said that it ends by
 * itself. */
void budget_at_exit(void);
void budget_end(void);

#endif
