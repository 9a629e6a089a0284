/* SPDX-License-Identifier: MIT
 *
 * ranks.h - one program in several processes: what MPI starts
 *
 * build/modelfile is linked with ranks.c, where there is one process, and
 * build/modelfile-mpi with mpi/ranks.c.  Every rank parses the same command
 * line and makes the same calls of the library (lib/base/ranks.h); rank 0 alone
 * prints.  A command whose work is not shared is done by rank 0, while the
 * others wait.
 */
#ifndef MF_CLI_RANKS_H
#define MF_CLI_RANKS_H

#include "cli/cli.h"

/* Before anything else: starts MPI, and takes its options from the arguments.
 */
void ranks_begin(int *count, char ***arguments);

/* How many there are; and whether another one than this prints. */
size_t ranks_count(void);
bool ranks_follow(void);

/* How many make the answer that is printed now: about one of many files, 1. */
size_t ranks_of_answer(void);

/* What MPI is, for `version`; NULL: the program knows none. */
const char *ranks_library(void);

/* False after report_usage: some options are for one process. */
bool ranks_check(struct run *run);

/* Begins the sandbox, with the rights that MPI needs. */
void ranks_begin_sandbox(struct sandbox *sandbox, const char *off);

/* The env was made.  False: the command is not for this rank, which only waits
 * for the others. */
bool ranks_join(struct run *run);

/* No more work: waits for all ranks, and adds up what they have read and
 * written.  An error that another rank alone has is reported. */
void ranks_leave(struct run *run);

struct jobs_act;
struct jobs_sum;

/* Of many files, each is read by one rank: see jobs.h.  sum: of rank 0. */
void ranks_give_file(struct run *run, const char *path,
                     const struct jobs_act *act, struct jobs_sum *sum);

/* Waits for all of them; true: this rank shows the sum. */
bool ranks_end_files(struct run *run, struct jobs_sum *sum);

/* During long work on a file: false if it is not needed any more. */
bool ranks_go_on(void);

/* After ranks_leave: how much more than the mean of all ranks the one has that
 * has most; 0.05: a twentieth. */
struct ranks_imbalance {
    double work; /* bytes; of many files, those read */
    double time; /* of processors */
};
struct ranks_imbalance ranks_imbalance(void);

/* What a gather takes: the median of some that all ranks made for a command
 * whose row asks for it; 0: there was none. */
double ranks_gather_seconds(void);

/* While the program ends: whether MPI does that, because of another rank. */
bool ranks_are_ended(void);

/* Ends MPI, and returns the exit code of this process: rank 0 alone has the
 * answer. */
int ranks_end(int code);

#endif
