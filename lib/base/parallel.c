/* SPDX-License-Identifier: MIT
 *
 * parallel.c - long work shared between threads, each with a buffer
 *
 * Without other threads the same tasks run one after the other.
 */
#include "lib/base/parallel.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "lib/base/threads.h"

/* Half to all of a second-level cache, where what was read is looked at. On a
 * warm file 256 KiB to 1 MiB are equally fast; 64 KiB costs a third more, by
 * system calls. */
#define BUFFER_MAX  ((size_t)512 * 1024)
#define BUFFER_MIN  ((size_t)64 * 1024)
#define WORKERS_MAX (MF_CREW_MEMORY / BUFFER_MIN)
_Static_assert(WORKERS_MAX <= MF_THREADS_MAX, "all workers can be threads");

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* What buffers may take: where memory has a limit, half of what is left. */
static size_t memory_for(const struct mf_env *env)
{
    size_t left = mf_heap_left(env);

    return left == SIZE_MAX ? MF_CREW_MEMORY : least(MF_CREW_MEMORY, left / 2);
}

static size_t workers_for(const struct mf_env *env, uint64_t work,
                          size_t at_least)
{
    size_t threads = mf_threads_useful(env->threads);
    size_t each = at_least > BUFFER_MIN ? at_least : BUFFER_MIN;

    /* A buffer's worth of work is done before a thread has started. */
    threads = least(least(threads, WORKERS_MAX), work / BUFFER_MAX + 1);
    if (mf_heap_left(env) < SIZE_MAX)
        threads = least(threads, memory_for(env) / (each + 2 * MF_PAGE));
    return threads > 0 ? threads : 1;
}

size_t mf_env_threads(const struct mf_env *env)
{
    if (!env)
        return 1;

    return workers_for(env, UINT64_MAX, 0);
}

static size_t whole_pages(size_t size)
{
    size_t over = size % MF_PAGE;

    return over > 0 ? size - over + MF_PAGE : size;
}

/* At least at_least, and a page, whatever the share is. */
static size_t buffer_for(const struct mf_env *env, size_t workers,
                         uint64_t piece, size_t at_least)
{
    size_t share = least(memory_for(env) / workers, BUFFER_MAX);

    share =
        piece < share ? whole_pages((size_t)piece) : share - share % MF_PAGE;
    if (share < at_least)
        share = whole_pages(at_least);
    return share < MF_PAGE ? MF_PAGE : share;
}

/* So that all buffers together can be counted; no machine has as much. */
#define LEAST_MAX (SIZE_MAX / (4 * MF_THREADS_MAX))

enum mf_status mf_crew_init(struct mf_crew *crew, struct mf_env *env,
                            uint64_t work, uint64_t piece, size_t least_size)
{
    size_t count = workers_for(env, work, least_size), size, stride;
    uint8_t *buffer;

    *crew = (struct mf_crew){ 0 };
    if (least_size > LEAST_MAX)
        return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "one row needs a buffer of %zu bytes", least_size);
    if (count > 1)
        count = mf_threads_start(count);
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
    if (crew->room > 1)
        mf_threads_end();
    mf_release(crew->env, crew->buffers,
               crew->room * (crew->buffer_size + MF_PAGE) + MF_PAGE);
    mf_release(crew->env, crew->worker, crew->room * sizeof(*crew->worker));
    *crew = (struct mf_crew){ 0 };
}

/* ---- a run ---- */

struct run {
    struct mf_crew *crew;
    mf_task *task;
    void *context;
    size_t count;
    atomic_size_t next; /* task.  They are given out in order: when one fails,
                           all before it have been begun and will end */
};

static bool is_set(const atomic_bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

/* Does the next task; false where there is none to do. */
static bool do_next(struct run *run, struct mf_worker *worker)
{
    struct mf_crew *crew = run->crew;
    size_t task =
        atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);

    if (task >= run->count || is_set(&crew->failed) || is_set(&crew->stopped))
        return false;
    if (run->task(worker, run->context, task) == MF_OK)
        return true;
    worker->failed = task;
    atomic_store_explicit(&crew->failed, true, memory_order_relaxed);
    return false;
}

/* Tells how far all are, and asks whether to go on. */
static void watch(struct mf_crew *crew)
{
    const struct mf_env *env = crew->env;
    const char *tensor =
        atomic_load_explicit(&crew->tensor, memory_order_relaxed);
    struct mf_progress progress = { .total = crew->work };

    if (!env->progress || is_set(&crew->stopped))
        return;
    /* Work that was estimated, as that beside tensors is, ends at its end. */
    progress.done = least(
        atomic_load_explicit(&crew->done, memory_order_relaxed), crew->work);
    if (tensor)
        progress.tensor = (struct mf_str){ tensor, strlen(tensor) };
    if (!env->progress(env->progress_user, &progress))
        atomic_store_explicit(&crew->stopped, true, memory_order_relaxed);
}

static void watch_run(void *context)
{
    watch(((struct run *)context)->crew);
}

static void work(void *context, size_t number, bool caller)
{
    struct run *run = context;
    struct mf_worker *worker = &run->crew->worker[number];

    worker->watches = caller;
    while (do_next(run, worker))
        if (caller)
            watch(run->crew);
}

void mf_worker_at(struct mf_worker *worker, const char *tensor)
{
    atomic_store_explicit(&worker->crew->tensor, tensor, memory_order_relaxed);
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
        return is_set(&crew->stopped) ? stopped(crew->env) : MF_OK;
    crew->env->error = first->env.error;
    return crew->env->error.status;
}

enum mf_status mf_crew_run(struct mf_crew *crew, mf_task *task, void *context,
                           size_t count)
{
    struct run run = {
        .crew = crew, .task = task, .context = context, .count = count
    };
    const struct mf_threads_task shared = { work, watch_run, &run };

    atomic_store(&crew->tensor, NULL);
    atomic_store(&crew->failed, false);
    atomic_store(&crew->stopped, false);
    if (crew->count < 2 || count < 2 || !mf_threads_run(crew->count, &shared))
        work(&run, 0, true);
    watch(crew);
    return gather(crew);
}

size_t mf_next_part(struct mf_env *env, uint64_t left, size_t most)
{
    size_t part = least(left, most);

    if (part == 0)
        mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "no progress is possible: a buffer has room for %zu of the "
                "%" PRIu64 " units that are left",
                most, left);
    return part;
}

bool mf_worker_wait(const struct mf_worker *worker, const atomic_size_t *turn,
                    size_t mine)
{
    /* As long as it takes to read a little from memory; then others may have
     * the processor. */
    const unsigned patience = 1000;

    for (unsigned i = 0;
         atomic_load_explicit(turn, memory_order_acquire) != mine; i++) {
        if (is_set(&worker->crew->failed) || is_set(&worker->crew->stopped))
            return false;
        if (i > patience)
            sched_yield();
    }
    return true;
}
