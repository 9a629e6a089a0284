/* SPDX-License-Identifier: MIT
 *
 * budget.h - what --max-memory allows the process
 */
#ifndef MF_CLI_BUDGET_H
#define MF_CLI_BUDGET_H

#include "lib/modelfile.h"

struct run;

/* Limits the heap of the whole process, once its options are known. */
void budget_begin(const struct run *run);

/* Tells an env that is to be made what is left of the limit. */
void budget_env(const struct run *run, struct mf_options *options);

#endif
