/* SPDX-License-Identifier: MIT
 *
 * target_parts.h - what the parts of an output file share
 *
 * target_open.c decides what may be written and makes room for it, target.c
 * moves bytes, target_commit.c gives the new file its name.
 */
#ifndef MF_LIB_TARGET_PARTS_H
#define MF_LIB_TARGET_PARTS_H

#include "lib/io/path.h"
#include "lib/io/target.h"

/* "'path' cannot be WHAT at OFFSET: errno".  An offset is one of the target;
 * MF_NO_OFFSET: none. */
enum mf_status mf_target_fail(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              const char *what);

/* "'path' WHAT": where the system has nothing to say. */
enum mf_status mf_target_refuse(const struct mf_target *target,
                                const char *what);

/* Between two attempts to move bytes through a pipe: whether to go on. */
enum mf_status mf_target_ask(struct mf_env *env,
                             const struct mf_target *target);

/* The target's name in its folder. */
static inline const char *mf_target_name(const struct mf_target *target)
{
    return target->real + mf_folder_size(target->real);
}

/* Whether that is the file that was at the target's path when it was opened. */
static inline bool mf_target_is_old(const struct mf_target *target,
                                    const struct stat *status)
{
    return status->st_dev == target->old.st_dev &&
           status->st_ino == target->old.st_ino;
}

#endif
