/* SPDX-License-Identifier: MIT
 *
 * threads.c - threads that work while their caller reports progress
 *
 * The only file that knows OpenMP.
 *
 * The caller sleeps instead of taking part.  Linux has a new thread begin on
 * the processor of the one that made it; in a virtual machine it finds them
 * apart only after some 10 ms if both have work to do, which is half of what
 * many a command takes.  If the caller sleeps, its place is free, and the
 * threads after the first go elsewhere at once.
 */
#include "lib/base/threads.h"

#ifdef _OPENMP

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <time.h>

#include "lib/base/heap.h"
#include "lib/base/signals.h"

size_t mf_threads_useful(size_t wanted)
{
    /* As many as OMP_NUM_THREADS says, else one per processor. */
    return wanted > 0 ? wanted : (size_t)omp_get_max_threads();
}

/* ---- beginning */

static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* OpenMP's library ends the program if the system refuses a thread.  So threads
 * are tried first, and those refused are not asked of OpenMP. */
static size_t threads_given(size_t wanted)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[MF_THREADS_MAX];
    size_t given = 0;

    pthread_mutex_lock(&lock);
    while (given < wanted &&
           pthread_create(&thread[given], NULL, wait_for, &lock) == 0)
        given++;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < given; i++)
        pthread_join(thread[i], NULL);
    return given;
}

/* glibc loads this when a thread of OpenMP ends, and aborts the program if
 * there is no memory for it: so it is loaded before they start. */
static bool can_end(void)
{
#if defined(__GLIBC__)
    static void *library;

    if (!library)
        library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL;
#else
    return true;
#endif
}

/* What OpenMP's library allocates for threads that can be created, and for
 * another number of them later on.  Measured with GCC 12: 3 KiB and 520 bytes
 * per thread, 1.4 KiB and 224 bytes per thread. */
static size_t memory_to_start(size_t threads)
{
    return 6 * 1024 + threads * 576;
}

static size_t memory_to_change(size_t threads)
{
    return 2 * 1024 + threads * 256;
}

/* The team that OpenMP's library keeps for this thread of the program.  If
 * fewer are to work, the others end. */
static _Thread_local size_t team;

/* As many of the wanted threads as the system and the memory allow. */
static size_t threads_allowed(size_t wanted)
{
    size_t allowed = can_end() ? threads_given(wanted) : 1;

    while (allowed > 1 && !mf_heap_system_has(memory_to_start(allowed)))
        allowed--;
    return allowed;
}

size_t mf_threads_start(size_t wanted)
{
    /* Threads tried by one thread of the program must not be taken by another
     * before OpenMP's library has them. */
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    size_t given, started = 0;
    sigset_t before;

    mf_threads_end(); /* the program's own threads take its signals */
    pthread_mutex_lock(&one_at_a_time);
    /* A program that blocks a signal until it waits for it must not lose it to
     * a thread of the library. */
    mf_signals_hold(&before);
    given = threads_allowed(wanted);
    if (given > 1) {
        /* Counting keeps the compiler from removing an empty region. */
#pragma omp parallel num_threads((int)given + 1) reduction(+ : started)
        started++;
        team = given;
    }
    mf_signals_release(&before);
    pthread_mutex_unlock(&one_at_a_time);
    return started > given ? given : started > 1 ? started : 1;
}

/* Otherwise the child of a fork would wait for threads that it does not have,
 * and idle threads would count against the program's limit. */
void mf_threads_end(void)
{
    omp_pause_resource_all(omp_pause_soft);
    team = 0;
}

/* ---- working */

/* How many of count threads can work without OpenMP's library asking for what
 * it may not get.  Those that were started may have ended since, for other
 * work. */
static size_t threads_ready(size_t count)
{
    if (count > team)
        return mf_threads_start(count);
    if (count < team && !mf_heap_system_has(memory_to_change(count)))
        return 1;
    team = count;
    return count;
}

struct crowd {
    const struct mf_threads_task *task;
    pthread_mutex_t lock;
    pthread_cond_t one_ended;
    size_t ended;
};

static void crowd_begin(struct crowd *crowd)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&crowd->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&crowd->one_ended, &clock);
    pthread_condattr_destroy(&clock);
}

static void crowd_end(struct crowd *crowd)
{
    pthread_cond_destroy(&crowd->one_ended);
    pthread_mutex_destroy(&crowd->lock);
}

static void work(struct crowd *crowd, size_t worker)
{
    crowd->task->work(crowd->task->context, worker, false);
    pthread_mutex_lock(&crowd->lock);
    crowd->ended++;
    pthread_cond_signal(&crowd->one_ended);
    pthread_mutex_unlock(&crowd->lock);
}

static struct timespec next_turn(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += MF_THREADS_TURN * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

static void watch(struct crowd *crowd, size_t workers)
{
    bool working = true;

    while (working) {
        struct timespec turn = next_turn();

        crowd->task->watch(crowd->task->context);
        pthread_mutex_lock(&crowd->lock);
        while (crowd->ended < workers &&
               pthread_cond_timedwait(&crowd->one_ended, &crowd->lock, &turn) ==
                   0)
            ;
        working = crowd->ended < workers;
        pthread_mutex_unlock(&crowd->lock);
    }
}

bool mf_threads_run(size_t count, const struct mf_threads_task *task)
{
    struct crowd crowd = { .task = task };
    size_t others = 0;
    sigset_t before;

    count = threads_ready(count);
    if (count < 2)
        return false;
    crowd_begin(&crowd);
    mf_signals_hold(&before); /* threads inherit what is blocked here */
#pragma omp parallel num_threads((int)count + 1)
    if (omp_get_thread_num() > 0) {
        work(&crowd, (size_t)omp_get_thread_num() - 1);
    } else {
        mf_signals_release(&before);
        others = (size_t)omp_get_num_threads() - 1;
        if (others > 0 && others < count) /* OMP_THREAD_LIMIT, say */
            task->work(task->context, others, true);
        if (others > 0)
            watch(&crowd, others);
    }
    crowd_end(&crowd);
    return others > 0;
}

#else

size_t mf_threads_useful(size_t wanted)
{
    (void)wanted;
    return 1;
}

size_t mf_threads_start(size_t wanted)
{
    (void)wanted;
    return 1;
}

void mf_threads_end(void)
{
}

bool mf_threads_run(size_t count, const struct mf_threads_task *task)
{
    (void)count;
    (void)task;
    return false;
}

#endif
