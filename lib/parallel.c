/* SPDX-License-Identifier: MIT
 *
 * parallel.c - long work shared between threads, each with a buffer
 *
 * The only file that knows of OpenMP.  Built without it, the same tasks run
 * one after the other.
 */
#include "lib/parallel.h"

#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#endif

/* Half to all of a second-level cache, where what was read is looked at. On a
 * warm file 256 KiB to 1 MiB are equally fast; 64 KiB costs a third more, by
 * system calls. */
#define BUFFER_MAX  ((size_t)512 * 1024)
#define BUFFER_MIN  ((size_t)64 * 1024)
#define WORKERS_MAX (MF_CREW_MEMORY / BUFFER_MIN)

static size_t processors(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_num_procs();
#else
    return 1;
#endif
}

static size_t this_worker(void)
{
#ifdef _OPENMP
    return (size_t)omp_get_thread_num();
#else
    return 0;
#endif
}

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* What buffers may take: where the heap has a limit, half of what is left. */
static size_t memory_for(const struct mf_env *env)
{
    const struct mf_heap *heap = &env->heap;

    if (heap->limit == 0)
        return MF_CREW_MEMORY;
    return least(MF_CREW_MEMORY,
                 heap->limit > heap->live ? (heap->limit - heap->live) / 2 : 0);
}

static size_t workers_for(const struct mf_env *env, uint64_t work,
                          size_t at_least)
{
    size_t threads = env->threads > 0 ? env->threads : processors();
    size_t each = at_least > BUFFER_MIN ? at_least : BUFFER_MIN;

#ifndef _OPENMP
    threads = 1;
#endif
    /* A buffer's worth of work is done before a thread has started. */
    threads = least(least(threads, WORKERS_MAX), work / BUFFER_MAX + 1);
    if (env->heap.limit > 0)
        threads = least(threads, memory_for(env) / (each + 2 * MF_PAGE));
    return threads > 0 ? threads : 1;
}

size_t mf_env_threads(const struct mf_env *env)
{
    return workers_for(env, UINT64_MAX, 0);
}

static size_t buffer_for(const struct mf_env *env, size_t workers,
                         uint64_t piece, size_t at_least)
{
    size_t share = least(memory_for(env) / workers, BUFFER_MAX);

    if (piece < share)
        share = (size_t)piece + MF_PAGE - 1;
    if (share < at_least)
        share = at_least + MF_PAGE - 1;
    return share < MF_PAGE ? MF_PAGE : share - share % MF_PAGE;
}

#ifdef _OPENMP
static void *wait_for(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

/* OpenMP's library ends the program where the system refuses a thread.  So it
 * is asked before, and what is refused is done without. */
static size_t threads_given(size_t wanted)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[WORKERS_MAX];
    size_t given = 1;

    pthread_mutex_lock(&lock);
    while (given < wanted &&
           pthread_create(&thread[given], NULL, wait_for, &lock) == 0)
        given++;
    pthread_mutex_unlock(&lock);
    for (size_t i = 1; i < given; i++)
        pthread_join(thread[i], NULL);
    return given;
}

/* Those that are for the program, not for the thread at whose work they come:
 * a program that holds a signal back until it waits for it must not find it
 * taken by a thread of ours. */
static void program_signals(sigset_t *set)
{
    static const int of_a_thread[] = {
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF,
    };

    sigfillset(set);
    for (size_t i = 0; i < sizeof(of_a_thread) / sizeof(*of_a_thread); i++)
        sigdelset(set, of_a_thread[i]);
}

/* Threads start here and stay: nothing can go wrong with them later.  They are
 * counted since a compiler leaves out a region that does nothing. */
static size_t start_threads(size_t wanted)
{
    sigset_t held, before;
    size_t started = 0;

    program_signals(&held);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    wanted = threads_given(wanted);
#pragma omp parallel num_threads((int)wanted) reduction(+ : started)
    started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
#endif

enum mf_status mf_crew_init(struct mf_crew *crew, struct mf_env *env,
                            uint64_t work, uint64_t piece, size_t least_size)
{
    size_t count = workers_for(env, work, least_size), size, stride;
    uint8_t *buffer;

#ifdef _OPENMP
    if (count > 1)
        count = start_threads(count);
#endif
    size = buffer_for(env, count, piece, least_size);
    stride = size + MF_PAGE;

    *crew = (struct mf_crew){ .env = env,
                              .count = count,
                              .room = count,
                              .buffer_size = size,
                              .work = work };
    crew->worker = mf_alloc(env, count * sizeof(*crew->worker));
    if (crew->worker)
        crew->buffers = mf_alloc(env, count * stride + MF_PAGE);
    if (!crew->buffers) {
        mf_crew_release(crew);
        return env->error.status;
    }
    buffer = crew->buffers + (MF_PAGE - (uintptr_t)crew->buffers % MF_PAGE);
    for (size_t i = 0; i < count; i++) {
        crew->worker[i] = (struct mf_worker){ .crew = crew,
                                              .env.heap.limit = 1,
                                              .buffer = buffer + i * stride,
                                              .buffer_size = size };
        mf_clear_error(&crew->worker[i].env);
    }
    return MF_OK;
}

void mf_crew_release(struct mf_crew *crew)
{
    if (!crew->env)
        return;
    mf_release(crew->env, crew->buffers,
               crew->room * (crew->buffer_size + MF_PAGE) + MF_PAGE);
    mf_release(crew->env, crew->worker, crew->room * sizeof(*crew->worker));
    *crew = (struct mf_crew){ 0 };
}

/* What the workers read and wrote is the env's; so is the first failure. */
static enum mf_status gather(struct mf_crew *crew)
{
    const struct mf_worker *first = NULL;

    for (size_t i = 0; i < crew->count; i++) {
        struct mf_worker *worker = &crew->worker[i];

        crew->env->io.reads += worker->env.io.reads;
        crew->env->io.bytes_read += worker->env.io.bytes_read;
        crew->env->io.bytes_written += worker->env.io.bytes_written;
        worker->env.io = (struct mf_io_stats){ 0 };
        if (worker->env.error.status != MF_OK &&
            (!first || worker->failed < first->failed))
            first = worker;
    }
    if (!first)
        return MF_OK;
    crew->env->error = first->env.error;
    return crew->env->error.status;
}

/* The first worker is the thread that the caller knows: it tells how far all
 * are, and whether to go on. */
static enum mf_status watch(struct mf_crew *crew, struct mf_worker *worker)
{
    struct mf_env *env = crew->env;
    struct mf_progress progress = { .total = crew->work };

    if (worker != crew->worker || !env->progress)
        return MF_OK;
    /* Work that was estimated, as that beside tensors is, ends at its end. */
    progress.done = least(
        atomic_load_explicit(&crew->done, memory_order_relaxed), crew->work);
    return env->progress(env->progress_user, &progress)
               ? MF_OK
               : mf_fail(&worker->env, MF_ERR_STOPPED, MF_NO_OFFSET,
                         "stopped before the end");
}

enum mf_status mf_crew_run(struct mf_crew *crew, mf_task *task, void *context,
                           size_t count)
{
    atomic_store(&crew->failed, false);
    /* Tasks are given out in order: when one fails, all before it have been
     * begun and will end. */
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)                                  \
    num_threads((int)crew->count) if (crew->count > 1)
#endif
    for (size_t i = 0; i < count; i++) {
        struct mf_worker *worker = &crew->worker[this_worker()];

        if (!atomic_load_explicit(&crew->failed, memory_order_relaxed) &&
            (task(worker, context, i) != MF_OK ||
             watch(crew, worker) != MF_OK)) {
            worker->failed = i;
            atomic_store_explicit(&crew->failed, true, memory_order_relaxed);
        }
    }
    return gather(crew);
}

bool mf_worker_wait(const struct mf_worker *worker, const atomic_size_t *turn,
                    size_t mine)
{
    /* As long as it takes to read a little from memory; then others may have
     * the processor. */
    const unsigned patience = 1000;

    for (unsigned i = 0;
         atomic_load_explicit(turn, memory_order_acquire) != mine; i++) {
        if (atomic_load_explicit(&worker->crew->failed, memory_order_relaxed))
            return false;
        if (i > patience)
            sched_yield();
    }
    return true;
}
