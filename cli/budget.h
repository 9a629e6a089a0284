/* SPDX-License-Identifier: MIT
 *
 * budget.h - what --max-memory allows the process, and what it needs
 */
#ifndef MF_CLI_BUDGET_H
#define MF_CLI_BUDGET_H

#include "lib/modelfile.h"

struct run;

/* Limits the heap of the whole process, once its options are known. */
void budget_begin(struct run *run);

/* Gives a new env the rest of the limit. */
void budget_env(const struct run *run, struct mf_options *options);

/* Allows the sandbox what a trial writes to; see trial.h. */
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
