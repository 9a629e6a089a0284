/* SPDX-License-Identifier: MIT
 *
 * parallel.h - long work shared between threads, each with a buffer
 *
 * Work is a list of tasks that may run at once and in any order.  Each task's
 * result has a place of its own; results are put together afterwards, in order,
 * so that the outcome never depends on the number of threads.
 */
#ifndef MF_LIB_PARALLEL_H
#define MF_LIB_PARALLEL_H

#include <stdatomic.h>

#include "lib/base/chunk.h"
#include "lib/base/ranks.h"
#include "lib/base/threads.h"

/* The kernel copies into a buffer more than twice as fast if a page of the file
 * ends up in one page of memory. */
#define MF_PAGE ((size_t)4096)

struct mf_crew;

struct mf_worker {
    struct mf_crew *crew;
    struct mf_env env;  /* for its reads and errors; its heap is empty */
    uint8_t *buffer;    /* buffer_size bytes on a page, and one more page */
    size_t buffer_size; /* a multiple of the page */
    size_t failed;      /* the task that failed, if env has an error */
    bool watches;       /* reports progress, in its own thread */
    atomic_bool begun;  /* in this run */
};

/* One task; run by one worker at a time.  A failure is left in worker->env. */
typedef enum mf_status mf_task(struct mf_worker *worker, void *context,
                               size_t task);

struct mf_crew {
    struct mf_env *env;
    struct mf_worker *worker;
    size_t count; /* workers in use; may be lowered */
    size_t room;  /* workers allocated */
    size_t buffer_size;
    struct mf_chunk_size pages; /* of a buffer, and of larger ones to come */
    uint8_t *buffers;
    struct mf_timings *timings; /* of the workers; NULL if the env has none */
    uint64_t work;              /* in all, for the progress function */
    atomic_uint_fast64_t done;
    _Atomic(const char *) tensor; /* the name of one in work; or NULL */
    atomic_bool failed;  /* a task of this run: others may be left out */
    atomic_bool stopped; /* by the progress function */
    struct mf_team team; /* none where the program's own threads work */
};

/* All threads' buffers together, whatever their number. */
#define MF_CREW_MEMORY ((size_t)3 * 1024 * 1024)

/* At most as many workers as the env has threads, for `work` bytes in all in
 * pieces of at most `piece`: no more workers than pay for their threads, and no
 * larger buffers than the work can use, but buffers of at least `least` bytes.
 * A buffer has at most 512 KiB.  If memory has a limit (mf_heap_left), all
 * buffers take at most half of the rest, a single worker's three quarters, and
 * there are fewer workers.  Where memory is refused buffers are smaller, then
 * workers fewer; after some runs buffers grow again.
 */
enum mf_status mf_crew_init(struct mf_crew *crew, struct mf_env *env,
                            uint64_t work, uint64_t piece, size_t least);

/* The same for work that encodes or compares what is encoded: less of it pays
 * for a thread. */
enum mf_status mf_crew_init_slow(struct mf_crew *crew, struct mf_env *env,
                                 uint64_t work, uint64_t piece, size_t least);

/* The same for work of any kind, of which so much pays for a thread.  The
 * progress function gets what crew->work is set to. */
enum mf_status mf_crew_init_paid(struct mf_crew *crew, struct mf_env *env,
                                 uint64_t work, uint64_t pays, uint64_t piece,
                                 size_t least);

void mf_crew_release(struct mf_crew *crew);

/* Tasks 0 to count - 1.  After a failure later tasks may be left out; the
 * error of the first failing task, in their order, becomes the env's. */
enum mf_status mf_crew_run(struct mf_crew *crew, mf_task *task, void *context,
                           size_t count);

/* Whether one thread has to run the task right after the one before it. */
typedef bool mf_follows(const void *context, size_t task);

/* The same for tasks of which some are rows: what can only be read forward. */
enum mf_status mf_crew_run_rows(struct mf_crew *crew, mf_task *task,
                                mf_follows *follows, void *context,
                                size_t count);

/* What a task yields for others: its bytes, which have no pointers. */
struct mf_yields {
    mf_result_of *of;
    size_t size;
};

/* The same for tasks that are shared by processes, too, if there are any: these
 * depend on nothing that one process alone has.  follows may be NULL. */
enum mf_status mf_crew_share(struct mf_crew *crew, mf_task *task,
                             mf_follows *follows, void *context, size_t count,
                             const struct mf_yields *yields);

/* Between runs: gives back half of the buffers' memory, for something else that
 * was refused; false, and nothing done, where they are as small as they can be.
 */
bool mf_crew_shrink(struct mf_crew *crew);

/* mf_env_resize for something else that the work needs, for which the buffers
 * shrink if they have to. */
void *mf_crew_resize(struct mf_crew *crew, void *block, size_t old_size,
                     size_t new_size);

/* The name of the tensor that the task is about, for the progress function; it
 * must live as long as the crew. */
void mf_worker_at(struct mf_worker *worker, const char *tensor);

/* Reports bytes of the work as done.  False if the run was stopped: the result
 * is discarded, and long tasks should return mf_worker_stopped. */
bool mf_worker_done(struct mf_worker *worker, uint64_t bytes);
enum mf_status mf_worker_stopped(struct mf_worker *worker);

/* The size of the next part of `left`, at most `most`.  Every loop with a
 * computed `most` calls this, so that it ends: 0 after mf_fail if `most` is 0.
 */
size_t mf_next_part(struct mf_env *env, uint64_t left, size_t most);

/* Waits until *turn is `mine`, the number of the task: for pieces that threads
 * read at once but must process in order.  After its turn a task adds one.
 * False if the run has failed, since that turn may never come. */
bool mf_worker_wait(struct mf_worker *worker, const atomic_size_t *turn,
                    size_t mine);

/* Where in the worker's buffer to read bytes at that offset of a file: at the
 * same place of a page, which is the fastest. */
static inline uint8_t *mf_worker_room(const struct mf_worker *worker,
                                      uint64_t offset)
{
    return worker->buffer + offset % MF_PAGE;
}

#endif
