/* SPDX-License-Identifier: MIT
 *
 * leak.h - what modelfile bench --leak-check counts, and how it ends
 *
 * leak.c does the rounds, leak_print.c prints.
 */
#ifndef MF_CLI_BENCH_LEAK_H
#define MF_CLI_BENCH_LEAK_H

#include "cli/cli.h"

#define LEAK_WARM_UP    3 /* rounds before the first that counts */
#define LEAK_ROUNDS_MAX 1000000
#define LEAK_WORKS_MAX  5

struct leak {
    const char *work[LEAK_WORKS_MAX]; /* that a round did */
    size_t work_count;
    uint64_t rounds;
    struct mf_watch *watch;
    struct mf_watch_count count[MF_WATCH_KINDS];
};

/* Raises the exit code if there is a leak. */
void bench_leak_print(struct run *run, const struct leak *leak);

#endif
