/* SPDX-License-Identifier: MIT
 *
 * target_parts.h - what the three parts of an output file share
 *
 * target_open.c decides what may be written and reserves the space, target.c
 * moves bytes, target_commit.c syncs the file and gives it its name.
 */
#ifndef MF_LIB_TARGET_PARTS_H
#define MF_LIB_TARGET_PARTS_H

#include "lib/io/path.h"
#include "lib/io/target.h"

/* "'path' cannot be WHAT at OFFSET: errno's text".  The offset is one in the
 * target, unlike that of struct mf_error; MF_NO_OFFSET leaves it out. */
enum mf_status mf_target_fail(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              const char *what);

/* "'path' WHAT", for refusals of our own, which no errno explains. */
enum mf_status mf_target_refuse(const struct mf_target *target,
                                const char *what);

/* Called each time a signal interrupts a wait for a pipe: asks the program's
 * progress function whether to go on. */
enum mf_status mf_target_check_stop(struct mf_env *env,
                                    const struct mf_target *target);

/* The last part of the path, a name in target->folder. */
static inline const char *mf_target_name(const struct mf_target *target)
{
    return target->real + mf_folder_size(target->real);
}

/* Whether that is the file that was at the path when the target was opened. */
static inline bool mf_target_is_old(const struct mf_target *target,
                                    const struct stat *status)
{
    return status->st_dev == target->old.st_dev &&
           status->st_ino == target->old.st_ino;
}

#endif
