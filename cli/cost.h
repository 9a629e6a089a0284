/* SPDX-License-Identifier: MIT
 *
 * cost.h - what a run cost: heap, bytes read and written, time
 */
#ifndef MF_CLI_COST_H
#define MF_CLI_COST_H

#include "cli/cli.h"

/* ---- where the time went: --timings ---- */

/* The env of the run is about to be made. */
void timings_begin(struct run *run);

/* The member "timings" of "run"; nothing without --timings. */
void timings_json(struct run *run);

/* The table on standard error; with --json there is none. */
void timings_close(struct run *run);

/* ---- what a run cost: heap, bytes read and written, time ---- */

/* The closing line on standard error, or with --stats the table. */
void cost_close(struct run *run);

/* The member "run" of an answer. */
void cost_json(struct run *run);

#endif
