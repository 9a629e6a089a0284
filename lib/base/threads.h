/* SPDX-License-Identifier: MIT
 *
 * threads.h - threads that work while their caller reports progress
 */
#ifndef MF_LIB_THREADS_H
#define MF_LIB_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* The others have no threads yet: work is done on the caller's. */
#if !defined(_WIN32) && !defined(__wasi__)
#define MF_HAS_THREADS
#include <pthread.h>
#endif

#define MF_THREADS_MAX 64 /* that work at once */

/* How many threads should work: as many as wanted; if that is 0, as many as
 * OMP_NUM_THREADS says, or one per processor; one in a build without OpenMP. */
size_t mf_threads_useful(size_t wanted);

/* How many processors there are; 1 where the system does not say. */
size_t mf_processors(void);

/* The caller's turn comes every so many milliseconds. */
#define MF_THREADS_TURN 20

struct mf_threads_task {
    void (*work)(void *context, size_t worker);
    void (*watch)(void *context);
    void *context;
};

/* The threads of one caller; begins with zeros.  It must not move while it has
 * threads. */
struct mf_team {
    size_t size; /* threads that wait for work, or do it; 0: there are none */
    size_t working, ended; /* of them, in the task at hand */
    const struct mf_threads_task *task;
    bool busy; /* the leader has something to do */
    bool over;
#if defined(MF_HAS_THREADS)
    pthread_t leader;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of these */
#endif
};

/* Starts threads for work to come and returns how many there are, at most
 * wanted: 1, the caller's own, if the system gives no others. */
size_t mf_threads_start(struct mf_team *team, size_t wanted);
void mf_threads_end(struct mf_team *team);

/* For a team that has threads: calls work for workers 0 to count - 1, each in a
 * thread of its own; for fewer, or none, where threads or memory are short.
 * count is at most the team's size.  Until all have returned, calls watch in
 * the caller's thread, at least once and then every turn. */
void mf_threads_run(struct mf_team *team, size_t count,
                    const struct mf_threads_task *task);

#endif
