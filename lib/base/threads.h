/* SPDX-License-Identifier: MIT
 *
 * threads.h - threads that work while the one that called them watches
 */
#ifndef MF_LIB_THREADS_H
#define MF_LIB_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#define MF_THREADS_MAX 64 /* that work at once */

/* How many are to work at once: as many as are wanted, or one per processor
 * where that is 0; one in a build without OpenMP. */
size_t mf_threads_useful(size_t wanted);

/* Starts threads for work to come, and returns how many will work, at most
 * wanted: 1, the caller's own, where the system has no others to give. */
size_t mf_threads_start(size_t wanted);
void mf_threads_end(void);

/* Who calls gets a turn every so many milliseconds. */
#define MF_THREADS_TURN 20

struct mf_threads_task {
    /* What a worker does; caller: in the caller's thread, which gets no turns
     * meanwhile. */
    void (*work)(void *context, size_t worker, bool caller);
    void (*watch)(void *context);
    void *context;
};

/* Calls work for workers 0 to count - 1, or fewer of them, in threads of their
 * own, and until all have returned watch by turns, at least once, in the
 * caller's, which only works where threads are missing.  False, with nothing
 * done, where there are no others. */
bool mf_threads_run(size_t count, const struct mf_threads_task *task);

#endif
