/* SPDX-License-Identifier: MIT
 *
 * jobs_sum.h - which part of the files it is, how many there were, and how
 * their processes ended
 */
#ifndef MF_CLI_JOBS_SUM_H
#define MF_CLI_JOBS_SUM_H

#include "cli/cli.h"

struct jobs_sum {
    uint64_t part, parts;
    uint64_t done;
    uint64_t ended[EXIT_MEMORY + 1]; /* by exit code */
    uint64_t killed;                 /* by a signal */
    uint64_t left_out, left_with_errors;
};

/* Takes --part; false after a report. */
bool jobs_sum_part(struct run *run, struct jobs_sum *sum);

void jobs_sum_show(struct run *run, const struct jobs_sum *sum);

#endif
