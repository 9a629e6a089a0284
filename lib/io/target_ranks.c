/* SPDX-License-Identifier: MIT
 *
 * target_ranks.c - an output file that several processes write
 *
 * Rank 0 creates it, and gives it its name in the end.  The others open it by
 * its temporary name, which rank 0 tells them: a regular file of the same user,
 * with the inode number and the size that it has there.  All wait for each
 * other, since rank 0 may rename a small file before another rank looks for it.
 * On a network file system a name that was created elsewhere may take a while
 * to be seen.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/base/ranks.h"
#include "lib/io/target_parts.h"

struct made {
    char name[NAME_MAX + 1];
    uint64_t inode;
};

/* A tenth of a second each. */
#define TRIES 100

static int open_made(const struct mf_target *target, const char *name)
{
    struct timespec pause = { .tv_nsec = 100000000 };
    int fd;

    for (int i = 0; i < TRIES; i++) {
        MF_AGAIN(fd, openat(target->folder, name,
                            O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
                                O_NOCTTY));
        if (fd >= 0 || errno != ENOENT)
            return fd;
        nanosleep(&pause, NULL);
    }
    return -1;
}

static enum mf_status follow(struct mf_target *target, const struct made *made)
{
    struct stat status;

    target->follows = true;
    target->fd = open_made(target, made->name);
    if (target->fd < 0 || fstat(target->fd, &status) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        status.st_ino == made->inode &&
        (uint64_t)status.st_size == target->size)
        return MF_OK;
    return mf_target_refuse(target, "is written by rank 0 as another file than "
                                    "this rank sees");
}

enum mf_status mf_target_for_ranks(struct mf_target *target,
                                   enum mf_status status)
{
    struct mf_env *env = target->env;
    struct made made = { 0 };
    struct stat there = { 0 };

    if (status == MF_OK && !mf_ranks_follow(env)) {
        if (fstat(target->fd, &there) != 0)
            status = mf_target_fail(env, target, MF_NO_OFFSET, "written");
        made.inode = there.st_ino;
        memcpy(made.name, target->temporary.name, sizeof(made.name));
    }
    status = mf_ranks_tell(env, status, &made, sizeof(made));
    if (status == MF_OK && mf_ranks_follow(env))
        status = follow(target, &made);
    return status == MF_OK ? mf_ranks_agree(env, status) : status;
}
