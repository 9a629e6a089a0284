/* SPDX-License-Identifier: MIT
 *
 * ranks.h - what processes that share work tell each other
 *
 * All processes run the same program over the same files, so each of them knows
 * everything but what others have computed.  They meet at certain points of the
 * program: after tasks that were shared (parallel.h), where rank 0 has created
 * a file, before it gets its name, at the end.  Each meeting has a number and a
 * kind.  A process that has failed comes to the last one early; the others see
 * that instead of what they expect, and its error becomes theirs.  So none of
 * them waits for a process that will not come.
 *
 * Without ranks all of this does nothing.
 */
#ifndef MF_LIB_RANKS_H
#define MF_LIB_RANKS_H

#include "lib/base/heap.h"
#include "lib/program.h"

/* Whether rank 0, another process, creates and names files. */
static inline bool mf_ranks_follow(const struct mf_env *env)
{
    return env->ranks && env->ranks->rank > 0;
}

/* ---- meetings ---- */

/* status: what this process has done so far; without ranks it is returned. */

/* All processes go on if all were well. */
enum mf_status mf_ranks_agree(struct mf_env *env, enum mf_status status);

/* Gives bytes of rank 0 to all. */
enum mf_status mf_ranks_tell(struct mf_env *env, enum mf_status status,
                             void *bytes, size_t size);

/* *value becomes the least, or the most, of all processes. */
enum mf_status mf_ranks_least(struct mf_env *env, uint64_t *value);
enum mf_status mf_ranks_most(struct mf_env *env, uint64_t *value);

/* ---- tasks that are shared ---- */

/* Where the result of a task is, in memory of its own. */
typedef void *mf_result_of(void *context, size_t task);

/* A run of tasks, on all threads of this process. */
struct mf_ranks_run {
    size_t count;
    uint8_t *mine; /* for each task, whether this process did it */
    mf_result_of *result;
    size_t size; /* of a result, which has no pointers */
    void *context;
    size_t failed; /* the first task that failed here, if the env has an error
                    */
    uint64_t done; /* bytes of work, here; then by all */
};

void mf_ranks_begin(struct mf_env *env, struct mf_ranks_run *run);

/* After the tasks of this process: gets the results of the others', and the
 * error of the first task that failed anywhere. */
enum mf_status mf_ranks_end(struct mf_env *env, struct mf_ranks_run *run);

#endif
