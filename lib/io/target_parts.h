/* SPDX-License-Identifier: MIT
 *
 * target_parts.h - what the parts of an output file share
 *
 * target_open.c decides what may be written and reserves the space, target.c
 * moves bytes, target_commit.c syncs the file and gives it its name.
 * target_partial.c has what is different about partial files, target_given.c
 * what is about programs that take the bytes, target_ranks.c what is about
 * files that several processes write.
 */
#ifndef MF_LIB_TARGET_PARTS_H
#define MF_LIB_TARGET_PARTS_H

#include "lib/io/path.h"
#include "lib/io/target.h"

/* "'path' cannot be WHAT at OFFSET: errno's text".  The offset is one in the
 * target, unlike struct mf_error's; MF_NO_OFFSET leaves it out. */
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

/* Sets target->real: where the symbolic links of the path lead. */
enum mf_status mf_target_follow_links(struct mf_target *target);

/* target->folder, in which the file gets its name. */
enum mf_status mf_target_open_folder(struct mf_target *target);

/* Creates an empty file of target->temporary.name; -1 with errno set. */
int mf_target_create(const struct mf_target *target, mode_t mode);

/* Finds the mode of a new file, with a file that is removed at once.  False
 * with errno set. */
bool mf_target_default_mode(struct mf_target *target);

/* Opens or creates the partial file.  Signals are held back. */
enum mf_status mf_target_open_kept(struct mf_target *target);

/* The file that rank 0 has made is opened by all ranks.  status: of what this
 * one has done so far. */
enum mf_status mf_target_for_ranks(struct mf_target *target,
                                   enum mf_status status);

/* The same for the common one of all parts, by its name: locked, and of any
 * size. */
enum mf_status mf_target_open_common(struct mf_target *target);

/* Gives the file its size, and space on the disk; is_new: none is there yet. */
enum mf_status mf_target_reserve(const struct mf_target *target, bool is_new);

/* Opens what has the name in the target's folder; -1 with errno set. */
int mf_target_open_name(const struct mf_target *target, const char *name,
                        int access);

/* Compares with the bytes of a file that is complete. */
enum mf_status mf_target_compare(struct mf_env *env,
                                 const struct mf_target *target,
                                 uint64_t offset, const void *bytes,
                                 size_t size);

/* Bytes to and from the program that takes them, and that there are no more. */
enum mf_status mf_target_put_given(struct mf_env *env,
                                   const struct mf_target *target,
                                   uint64_t offset, const void *bytes,
                                   size_t size);
enum mf_status mf_target_get_given(struct mf_env *env,
                                   const struct mf_target *target,
                                   uint64_t offset, void *bytes, size_t size);
enum mf_status mf_target_end_given(struct mf_target *target, bool complete);

#define MF_MODE_PRIVATE 0600 /* of a file that is not whole yet */

#endif
