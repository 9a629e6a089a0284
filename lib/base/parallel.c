/* SPDX-License-Identifier: MIT
 *
 * parallel.c - long work shared between threads, each with a buffer
 *
 * This file gives a crew its threads and buffers; how it runs tasks is in
 * parallel_run.c.
 */
#include "lib/base/parallel_parts.h"

#include <string.h>

#include "lib/base/timings.h"

/* Half to all of a second-level cache, where what was read is looked at. On a
 * warm file 256 KiB to 1 MiB are equally fast; 64 KiB costs a third more, by
 * system calls. */
#define BUFFER_MAX  ((size_t)512 * 1024)
#define BUFFER_MIN  ((size_t)64 * 1024)
#define WORKERS_MAX (MF_CREW_MEMORY / BUFFER_MIN)
_Static_assert(WORKERS_MAX <= MF_THREADS_MAX, "all workers can be threads");

/* The work that pays for a thread.  Two threads hash or scan 2 MiB in 2.1 ms
 * and one in 1.6, 16 MiB in 4.0 and 4.5; they measure 2 MiB in 3.8 and 3.2, 4
 * in 3.7 and 5.1.  Encoding takes ten to a thousand times as long. */
#define QUICK_PAYS ((uint64_t)4 * 1024 * 1024)
#define SLOW_PAYS  ((uint64_t)512 * 1024)

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

/* Threads of the program are not OpenMP's to count. */
static size_t threads_of(const struct mf_env *env)
{
    if (!env->run || env->threads > 0)
        return env->run ? env->threads : mf_threads_useful(env->threads);
    return mf_processors();
}

static size_t workers_for(const struct mf_env *env, uint64_t work,
                          uint64_t pays, size_t at_least)
{
    size_t threads = threads_of(env);
    size_t each = at_least > BUFFER_MIN ? at_least : BUFFER_MIN;

    threads = least(least(threads, WORKERS_MAX), work / pays + 1);
    if (mf_heap_left(env) < SIZE_MAX)
        threads = least(threads, memory_for(env) / (each + 2 * MF_PAGE));
    return threads > 0 ? threads : 1;
}

size_t mf_env_threads(const struct mf_env *env)
{
    if (!env)
        return 1;

    return workers_for(env, UINT64_MAX, SLOW_PAYS, 0);
}

static size_t whole_pages(size_t size)
{
    size_t over = size % MF_PAGE;

    return over > 0 ? size - over + MF_PAGE : size;
}

/* So that all buffers together can be counted; no machine has as much. */
#define LEAST_MAX (SIZE_MAX / (4 * MF_THREADS_MAX))

/* Of all buffers: each has a page more for mf_worker_room, and one more aligns
 * them. */
static size_t memory_of(size_t workers, size_t buffer_size)
{
    return workers * (buffer_size + MF_PAGE) + MF_PAGE;
}

/* The pages of a buffer: for a piece of the work, if so many can be had, but at
 * least at_least bytes. */
static struct mf_chunk_size pages_for(const struct mf_env *env, size_t workers,
                                      uint64_t piece, size_t at_least)
{
    size_t most = least(MF_CREW_MEMORY / workers, BUFFER_MAX) / MF_PAGE;
    size_t fewest = whole_pages(at_least > 0 ? at_least : 1) / MF_PAGE;

    struct mf_chunk_size pages;
    size_t left = mf_heap_left(env), fixed = memory_of(workers, 0);

    most = least(most, piece / MF_PAGE + (piece % MF_PAGE > 0));
    if (most < fewest)
        most = fewest;
    /* Work with one buffer has little else to remember. */
    left = left > fixed ? left - fixed : 0;
    left = workers > 1 ? left / 2 : left / 4 * 3;
    pages = (struct mf_chunk_size){ .least = fewest, .most = most };
    pages.now = least(left / workers / MF_PAGE, most);
    if (pages.now < fewest)
        pages.now = fewest;
    return pages;
}

static void place_buffers(struct mf_crew *crew)
{
    uint8_t *at =
        crew->buffers + (MF_PAGE - (uintptr_t)crew->buffers % MF_PAGE);

    for (size_t i = 0; i < crew->room; i++) {
        crew->worker[i].buffer = at + i * (crew->buffer_size + MF_PAGE);
        crew->worker[i].buffer_size = crew->buffer_size;
    }
}

/* Buffers of crew->pages for all workers.  On failure they stay as they were.
 */
static bool resize_buffers(struct mf_crew *crew)
{
    size_t size = crew->pages.now * MF_PAGE;
    size_t before =
        crew->buffers ? memory_of(crew->room, crew->buffer_size) : 0;
    void *moved = mf_env_resize(crew->env, crew->buffers, before,
                                memory_of(crew->room, size));

    if (!moved)
        return false;
    crew->buffers = moved;
    crew->buffer_size = size;
    place_buffers(crew);
    return true;
}

static bool hire(struct mf_crew *crew, size_t count)
{
    crew->worker = mf_alloc(crew->env, count * sizeof(*crew->worker));
    if (!crew->worker)
        return false;
    crew->count = crew->room = count;
    if (crew->env->timings) {
        crew->timings = mf_alloc(crew->env, count * sizeof(*crew->timings));
        if (!crew->timings)
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        crew->worker[i] = (struct mf_worker){ .crew = crew };
        mf_env_lend(&crew->worker[i].env, crew->env);
        if (crew->timings) {
            crew->worker[i].env.timings = &crew->timings[i];
            mf_timings_init(&crew->timings[i]);
        }
    }
    return true;
}

/* How many of so many threads there are.  Threads that wait for another crew of
 * the env end: that one starts them again. */
size_t mf_crew_threads(struct mf_crew *crew, size_t count)
{
    struct mf_env *env = crew->env;

    if (count < 2 || env->run)
        return count;
    if (env->team && env->team != &crew->team)
        mf_threads_end(env->team);
    env->team = &crew->team;
    return mf_threads_start(&crew->team, count);
}

static void end_threads(struct mf_crew *crew)
{
    mf_threads_end(&crew->team);
    if (crew->env->team == &crew->team)
        crew->env->team = NULL;
}

/* With the threads that were started for it, even if there were no workers. */
static void dismiss(struct mf_crew *crew)
{
    end_threads(crew);
    mf_release(crew->env, crew->timings, crew->room * sizeof(*crew->timings));
    mf_release(crew->env, crew->worker, crew->room * sizeof(*crew->worker));
    crew->timings = NULL;
    crew->worker = NULL;
    crew->count = crew->room = 0;
}

static enum mf_status try_init(struct mf_crew *crew, struct mf_env *env,
                               uint64_t work, uint64_t piece, size_t least_size,
                               size_t count)
{
    const struct mf_error before = env->error;

    *crew = (struct mf_crew){ 0 };
    if (least_size > LEAST_MAX)
        return mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "one row needs a buffer of %zu bytes", least_size);
    *crew = (struct mf_crew){ .env = env, .work = work };
    for (;; count /= 2) {
        count = mf_crew_threads(crew, count);
        crew->pages = pages_for(env, count, piece, least_size);
        if (hire(crew, count)) {
            while (!resize_buffers(crew) && mf_chunk_refused(&crew->pages))
                env->error = before;
            if (crew->buffers)
                return MF_OK;
        }
        dismiss(crew);
        if (count == 1)
            break;
        env->error = before;
    }
    *crew = (struct mf_crew){ 0 };
    return env->error.status;
}

bool mf_crew_shrink(struct mf_crew *crew)
{
    return mf_chunk_refused(&crew->pages) && resize_buffers(crew);
}

void *mf_crew_resize(struct mf_crew *crew, void *block, size_t old_size,
                     size_t new_size)
{
    const struct mf_error before = crew->env->error;
    void *moved;

    for (;;) {
        moved = mf_env_resize(crew->env, block, old_size, new_size);
        if (moved || new_size == 0 || !mf_crew_shrink(crew))
            return moved;
        crew->env->error = before;
    }
}

/* After a run: larger buffers, if it is time for them and memory is there. */
void mf_crew_widen(struct mf_crew *crew)
{
    const struct mf_error before = crew->env->error;
    size_t now = memory_of(crew->room, crew->buffer_size), more;

    /* All ranks have buffers of one size. */
    if (crew->env->ranks || !mf_chunk_fitted(&crew->pages))
        return;
    more = memory_of(crew->room, crew->pages.now * MF_PAGE) - now;
    if (more > mf_heap_left(crew->env) / 2 || !resize_buffers(crew)) {
        mf_chunk_refused(&crew->pages);
        crew->env->error = before;
    }
}

/* Ranks that share tasks cut the work alike, whatever memory each has. */
static enum mf_status same_buffers(struct mf_crew *crew)
{
    uint64_t pages = crew->pages.now;

    if (mf_ranks_least(crew->env, &pages) != MF_OK)
        return crew->env->error.status;
    if (pages == crew->pages.now)
        return MF_OK;
    crew->pages.now = (size_t)pages;
    return resize_buffers(crew) ? MF_OK : crew->env->error.status;
}

enum mf_status mf_crew_init_paid(struct mf_crew *crew, struct mf_env *env,
                                 uint64_t work, uint64_t pays, uint64_t piece,
                                 size_t least_size)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_THREADS);
    enum mf_status status = try_init(crew, env, work, piece, least_size,
                                     workers_for(env, work, pays, least_size));

    if (status == MF_OK && same_buffers(crew) != MF_OK) {
        status = env->error.status;
        mf_crew_release(crew);
    }
    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_crew_init(struct mf_crew *crew, struct mf_env *env,
                            uint64_t work, uint64_t piece, size_t least_size)
{
    return mf_crew_init_paid(crew, env, work, QUICK_PAYS, piece, least_size);
}

enum mf_status mf_crew_init_slow(struct mf_crew *crew, struct mf_env *env,
                                 uint64_t work, uint64_t piece,
                                 size_t least_size)
{
    return mf_crew_init_paid(crew, env, work, SLOW_PAYS, piece, least_size);
}

void mf_crew_release(struct mf_crew *crew)
{
    struct mf_env *env = crew->env;
    struct mf_timed timed;

    if (!env)
        return;
    timed = mf_timed_begin(env, MF_PHASE_THREADS);
    mf_release(crew->env, crew->buffers,
               memory_of(crew->room, crew->buffer_size));
    dismiss(crew);
    *crew = (struct mf_crew){ 0 };
    mf_timed_end(env, timed);
}
