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
 *
 * OpenMP's library keeps a pool of threads for each thread that has met a
 * parallel region.  The caller may have such a pool of its own, whose threads
 * have values of its program: so a region of ours is met by a leader, a thread
 * that is made for the team.  Its pool ends with it, and no other is touched.
 */
#include "lib/base/threads.h"

#include <unistd.h>

size_t mf_processors(void)
{
    long processors = 1;

#if defined(_SC_NPROCESSORS_ONLN)
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return processors > 0 ? (size_t)processors : 1;
}

#ifdef _OPENMP

#include <dlfcn.h>
#include <omp.h>
#include <time.h>

#include "lib/base/heap.h"
#include "lib/base/signals.h"

size_t mf_threads_useful(size_t wanted)
{
    /* As many as OMP_NUM_THREADS says, else one per processor. */
    return wanted > 0 ? wanted : (size_t)omp_get_max_threads();
}

/* ---- what the leader does */

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
    pthread_mutex_destroy(&lock);
    return given;
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

/* By a worker at its end: the last one wakes the caller. */
static void work(struct mf_team *team, size_t worker)
{
    team->task->work(team->task->context, worker);
    pthread_mutex_lock(&team->lock);
    team->ended++;
    if (team->ended == team->working)
        pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
}

/* The leader sleeps, as the caller does: of two threads with work to do, one
 * would be on the processor of the other.  There may be fewer threads than were
 * asked for: OMP_THREAD_LIMIT. */
static void wait_for_workers(struct mf_team *team, size_t workers)
{
    pthread_mutex_lock(&team->lock);
    team->working = workers;
    while (team->ended < team->working)
        pthread_cond_wait(&team->changed, &team->lock);
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
}

static void share(struct mf_team *team)
{
#pragma omp parallel num_threads((int)team->size + 1)
    if (omp_get_thread_num() > 0)
        work(team, (size_t)omp_get_thread_num() - 1);
    else
        wait_for_workers(team, (size_t)omp_get_num_threads() - 1);
}

static void arrive(void *context, size_t worker)
{
    (void)context;
    (void)worker;
}

/* As many of the wanted workers as the system and the memory allow. */
static size_t workers_allowed(size_t wanted)
{
    size_t allowed = threads_given(wanted);

    while (allowed > 1 && !mf_heap_system_has(memory_to_start(allowed)))
        allowed--;
    return allowed;
}

static void make_pool(struct mf_team *team)
{
    static const struct mf_threads_task nothing = { .work = arrive };

    team->size = workers_allowed(team->working);
    if (team->size < 2)
        return;
    team->task = &nothing;
    share(team);
    team->size = team->working;
}

/* Another number of threads takes memory, which OpenMP's library must get. */
static void do_task(struct mf_team *team)
{
    if (team->working != team->size &&
        !mf_heap_system_has(memory_to_change(team->working))) {
        wait_for_workers(team, 0);
        return;
    }
    team->size = team->working;
    share(team);
}

static void *lead(void *context)
{
    struct mf_team *team = context;

    make_pool(team);
    pthread_mutex_lock(&team->lock);
    for (;;) {
        team->busy = false;
        pthread_cond_broadcast(&team->changed);
        while (!team->busy && !team->over)
            pthread_cond_wait(&team->changed, &team->lock);
        if (team->over)
            break;
        pthread_mutex_unlock(&team->lock);
        do_task(team);
        pthread_mutex_lock(&team->lock);
    }
    pthread_mutex_unlock(&team->lock);
    omp_pause_resource_all(omp_pause_soft); /* waits for the pool's threads */
    return NULL;
}

/* ---- beginning and ending */

/* glibc loads this when a thread of OpenMP ends, and aborts the program if
 * there is no memory for it: so it is loaded before they start.  A static
 * program contains it. */
static bool can_end(void)
{
#if defined(__GLIBC__) && !defined(MF_STATIC)
    static void *library;

    if (!library)
        library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL;
#else
    return true;
#endif
}

/* In a parallel region of the program OpenMP allows no other, by default. */
static bool may_start(void)
{
    return omp_get_active_level() < omp_get_max_active_levels();
}

static void team_init(struct mf_team *team, size_t size)
{
    pthread_condattr_t clock;

    *team = (struct mf_team){ .size = size, .working = size, .busy = true };
    pthread_mutex_init(&team->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&team->changed, &clock);
    pthread_condattr_destroy(&clock);
}

static void team_release(struct mf_team *team)
{
    pthread_cond_destroy(&team->changed);
    pthread_mutex_destroy(&team->lock);
    team->size = 0;
}

static bool make_leader(struct mf_team *team)
{
    mf_signals before;
    bool made;

    /* A program that blocks a signal until it waits for it must not lose it to
     * a thread of the library: threads inherit what is blocked here. */
    mf_signals_hold(&before);
    made = pthread_create(&team->leader, NULL, lead, team) == 0;
    mf_signals_release(&before);
    return made;
}

/* Waits until the leader is ready for a task; the lock is held then. */
static void lock_idle(struct mf_team *team)
{
    pthread_mutex_lock(&team->lock);
    while (team->busy)
        pthread_cond_wait(&team->changed, &team->lock);
}

static void end_leader(struct mf_team *team)
{
    lock_idle(team);
    team->over = true;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
    pthread_join(team->leader, NULL);
    team_release(team);
}

size_t mf_threads_start(struct mf_team *team, size_t wanted)
{
    /* Threads tried by one thread of the program must not be taken by another
     * before OpenMP's library has them. */
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    bool started;

    mf_threads_end(team);
    if (wanted < 2 || !may_start())
        return 1;
    team_init(team, wanted);
    pthread_mutex_lock(&one_at_a_time);
    started = can_end() && make_leader(team);
    if (started) {
        lock_idle(team);
        pthread_mutex_unlock(&team->lock);
    }
    pthread_mutex_unlock(&one_at_a_time);
    if (!started)
        team_release(team);
    else if (team->size < 2)
        end_leader(team);
    return team->size > 0 ? team->size : 1;
}

/* Idle threads would count against the program's limit, and the child of a fork
 * does not have them. */
void mf_threads_end(struct mf_team *team)
{
    if (team->size > 0)
        end_leader(team);
}

/* ---- working */

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

static void watch(struct mf_team *team, const struct mf_threads_task *task)
{
    bool working = true;

    while (working) {
        struct timespec turn = next_turn();

        task->watch(task->context);
        pthread_mutex_lock(&team->lock);
        while (team->ended < team->working &&
               pthread_cond_timedwait(&team->changed, &team->lock, &turn) == 0)
            ;
        working = team->ended < team->working;
        pthread_mutex_unlock(&team->lock);
    }
}

void mf_threads_run(struct mf_team *team, size_t count,
                    const struct mf_threads_task *task)
{
    lock_idle(team);
    team->task = task;
    team->working = count;
    team->ended = 0;
    team->busy = true;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
    watch(team, task);
}

#else

size_t mf_threads_useful(size_t wanted)
{
    (void)wanted;
    return 1;
}

size_t mf_threads_start(struct mf_team *team, size_t wanted)
{
    (void)team;
    (void)wanted;
    return 1;
}

void mf_threads_end(struct mf_team *team)
{
    (void)team;
}

void mf_threads_run(struct mf_team *team, size_t count,
                    const struct mf_threads_task *task)
{
    (void)team;
    (void)count;
    (void)task;
}

#endif
