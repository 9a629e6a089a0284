/* SPDX-License-Identifier: MIT
 *
 * threads.h - threads that work while their caller reports progress
 */
#ifndef MF_LIB_THREADS_H
#define MF_LIB_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#define MF_THREADS_MAX 64 /* that work at once */

/* How many threads should work: as many as wanted; if that is 0, as many as
 * OMP_NUM_THREADS says, or one per processor; one in a build without OpenMP. */
size_t mf_threads_useful(size_t wanted);

/* Starts threads for work to come and returns how many there are, at most
 * wanted: 1, the caller's own, if the system gives no others. */
size_t mf_threads_start(size_t wanted);
void mf_threads_end(void);

/* The caller's turn comes every so many milliseconds. */
#define MF_THREADS_TURN 20

struct mf_threads_task {
    /* A worker's work; caller: it runs in the caller's thread, which has no
     * turns meanwhile. */
    void (*work)(void *context, size_t worker, bool caller);
    void (*watch)(void *context);
    void *context;
};

/* Calls work for workers 0 to count - 1, or fewer, each in a thread of its own.
 * Until all have returned, calls watch in the caller's thread, at least once
 * and then every turn; that thread works only where threads are missing. False,
 * and nothing done, if there are no other threads. */
bool mf_threads_run(size_t count, const struct mf_threads_task *task);

#endif
