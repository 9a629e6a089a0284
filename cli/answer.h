/* SPDX-License-Identifier: MIT
 *
 * answer.h - the object that --json prints
 *
 * Its first member is the schema, its last one the cost of the run.  Without
 * --json these functions do nothing.
 */
#ifndef MF_CLI_ANSWER_H
#define MF_CLI_ANSWER_H

#include "cli/cli.h"

/* Raised when a member is removed or changes its meaning; not for new ones. */
#define JSON_SCHEMA 1

void answer_begin(struct run *run);
void answer_end(struct run *run);

/* answer_end, and the end of the line. */
void answer_finish(struct run *run);

#endif
