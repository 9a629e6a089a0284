/* SPDX-License-Identifier: MIT
 *
 * inside.h - MPI, for the files of this folder: one thread at a time
 *
 * MPI's own waiting keeps a processor busy.  So everything here is begun, then
 * asked about, with sleep in between: from 20 microseconds to 2 milliseconds.
 * Meanwhile, and between a rank's own tasks, what others ask is answered: see
 * wire_attend.
 */
#ifndef MF_CLI_MPI_INSIDE_H
#define MF_CLI_MPI_INSIDE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct wire {
    MPI_Comm all;
    int rank, count;
} wire;

enum wire_tag {
    TAG_MEET = 1,
    TAG_ASK, /* tasks.c */
    TAG_SHARE,
    TAG_LIMIT,
    TAG_WANT, /* post.c */
    TAG_GRANT,
    TAG_ANSWERS,
    TAG_END,
    TAG_STOP
};

#define NAP_LEAST 20000 /* nanoseconds */

/* For any call of MPI the lock is needed.  The functions below are called with
 * it. */
void wire_lock(void);
void wire_unlock(void);

/* Of CLOCK_MONOTONIC, in nanoseconds; also without the lock. */
uint64_t wire_now(void);

/* Whether a message is there; which one. */
bool wire_is_there(int from, enum wire_tag tag, MPI_Status *status);

/* Receives and answers what came from others. */
void wire_attend(void);

/* Does that, then sleeps for *pause and makes it longer; ends all ranks if one
 * makes no progress.  Without the lock while it sleeps. */
void wire_nap(long *pause);

/* Until the request is done. */
void wire_await(MPI_Request *request);

/* As a count of MPI; ends all ranks if it is not one. */
int wire_fit(size_t size);

/* Memory for the rest of the process; ends all ranks if there is none. */
void *wire_need(size_t size);

/* Ends all ranks. */
void wire_fail(const char *why);

#endif
