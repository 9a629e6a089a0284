/* SPDX-License-Identifier: MIT
 *
 * timings.h - where the time of a command went: --timings
 */
#ifndef MF_CLI_TIMINGS_H
#define MF_CLI_TIMINGS_H

#include "cli/cli.h"

/* The env of the run is about to be made. */
void timings_begin(struct run *run);

/* The member "timings" of "run"; nothing without --timings. */
void timings_json(struct run *run);

/* The table on standard error; with --json there is none. */
void timings_close(struct run *run);

#endif
