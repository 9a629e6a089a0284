/* SPDX-License-Identifier: MIT
 *
 * worker.c - what a task of a crew does besides its work: parts and turns
 */
#include "lib/base/parallel.h"

#include <inttypes.h>
#include <sched.h>

#include "lib/base/timings.h"

void mf_worker_at(struct mf_worker *worker, const char *tensor)
{
    atomic_store_explicit(&worker->crew->tensor, tensor, memory_order_relaxed);
}

size_t mf_next_part(struct mf_env *env, uint64_t left, size_t most)
{
    size_t part = left < most ? (size_t)left : most;

    if (part == 0)
        mf_fail(env, MF_ERR_LIMIT, MF_NO_OFFSET,
                "no progress is possible: a buffer has room for %zu of the "
                "%" PRIu64 " units that are left",
                most, left);
    return part;
}

/* The turn of a task may never come. */
static bool is_over(const struct mf_crew *crew)
{
    return atomic_load_explicit(&crew->failed, memory_order_relaxed) ||
           atomic_load_explicit(&crew->stopped, memory_order_relaxed);
}

bool mf_worker_wait(struct mf_worker *worker, const atomic_size_t *turn,
                    size_t mine)
{
    /* As long as it takes to read a little from memory; then others may have
     * the processor. */
    const unsigned patience = 1000;
    struct mf_timed timed = mf_timed_begin(&worker->env, MF_PHASE_WAIT);
    bool came;

    for (unsigned i = 0;; i++) {
        came = atomic_load_explicit(turn, memory_order_acquire) == mine;
        if (came || is_over(worker->crew))
            break;
        if (i > patience)
            sched_yield();
    }
    mf_timed_end(&worker->env, timed);
    return came;
}
