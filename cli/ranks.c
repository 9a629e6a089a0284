/* SPDX-License-Identifier: MIT
 *
 * ranks.c - one process does all
 */
#include "cli/ranks.h"

void ranks_begin(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
}

size_t ranks_count(void)
{
    return 1;
}

bool ranks_follow(void)
{
    return false;
}

const char *ranks_library(void)
{
    return NULL;
}

bool ranks_check(struct run *run)
{
    (void)run;
    return true;
}

void ranks_begin_sandbox(struct sandbox *sandbox, const char *off)
{
    sandbox_begin(sandbox, off);
}

bool ranks_join(struct run *run)
{
    (void)run;
    return true;
}

void ranks_leave(struct run *run)
{
    (void)run;
}

double ranks_imbalance(void)
{
    return 0;
}

double ranks_gather_seconds(void)
{
    return 0;
}

int ranks_end(int code)
{
    return code;
}
