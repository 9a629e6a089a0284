/* SPDX-License-Identifier: MIT
 *
 * budget.c - what --max-memory allows the process, and what it needs
 *
 * The limit counts every malloc, including the C library, OpenMP and libcrypto.
 * A build that does not count them limits each env instead.
 */
#include "cli/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/malloc_count.h"
#include "cli/trial.h"

static bool limited; /* by malloc itself */
static const struct run *in_work;

/* Below SIZE_MAX, which stands for no limit. */
static size_t limit_of(const struct run *run)
{
    uint64_t most = run->options->max_memory;

    return most < SIZE_MAX ? (size_t)most : SIZE_MAX - 1;
}

void budget_begin(struct run *run)
{
    in_work = run;
    if (run->options->max_memory == 0)
        return;
    trial_begin(run);
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

void budget_allow(struct run *run)
{
    if (run->trial)
        sandbox_allow_file(&run->sandbox, "/dev/null");
}

void budget_end_trial(const struct run *run)
{
    if (run->trial)
        _exit(run->code);
}

bool budget_is_limit(const struct mf_error *error)
{
    return strcmp(error->rule, "HEAP-LIMIT") == 0 ||
           (error->status == MF_ERR_MEMORY && process_heap_refused());
}

uint64_t budget_least(const struct run *run, const struct mf_error *error)
{
    if (run->options->max_memory == 0 || (error && !budget_is_limit(error)))
        return 0;
    return trial_least();
}

struct budget_text budget_text(uint64_t least)
{
    struct budget_text text;

    if (least % 1000 == 0)
        snprintf(text.at, sizeof(text.at), "%" PRIu64 "K", least / 1000);
    else
        snprintf(text.at, sizeof(text.at), "%" PRIu64, least);
    return text;
}

/* ---- the end ---- */

static bool ended;

void budget_end(void)
{
    ended = true;
}

void budget_at_exit(void)
{
    static const char text[] = "modelfile: out of memory\n";
    ssize_t wrote;

    if (ended)
        return;
    mf_env_abandon(in_work ? in_work->env : NULL);
    wrote = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)wrote;
    _exit(EXIT_MEMORY);
}
