/* SPDX-License-Identifier: MIT
 *
 * cost.h - what a run cost: heap, bytes read and written, time
 */
#ifndef MF_CLI_COST_H
#define MF_CLI_COST_H

#include "cli/cli.h"

/* The closing line on standard error, or with --stats the table. */
void cost_close(struct run *run);

/* The member "run" of an answer. */
void cost_json(struct run *run);

#endif
