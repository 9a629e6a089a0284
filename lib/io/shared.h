/* SPDX-License-Identifier: MIT
 *
 * shared.h - an output file that several processes fill, each a part of it
 *
 * The common file is `.NAME.parts` in the output's folder.  The first process
 * creates it; all others open it, and all write to places of their own.  Each
 * process has a lock of it that all may have at once, and the one that gives it
 * its name has a lock for itself alone: no other process writes any more, or
 * does the same.  What is in it is known by logs (worklog.h), one for each
 * process: `.NAME.part-3-of-7.0123456789abcdef`.
 *
 * Like a partial file it is never opened through a link, and refused unless it
 * is a regular file of ours with no other name.
 *
 * Some file systems of clusters have no locks.  Work in parts needs none of
 * them to be right: every process writes the same bytes to the same places.
 * There, what a lock would tell is not told.
 */
#ifndef MF_LIB_SHARED_H
#define MF_LIB_SHARED_H

#include "lib/io/target.h"

#define MF_PARTS_SUFFIX ".parts"

/* Opens the common file of the output at path, or creates it, without its size.
 * MF_ERR_OUTPUT where it is about to get its name. */
enum mf_status mf_shared_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out);

/* Gives it its size and space on the disk, unless another process did.  others:
 * bytes that other outputs need. */
enum mf_status mf_shared_reserve(struct mf_target *target, uint64_t others);

/* Removes an empty one that this process created and no other has opened. */
void mf_shared_forget(struct mf_target *target);

/* Whether the output at path has one. */
bool mf_shared_is_there(struct mf_env *env, const char *path);

/* Opens it to give it its name: no other process has it open. */
enum mf_status mf_shared_join(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out);

/* Where the file at path has its name already, which a stop before the end of
 * all left so: opens it as mf_target_open_complete does, for this process
 * alone. */
enum mf_status mf_shared_join_complete(struct mf_env *env, const char *path,
                                       uint64_t size, struct mf_target *out,
                                       bool *found);

/* Keeps the lock of a target when that is closed, until the number that this
 * returns is; -1: it does not. */
int mf_shared_hold(const struct mf_target *target);

/* Removes a file of that suffix of the output at path, if it is ours. */
enum mf_status mf_shared_remove(struct mf_env *env, const char *path,
                                const char *suffix);

/* "the parts of 'path' cannot be joined: WHAT". */
enum mf_status mf_shared_refuse(struct mf_env *env, const char *path,
                                const char *what, ...) MF_PRINTF(3, 4);

/* Whether a lock failed, with that errno, for want of locks. */
bool mf_shared_lacks_locks(int error);

#endif
