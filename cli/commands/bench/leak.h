/* SPDX-License-Identifier: MIT
 *
 * leak.h - what modelfile bench --leak-check counts, and how it ends
 *
 * leak.c does the rounds, leak_print.c prints.
 */
#ifndef MF_CLI_BENCH_LEAK_H
#define MF_CLI_BENCH_LEAK_H

#include "cli/cli.h"
#include "cli/slope.h"

#define LEAK_WARM_UP    3 /* rounds before the first that counts */
#define LEAK_ROUNDS_MAX 1000000
#define LEAK_WORKS_MAX  5

enum leak_count {
    LEAK_LIBRARY,  /* live bytes of the env */
    LEAK_PROCESS,  /* live bytes of the process: every malloc */
    LEAK_RESIDENT, /* bytes in memory, without mapped files */
    LEAK_FILES,
    LEAK_THREADS,
    LEAK_COUNTS
};

struct leak_row {
    bool known; /* this build and this system can tell */
    uint64_t now, high_water;
    uint64_t limit; /* UINT64_MAX: none */
    struct slope slope;
    double per_round;
    bool leaks;
    uint64_t rounds_left; /* to the limit; UINT64_MAX: does not apply */
};

struct leak {
    const char *work[LEAK_WORKS_MAX]; /* that a round did */
    size_t work_count;
    struct leak_row row[LEAK_COUNTS];
};

/* Raises the exit code if there is a leak. */
void bench_leak_print(struct run *run, const struct leak *leak);

#endif
