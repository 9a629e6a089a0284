/* SPDX-License-Identifier: MIT
 *
 * target_open.c - what an output file may replace, and room for it
 */
#if defined(__linux__)
#define _GNU_SOURCE /* calls that only Linux has */
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/signals.h"
#include "lib/io/target_parts.h"

#define MODE_PLAIN 0666 /* less the umask */
#define MODE_KEPT  0600 /* of what is not whole yet */

static const char foreign[] =
    "belongs to another user, in a folder where everyone may write: choose "
    "another name";

/* ---- what stands there ---- */

/* The target owns the path behind symbolic links: the file is written where
 * they lead. */
static enum mf_status follow_links(struct mf_target *target)
{
    char real[PATH_MAX];

    if (!mf_follow_links(target->path, real))
        return errno == EPERM
                   ? mf_target_refuse(
                         target, "leads over a link that another user made "
                                 "in a folder where everyone may write: it "
                                 "is not followed")
                   : mf_target_fail(target->env, target, MF_NO_OFFSET,
                                    "written");
    target->real_size = strlen(real) + 1;
    target->real = mf_alloc(target->env, target->real_size);
    if (!target->real)
        return target->env->error.status;
    memcpy(target->real, real, target->real_size);
    return MF_OK;
}

/* What the system sees at the path, by its own rules for links. */
static enum mf_status look(struct mf_target *target)
{
    int result;

    MF_AGAIN(result, stat(target->path, &target->old));
    target->is_new = result != 0;
    if (result != 0 && errno != ENOENT)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    return MF_OK;
}

/* ---- a pipe or a device ---- */

static enum mf_status open_stream(struct mf_target *target)
{
    bool dash = strcmp(target->path, "-") == 0;
    struct stat status;

    target->stream = true;
    do {
        target->fd = dash ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                          : open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (target->fd < 0 && errno != EINTR)
            return mf_target_fail(target->env, target, MF_NO_OFFSET, "opened");
        if (target->fd >= 0 && !dash &&
            (fstat(target->fd, &status) != 0 ||
             !mf_target_is_old(target, &status)))
            return mf_target_refuse(target,
                                    "became another file while it was opened");
        if (target->fd >= 0)
            return MF_OK;
    } while (mf_target_ask(target->env, target) == MF_OK);
    return target->env->error.status;
}

/* A pipe that somebody else put where everyone may make names is none that our
 * bytes were meant for.  What the path leads to without names, as /dev/fd/63
 * does, was opened by whoever started us. */
static enum mf_status open_named_stream(struct mf_target *target)
{
    int folder = mf_open_folder(target->real);
    struct stat status, around;
    bool planted = folder >= 0 && fstat(folder, &around) == 0 &&
                   fstatat(folder, mf_target_name(target), &status,
                           AT_SYMLINK_NOFOLLOW) == 0 &&
                   mf_target_is_old(target, &status) &&
                   mf_is_planted(&around, &status);

    if (folder >= 0)
        close(folder);
    return planted ? mf_target_refuse(target, foreign) : open_stream(target);
}

/* ---- a file ---- */

static enum mf_status open_folder(struct mf_target *target)
{
    target->folder = mf_open_folder(target->real);
    return target->folder >= 0
               ? MF_OK
               : mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
}

/* What the system found at the end of the path has to be what our own way led
 * to, and has to be there to be replaced. */
static enum mf_status check_old(struct mf_target *target)
{
    const char *name = mf_target_name(target);
    struct stat status, around;

    if (fstatat(target->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !mf_target_is_old(target, &status))
        return mf_target_refuse(target, "is not where its name or link says");
    if (fstat(target->folder, &around) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "replaced");
    if (mf_is_planted(&around, &status))
        return mf_target_refuse(target, foreign);
    if (faccessat(target->folder, name, W_OK, AT_EACCESS) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "replaced");
    return MF_OK;
}

static int create(const struct mf_target *target, mode_t mode)
{
    int fd;

    MF_AGAIN(fd,
             openat(target->folder, target->temporary.name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    return fd;
}

/* The mode that the system would give a new file here, by the umask or by what
 * the folder passes on, is learnt from an empty one: the file itself is not to
 * be open to others before it is whole. */
static bool learn_mode(struct mf_target *target)
{
    int fd = create(target, MODE_PLAIN), error, result;
    struct stat status;

    if (fd < 0)
        return false;
    result = fstat(fd, &status);
    error = errno;
    close(fd);
    target->mode = status.st_mode & 07777;
    unlinkat(target->folder, target->temporary.name, 0);
    errno = error;
    return result == 0;
}

/* ---- the temporary file ---- */

static int create_temporary(struct mf_target *target)
{
    int tries = 100;

    do {
        mf_temporary_name(&target->temporary, mf_target_name(target));
        if (!target->is_new || learn_mode(target))
            target->fd = create(target, MODE_KEPT);
    } while (target->fd < 0 && errno == EEXIST && --tries > 0);
    return target->fd;
}

/* No signal comes before it is known that there is something to take away. */
static enum mf_status open_temporary(struct mf_target *target)
{
    sigset_t before;
    int error;

    target->temporary.folder = target->folder;
    mf_signals_hold(&before);
    if (create_temporary(target) >= 0)
        mf_temporary_enlist(target->env, &target->temporary);
    error = errno;
    mf_signals_release(&before);
    if (target->fd >= 0)
        return MF_OK;
    *target->temporary.name = 0;
    errno = error;
    return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
}

/* Bytes that the file system still has for us; UINT64_MAX where it does not
 * say. What it keeps for root is root's. */
static uint64_t room_left(int fd)
{
    struct statvfs status;
    uint64_t blocks, room;
    int result;

    MF_AGAIN(result, fstatvfs(fd, &status));
    if (result != 0 || status.f_blocks == 0)
        return UINT64_MAX;
    blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail;
    return mf_mul(blocks, status.f_frsize, &room) ? room : UINT64_MAX;
}

/* By asking: what is taken in vain is missed meanwhile by whoever else writes
 * there. */
static enum mf_status check_room(const struct mf_target *target,
                                 const char *what, uint64_t size)
{
    uint64_t room = room_left(target->fd);

    if (size <= room)
        return MF_OK;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
        "%s'%s' needs %" PRIu64 " bytes, its file system has %" PRIu64 " left",
        what,
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        size, room);
}

enum mf_status mf_target_check_more(const struct mf_target *target,
                                    uint64_t size)
{
    return target->stream ? MF_OK : check_room(target, "what goes with ", size);
}

/* A full disk is found out now, not after an hour. */
static enum mf_status take_room(struct mf_target *target)
{
    int result;

    if (target->size == 0)
        return MF_OK;
#if defined(__linux__)
    MF_AGAIN(result, fallocate(target->fd, 0, 0, (off_t)target->size));
    if (result == 0)
        return MF_OK;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "given its size");
#endif
    MF_AGAIN(result, ftruncate(target->fd, (off_t)target->size));
    return result == 0 ? MF_OK
                       : mf_target_fail(target->env, target, MF_NO_OFFSET,
                                        "given its size");
}

static enum mf_status open_file(struct mf_target *target)
{
    enum mf_status status = open_folder(target);

    if (status == MF_OK && !target->is_new)
        status = check_old(target);
    if (status == MF_OK)
        status = open_temporary(target);
    if (status == MF_OK)
        status = check_room(target, "", target->size);
    return status == MF_OK ? take_room(target) : status;
}

static bool is_stream(const struct stat *status)
{
    return S_ISFIFO(status->st_mode) || S_ISCHR(status->st_mode) ||
           S_ISBLK(status->st_mode);
}

/* For what stands there and may be replaced, or for nothing. */
static enum mf_status open_real(struct mf_target *target)
{
    if (strcmp(target->path, "-") == 0)
        return open_stream(target);
    if (follow_links(target) != MF_OK || look(target) != MF_OK)
        return target->env->error.status;
    /* Also what a shell calls /dev/fd/63: a link to a pipe that has no name of
     * its own. */
    if (!target->is_new && is_stream(&target->old))
        return open_named_stream(target);
    if (!*target->real)
        return mf_target_refuse(target, "is no name of a file");
    if (!*mf_target_name(target))
        return mf_target_refuse(
            target, "is a folder's name: behind the last slash that "
                    "of the file is missing");
    if (target->is_new)
        return open_file(target);
    if (!S_ISREG(target->old.st_mode)) {
        errno = S_ISDIR(target->old.st_mode) ? EISDIR : EINVAL;
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    }
    if (!target->replace) {
        target->env->error.exists = true;
        return mf_target_refuse(target, "exists already");
    }
    return open_file(target);
}

enum mf_status mf_target_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out)
{
    *out = (struct mf_target){ .env = env,
                               .path = path,
                               .size = size,
                               .folder = -1,
                               .fd = -1,
                               .replace = replace };
    if (size > INT64_MAX)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "%" PRIu64 " bytes are more than a file can have", size);
    if (open_real(out) == MF_OK)
        return MF_OK;
    mf_target_abort(out);
    return env->error.status;
}
