/* SPDX-License-Identifier: MIT
 *
 * ranks.h - processes that share the work of an env, for the modelfile command
 *
 * Part of program.h.
 */
#ifndef MF_LIB_RANKS_PUBLIC_H
#define MF_LIB_RANKS_PUBLIC_H

#include "lib/modelfile.h"

/* How processes talk to each other.  They are numbered from 0, and all of them
 * call gather, gather_some and begin in the same order.  What cannot be done
 * ends all of them. */
struct mf_ranks {
    size_t rank, count;
    void *user;
    /* Each brings `size` bytes; `all` gets everyone's, one after the other. */
    void (*gather)(void *user, const void *mine, size_t size, void *all);
    /* The same for sizes that differ; sizes has all of them. */
    void (*gather_some)(void *user, const void *mine, size_t size, void *all,
                        const size_t *sizes);
    /* Tasks 0 to count - 1 will be given out. */
    void (*begin)(void *user, size_t count);
    /* From any thread: the next task of this process, or SIZE_MAX. */
    size_t (*take)(void *user);
    /* No process gets a task from that one on before the next begin. */
    void (*stop)(void *user, size_t from);
    /* Now and then during long work: other processes may wait for an answer. */
    void (*pulse)(void *user);
    /* Ends all processes, for a reason that this one alone knows. */
    void (*end)(void *user, const char *why);
};

/* From here on the env shares its long work with the other processes, and each
 * makes the same calls of the library with the same arguments.  Files are
 * created and named by rank 0; the others write into what it has created.
 * ranks must live as long as the env. */
enum mf_status mf_env_join_ranks(struct mf_env *env,
                                 const struct mf_ranks *ranks);

/* Bytes of shared work that this process has done. */
uint64_t mf_env_share_done(const struct mf_env *env);

/* Waits until all processes call this.  sum: numbers that are added up over all
 * of them; largest: of which the largest is kept.  Where one process has
 * an error, the others get it, too. */
enum mf_status mf_env_leave_ranks(struct mf_env *env, uint64_t *sum,
                                  size_t sums, uint64_t *largest,
                                  size_t largests);

#endif
