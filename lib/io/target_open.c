/* SPDX-License-Identifier: MIT
 *
 * target_open.c - an output file: what it may replace, and its space
 *
 * The hard part is that a path is looked up more than once, and other users may
 * change what it leads to in between.  In a folder such as /tmp, where everyone
 * may create names, another user can plant a symbolic link under the name that
 * we are going to write, and have us replace a file elsewhere with our rights;
 * or plant a pipe or a file of theirs, and read what we write.  Linux refuses
 * to follow such links where fs.protected_symlinks is set, but that covers only
 * links that the kernel follows.  We have to follow them ourselves, by
 * readlink(2), to find the folder that the temporary file must be in.  So:
 *
 * - mf_follow_links applies the kernel's rule to each link itself, on every
 *   system and whatever the setting is.
 * - The folder is opened once; from then on only names within it are used.
 * - What stat(2) finds at the path, by the kernel's own lookup, must be the
 *   very file that our lookup led to.  Where they differ, something changed
 *   between the two, and nothing is written.
 *
 * The temporary file is created with O_EXCL and O_NOFOLLOW and readable by its
 * owner only; it gets its final mode when it is whole (target_commit.c).
 * Otherwise a reader of the folder could copy weights that will not be public,
 * or take half a file for a whole one.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/base/ranks.h"
#include "lib/base/signals.h"
#include "lib/base/timings.h"
#include "lib/io/target_parts.h"

#define MODE_DEFAULT 0666 /* less the umask */

static const char planted[] =
    "belongs to another user in a folder that everyone may write to; choose "
    "another name";

/* ---- the path ---- */

/* The file is written where the links lead: a link stays a link. */
enum mf_status mf_target_follow_links(struct mf_target *target)
{
    char real[PATH_MAX];

    if (!mf_follow_links(target->path, real))
        return errno == EPERM
                   ? mf_target_refuse(target,
                                      "leads through a symbolic link of "
                                      "another user in a folder that everyone "
                                      "may write to; it is not followed")
                   : mf_target_fail(target->env, target, MF_NO_OFFSET,
                                    "written");
    target->real_size = strlen(real) + 1;
    target->real = mf_alloc(target->env, target->real_size);
    if (!target->real)
        return target->env->error.status;
    memcpy(target->real, real, target->real_size);
    return MF_OK;
}

/* What the system finds at the path by its own lookup. */
static enum mf_status find_old(struct mf_target *target)
{
    int result;

    MF_AGAIN(result, stat(target->path, &target->old));
    target->is_new = result != 0;
    if (result != 0 && errno != ENOENT)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    return MF_OK;
}

/* ---- a pipe or a device ---- */

bool mf_target_is_dash(const struct mf_env *env, const char *path)
{
    return env->dash && strcmp(path, "-") == 0;
}

/* Opening a pipe waits for its reader, possibly for ever: a signal ends the
 * wait, and the program decides whether to go on. */
static enum mf_status open_stream(struct mf_target *target)
{
    bool dash = mf_target_is_dash(target->env, target->path);
    struct stat status;

    target->stream = true;
    if (target->env->ranks)
        return mf_target_refuse(target, "is a pipe or a device: only a file "
                                        "can be written by several ranks");
    do {
        target->fd = dash ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                          : openat(AT_FDCWD, target->path,
                                   O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (target->fd < 0 && errno != EINTR)
            return mf_target_fail(target->env, target, MF_NO_OFFSET, "opened");
        if (target->fd >= 0 && !dash &&
            (fstat(target->fd, &status) != 0 ||
             !mf_target_is_old(target, &status)))
            return mf_target_refuse(target, "was replaced by another file "
                                            "while it was opened");
        if (target->fd >= 0)
            return MF_OK;
    } while (mf_target_check_stop(target->env, target) == MF_OK);
    return target->env->error.status;
}

/* A pipe that another user planted under our output's name would hand our bytes
 * to that user.  One without a name, as behind /dev/fd/63, was opened by the
 * process that started us and is trusted. */
static enum mf_status open_stream_at_path(struct mf_target *target)
{
    int folder = mf_open_folder(target->real);
    struct stat status, around;
    bool is_planted = folder >= 0 && fstat(folder, &around) == 0 &&
                      fstatat(folder, mf_target_name(target), &status,
                              AT_SYMLINK_NOFOLLOW) == 0 &&
                      mf_target_is_old(target, &status) &&
                      mf_is_planted(&around, &status);

    if (folder >= 0)
        close(folder);
    return is_planted ? mf_target_refuse(target, planted) : open_stream(target);
}

/* ---- the old file ---- */

enum mf_status mf_target_open_folder(struct mf_target *target)
{
    target->folder = mf_open_folder(target->real);
    return target->folder >= 0
               ? MF_OK
               : mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
}

/* A rename needs write permission for the folder alone, so whether the file may
 * be written is asked for: a user who write-protected a file means it. */
static enum mf_status check_old(struct mf_target *target)
{
    const char *name = mf_target_name(target);
    struct stat status, around;

    assert(!target->is_new && target->folder >= 0);
    if (fstatat(target->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !mf_target_is_old(target, &status))
        return mf_target_refuse(target, "leads to a file that was renamed or "
                                        "removed");
    if (fstat(target->folder, &around) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "replaced");
    if (mf_is_planted(&around, &status))
        return mf_target_refuse(target, planted);
    if (faccessat(target->folder, name, W_OK, AT_EACCESS) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "replaced");
    return MF_OK;
}

/* ---- the temporary file ---- */

int mf_target_create(const struct mf_target *target, mode_t mode)
{
    int fd;

    MF_AGAIN(fd,
             openat(target->folder, target->temporary.name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    return fd;
}

/* The mode of a new file follows from the umask, which a thread cannot read
 * without changing it for all others, or from an access list that the folder
 * passes on.  So an empty file is created, looked at and removed: the real one
 * must not be open to others before it is whole. */
bool mf_target_default_mode(struct mf_target *target)
{
    int fd = mf_target_create(target, MODE_DEFAULT), error, result;
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

static int create_temporary(struct mf_target *target)
{
    int tries = 100;

    do {
        mf_temporary_name(&target->temporary, mf_target_name(target));
        if (!target->is_new || mf_target_default_mode(target))
            target->fd = mf_target_create(target, MF_MODE_PRIVATE);
    } while (target->fd < 0 && errno == EEXIST && --tries > 0);
    return target->fd;
}

/* Signals are held back until the file is in the list of those that
 * mf_env_abandon removes. */
static enum mf_status open_temporary(struct mf_target *target)
{
    mf_signals before;
    int error;

    target->temporary.folder = target->folder;
    mf_signals_hold(&before);
    if (target->partial != MF_PARTIAL_NONE) {
        enum mf_status status = mf_target_open_kept(target);

        mf_signals_release(&before);
        return status;
    }
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

/* ---- space ---- */

/* Asked before anything is allocated: a preallocation that fails has filled the
 * disk for a moment, and other processes would fail to write. */
static enum mf_status check_space(const struct mf_target *target, uint64_t size)
{
    uint64_t space = mf_system_free_space(target->fd);

    if (size <= space)
        return MF_OK;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
        "'%s' needs %" PRIu64 " bytes, its file system has %" PRIu64
        " available",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        size, space);
}

enum mf_status mf_target_check_space(const struct mf_target *target,
                                     uint64_t size)
{
    uint64_t space = target->stream || target->given
                         ? UINT64_MAX
                         : mf_system_free_space(target->fd);

    if (size <= space)
        return MF_OK;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
        "the other output files need %" PRIu64
        " bytes, the file system of '%s' has %" PRIu64 " available",
        size,
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        space);
}

static enum mf_status fail_to_allocate(const struct mf_target *target)
{
    int error = errno;

    return mf_fail_system(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
        "cannot allocate %" PRIu64 " bytes for '%s': %s", target->size,
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        mf_errno_text(error));
}

/* A full disk is found now, not after an hour of work. */
enum mf_status mf_target_reserve(const struct mf_target *target, bool is_new)
{
    if (is_new && check_space(target, target->size) != MF_OK)
        return target->env->error.status;
    return target->size == 0 || mf_system_allocate(target->fd, target->size)
               ? MF_OK
               : fail_to_allocate(target);
}

/* ---- opening ---- */

static enum mf_status make_file(struct mf_target *target)
{
    enum mf_status status = open_temporary(target);

    return status == MF_OK && target->partial < MF_PARTIAL_SHARED
               ? mf_target_reserve(target, target->partial < MF_PARTIAL_KEPT)
               : status;
}

static enum mf_status open_file(struct mf_target *target)
{
    struct mf_env *env = target->env;
    enum mf_status status = mf_target_open_folder(target);

    if (status == MF_OK && !target->is_new)
        status = check_old(target);
    if (status == MF_OK && !mf_ranks_follow(env))
        status = make_file(target);
    return env->ranks ? mf_target_for_ranks(target, status) : status;
}

static bool is_stream(const struct stat *status)
{
    return S_ISFIFO(status->st_mode) || S_ISCHR(status->st_mode) ||
           S_ISBLK(status->st_mode);
}

static enum mf_status open_path(struct mf_target *target)
{
    if (mf_target_is_dash(target->env, target->path))
        return open_stream(target);
    if (mf_target_follow_links(target) != MF_OK)
        return target->env->error.status;
    if (target->env->discards)
        target->path = "/dev/null";
    if (find_old(target) != MF_OK)
        return target->env->error.status;
    /* Before the name is looked at: /dev/fd/63 is a link to a pipe that has
     * none, and its target reads "pipe:[4711]". */
    if (!target->is_new && is_stream(&target->old))
        return open_stream_at_path(target);
    if (!*target->real)
        return mf_target_refuse(target, "is not a file name");
    if (!*mf_target_name(target))
        return mf_target_refuse(target, "names a folder: add a file name");
    if (target->is_new)
        return open_file(target);
    if (!S_ISREG(target->old.st_mode)) {
        errno = S_ISDIR(target->old.st_mode) ? EISDIR : EINVAL;
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    }
    if (!target->replace)
        return mf_decline(
            target->env, MF_REASON_OUTPUT_EXISTS, MF_NO_OFFSET,
            "'%s' already exists",
            mf_quote((struct mf_str){ target->path, strlen(target->path) })
                .text);
    return open_file(target);
}

enum mf_status mf_target_open_partial(struct mf_env *env, const char *path,
                                      uint64_t size, bool replace,
                                      enum mf_partial partial, uint64_t inode,
                                      struct mf_target *out)
{
    struct mf_timed timed;
    enum mf_status status;

    *out = (struct mf_target){ .env = env,
                               .path = path,
                               .size = size,
                               .folder = -1,
                               .fd = -1,
                               .replace = replace,
                               .partial = partial,
                               .inode = inode };
    if (size > INT64_MAX)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "%" PRIu64 " bytes are more than a file can have", size);
    timed = mf_timed_begin(env, MF_PHASE_OPEN);
    status = open_path(out);
    if (status != MF_OK)
        mf_target_abort(out);
    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_target_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out)
{
    return mf_target_open_partial(env, path, size, replace, MF_PARTIAL_NONE, 0,
                                  out);
}
