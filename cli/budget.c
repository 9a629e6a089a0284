/* SPDX-License-Identifier: MIT
 *
 * budget.c - what --max-memory allows the process
 *
 * The limit is of every malloc, that of the C library, OpenMP and libcrypto
 * included.  A build that does not count them limits each env instead.
 */
#include "cli/budget.h"

#include "cli/cli.h"
#include "cli/malloc_count.h"

static bool limited; /* by malloc itself */

/* A limit of SIZE_MAX is none. */
static size_t limit_of(const struct run *run)
{
    uint64_t most = run->options->max_memory;

    return most < SIZE_MAX ? (size_t)most : SIZE_MAX - 1;
}

void budget_begin(const struct run *run)
{
    if (run->options->max_memory > 0)
        limited = process_heap_limit(limit_of(run));
}

static size_t memory_left(void *user)
{
    (void)user;
    return process_heap_left();
}

void budget_env(const struct run *run, struct mf_options *options)
{
    if (limited)
        options->memory_left = memory_left;
    else if (run->options->max_memory > 0)
        options->heap_limit = limit_of(run);
}
