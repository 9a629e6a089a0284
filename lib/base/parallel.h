/* SPDX-License-Identifier: MIT
 *
 * parallel.h - long work shared between threads, each with a buffer
 *
 * Work is a list of tasks that may run in any order and at once; what they
 * find goes into places of their own and is put together afterwards, in order,
 * so that a result never depends on the number of threads.
 */
#ifndef MF_LIB_PARALLEL_H
#define MF_LIB_PARALLEL_H

#include <stdatomic.h>

#include "lib/base/heap.h"

/* The kernel copies into a buffer at more than twice the speed where a page of
 * the file comes to lie in a page of memory. */
#define MF_PAGE ((size_t)4096)

struct mf_crew;

struct mf_worker {
    struct mf_crew *crew;
    struct mf_env env;  /* where it reads and fails; its heap gives nothing */
    uint8_t *buffer;    /* buffer_size bytes, on a page, and a page behind */
    size_t buffer_size; /* a multiple of the page */
    size_t failed;      /* the task that did, where env has an error */
    bool watches;       /* it has the caller's thread */
};

/* One task; run by one worker at a time.  A failure is left in worker->env. */
typedef enum mf_status mf_task(struct mf_worker *worker, void *context,
                               size_t task);

struct mf_crew {
    struct mf_env *env;
    struct mf_worker *worker;
    size_t count; /* that work; may be lowered */
    size_t room;  /* that there are */
    size_t buffer_size;
    uint8_t *buffers;
    uint64_t work; /* in all, for the progress function */
    atomic_uint_fast64_t done;
    _Atomic(const char *) tensor; /* the name of one in work; or NULL */
    atomic_bool failed;  /* a task of this run: others may be left out */
    atomic_bool stopped; /* by the progress function */
};

/* All threads' buffers together, whatever their number. */
#define MF_CREW_MEMORY ((size_t)3 * 1024 * 1024)

/* As many workers as the env may have threads, for `work` bytes in all that
 * come in pieces of at most `piece`: no more workers and no larger buffers than
 * that is good for, but buffers of `least` bytes however that is.  A buffer has
 * at most 512 KiB; where the heap has a limit, all take at most half of what is
 * left of it, and there are fewer of them. */
enum mf_status mf_crew_init(struct mf_crew *crew, struct mf_env *env,
                            uint64_t work, uint64_t piece, size_t least);
void mf_crew_release(struct mf_crew *crew);

/* Tasks 0 to count - 1.  After a failure later tasks may be left out; the
 * error of the first failing task, in their order, becomes the env's. */
enum mf_status mf_crew_run(struct mf_crew *crew, mf_task *task, void *context,
                           size_t count);

/* The name of the tensor that the task is about, for the progress function; it
 * must live as long as the crew. */
void mf_worker_at(struct mf_worker *worker, const char *tensor);

/* So many bytes of the work are done.  False where the run was stopped, and
 * nobody will look at what comes of it: long tasks end then, so. */
bool mf_worker_done(struct mf_worker *worker, uint64_t bytes);
enum mf_status mf_worker_stopped(struct mf_worker *worker);

/* How much of what is left to do next, where `most` can be done at once.  Every
 * loop whose `most` is computed asks here, so that it ends: 0, after mf_fail,
 * where nothing can be done at once. */
size_t mf_next_part(struct mf_env *env, uint64_t left, size_t most);

/* Waits until *turn is mine, which is its task's number: for what several
 * threads read at once and only one after the other can be taken in.  Who has
 * had its turn adds one.  False where the run has failed: that turn may never
 * come. */
bool mf_worker_wait(const struct mf_worker *worker, const atomic_size_t *turn,
                    size_t mine);

/* Where in the worker's buffer bytes from that place of a file are read to at
 * full speed: page upon page. */
static inline uint8_t *mf_worker_room(const struct mf_worker *worker,
                                      uint64_t offset)
{
    return worker->buffer + offset % MF_PAGE;
}

#endif
