/* SPDX-License-Identifier: MIT
 *
 * tasks.h - tasks of the library's work are given out to ranks
 */
#ifndef MF_CLI_MPI_TASKS_H
#define MF_CLI_MPI_TASKS_H

#include <stddef.h>

/* Functions of struct mf_ranks. */
void tasks_begin(void *user, size_t count);
size_t tasks_take(void *user);
void tasks_stop(void *user, size_t from);

/* With the lock: receives what came, and answers. */
void tasks_attend(void);

/* With the lock, after the last task: an answer that came too late is not one
 * of the next run. */
void tasks_forget(void);

#endif
