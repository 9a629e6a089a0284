/* SPDX-License-Identifier: MIT
 *
 * parallel_run.c - a crew runs tasks
 *
 * Without other threads the same tasks run one after the other.
 */
#include "lib/base/parallel_parts.h"

#include <string.h>

#include "lib/base/timings.h"

struct run {
    struct mf_crew *crew;
    mf_task *task;
    mf_follows *follows; /* NULL: none does */
    void *context;
    size_t count;
    atomic_size_t next;  /* task.  They are given out in order: when one fails,
                            all before it have been begun and will end */
    atomic_bool watched; /* a worker reports progress */
    struct mf_ranks_run *shared; /* with other processes; NULL: it is not */
    size_t failed;               /* the first task that did, here */
};

static bool is_set(const atomic_bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

static bool goes_on(const struct run *run, size_t task)
{
    return run->follows && task < run->count &&
           run->follows(run->context, task);
}

static size_t next_task(struct run *run)
{
    const struct mf_ranks *ranks = run->crew->env->ranks;

    return run->shared
               ? ranks->take(ranks->user)
               : atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
}

/* Does the next task and those that follow it; false once all are taken. */
static bool do_next(struct run *run, struct mf_worker *worker)
{
    struct mf_crew *crew = run->crew;
    size_t task;

    /* A task that was taken is done, whatever fails meanwhile: it may be one
     * before that. */
    if (is_set(&crew->failed) || is_set(&crew->stopped))
        return false;
    task = next_task(run);
    if (task >= run->count)
        return false;
    if (goes_on(run, task))
        return true; /* the worker of the task before does this one */
    do {
        if (run->shared)
            run->shared->mine[task] = 1;
        if (run->task(worker, run->context, task) == MF_OK)
            continue;
        worker->failed = task;
        atomic_store_explicit(&crew->failed, true, memory_order_relaxed);
        return false;
    } while (goes_on(run, ++task) && !is_set(&crew->stopped));
    return true;
}

/* Tells how far all are, and asks whether to go on. */
static void watch(struct mf_crew *crew)
{
    const struct mf_env *env = crew->env;
    const char *tensor =
        atomic_load_explicit(&crew->tensor, memory_order_relaxed);
    struct mf_progress progress = { .total = crew->work };

    if (env->ranks)
        env->ranks->pulse(env->ranks->user);
    if (!env->progress || is_set(&crew->stopped))
        return;
    /* Estimated work, such as work outside of tensors, ends at its end. */
    progress.done = atomic_load_explicit(&crew->done, memory_order_relaxed);
    if (progress.done > crew->work)
        progress.done = crew->work;
    if (tensor)
        progress.tensor = (struct mf_str){ tensor, strlen(tensor) };
    if (!env->progress(env->progress_user, &progress))
        atomic_store_explicit(&crew->stopped, true, memory_order_relaxed);
}

static void watch_run(void *context)
{
    watch(((struct run *)context)->crew);
}

/* A program's function may call it with a number twice, or with any number. */
static void work(void *context, size_t number)
{
    struct run *run = context;
    struct mf_worker *worker;
    struct mf_timed timed;

    if (number >= run->crew->count)
        return;
    worker = &run->crew->worker[number];
    if (atomic_exchange(&worker->begun, true))
        return;
    timed = mf_timed_begin(&worker->env, MF_PHASE_REST);
    worker->watches = !atomic_exchange(&run->watched, true);
    while (do_next(run, worker))
        if (worker->watches)
            watch(run->crew);
    mf_timed_end(&worker->env, timed);
}

/* On the crew's threads, if it has any.  They may have ended since they were
 * started, for other work. */
static void run_threads(struct mf_crew *crew,
                        const struct mf_threads_task *task)
{
    if (crew->team.size < crew->count)
        mf_crew_threads(crew, crew->count);
    if (crew->team.size > 0)
        mf_threads_run(&crew->team,
                       crew->team.size < crew->count ? crew->team.size
                                                     : crew->count,
                       task);
}

/* With whatever threads there are; then this one does what is left. */
static void work_all(struct run *run)
{
    struct mf_crew *crew = run->crew;
    const struct mf_env *env = crew->env;
    const struct mf_threads_task shared = { work, watch_run, run };
    bool alone = crew->count < 2 || run->count < 2;

    for (size_t i = 0; i < crew->count; i++)
        atomic_store(&crew->worker[i].begun, false);
    atomic_store(&run->watched, !alone && !env->run);
    if (!alone && env->run)
        env->run(env->run_user, crew->count, work, run);
    else if (!alone)
        run_threads(crew, &shared);
    atomic_store(&run->watched, false);
    for (size_t i = 0; i < crew->count; i++)
        work(run, i);
}

bool mf_worker_done(struct mf_worker *worker, uint64_t bytes)
{
    struct mf_crew *crew = worker->crew;

    atomic_fetch_add_explicit(&crew->done, bytes, memory_order_relaxed);
    if (worker->watches)
        watch(crew);
    return !is_set(&crew->stopped);
}

static enum mf_status stopped(struct mf_env *env)
{
    return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET, "interrupted");
}

enum mf_status mf_worker_stopped(struct mf_worker *worker)
{
    return stopped(&worker->env);
}

/* What the workers read and wrote, and the time it took, is the env's; so is
 * the first failure. */
static enum mf_status gather(struct mf_crew *crew, size_t *failed)
{
    const struct mf_worker *first = NULL;

    for (size_t i = 0; i < crew->count; i++) {
        struct mf_worker *worker = &crew->worker[i];

        crew->env->io.reads += worker->env.io.reads;
        crew->env->io.bytes_read += worker->env.io.bytes_read;
        crew->env->io.bytes_written += worker->env.io.bytes_written;
        worker->env.io = (struct mf_io_stats){ 0 };
        if (worker->env.timings) {
            mf_timings_add(crew->env->timings, worker->env.timings);
            mf_timings_init(worker->env.timings);
        }
        if (worker->env.error.status != MF_OK &&
            (!first || worker->failed < first->failed))
            first = worker;
    }
    if (!first)
        return is_set(&crew->stopped) ? stopped(crew->env) : MF_OK;
    crew->env->error = first->env.error;
    *failed = first->failed;
    return crew->env->error.status;
}

static enum mf_status run_here(struct run *run)
{
    struct mf_crew *crew = run->crew;
    struct mf_timed timed;

    atomic_store(&crew->tensor, NULL);
    atomic_store(&crew->failed, false);
    atomic_store(&crew->stopped, false);
    timed = mf_timed_begin(crew->env, MF_PHASE_NONE);
    work_all(run);
    watch(crew);
    mf_timed_end(crew->env, timed);
    return gather(crew, &run->failed);
}

enum mf_status mf_crew_run(struct mf_crew *crew, mf_task *task, void *context,
                           size_t count)
{
    return mf_crew_run_rows(crew, task, NULL, context, count);
}

enum mf_status mf_crew_run_rows(struct mf_crew *crew, mf_task *task,
                                mf_follows *follows, void *context,
                                size_t count)
{
    struct run run = { .crew = crew,
                       .task = task,
                       .follows = follows,
                       .context = context,
                       .count = count };

    if (run_here(&run) != MF_OK)
        return crew->env->error.status;
    mf_crew_widen(crew);
    return MF_OK;
}

enum mf_status mf_crew_share(struct mf_crew *crew, mf_task *task,
                             mf_follows *follows, void *context, size_t count,
                             const struct mf_yields *yields)
{
    struct mf_env *env = crew->env;
    struct mf_ranks_run shared = { .count = count,
                                   .result = yields->of,
                                   .size = yields->size,
                                   .context = context };
    struct run run = { .crew = crew,
                       .task = task,
                       .follows = follows,
                       .context = context,
                       .count = count,
                       .shared = &shared };
    uint64_t before = atomic_load(&crew->done);

    if (!env->ranks)
        return mf_crew_run_rows(crew, task, follows, context, count);
    mf_ranks_begin(env, &shared);
    if (run_here(&run) != MF_OK)
        env->ranks->stop(env->ranks->user, run.failed);
    shared.failed = run.failed;
    shared.done = atomic_load(&crew->done) - before;
    mf_ranks_end(env, &shared);
    atomic_store(&crew->done, before + shared.done);
    return env->error.status;
}
