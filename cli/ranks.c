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

size_t ranks_of_answer(void)
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

void ranks_give_file(struct run *run, const char *path,
                     const struct jobs_act *act, struct jobs_sum *sum)
{
    (void)run;
    (void)path;
    (void)act;
    (void)sum;
}

bool ranks_end_files(struct run *run, struct jobs_sum *sum)
{
    (void)run;
    (void)sum;
    return true;
}

bool ranks_go_on(void)
{
    return true;
}

struct ranks_imbalance ranks_imbalance(void)
{
    return (struct ranks_imbalance){ 0, 0 };
}

double ranks_gather_seconds(void)
{
    return 0;
}

bool ranks_are_ended(void)
{
    return false;
}

int ranks_end(int code)
{
    return code;
}
