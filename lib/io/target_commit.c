/* SPDX-License-Identifier: MIT
 *
 * target_commit.c - a whole output file takes its name
 */
#if defined(__linux__)
#define _GNU_SOURCE /* calls that only Linux has */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/signals.h"
#include "lib/io/journal.h"
#include "lib/io/target_parts.h"

#if defined(__linux__)
#include <sys/xattr.h>
#endif

/* ---- mode and owner ---- */

#if defined(__linux__)
/* Extended attributes carry access lists and labels.  What the system does not
 * let us set was not ours to set. */
static void copy_attributes(int from, int to)
{
    char names[4096], value[4096];
    ssize_t size = flistxattr(from, names, sizeof(names));

    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        ssize_t bytes = fgetxattr(from, names + at, value, sizeof(value));

        if (bytes >= 0)
            (void)fsetxattr(to, names + at, value, (size_t)bytes, 0);
    }
}
#endif

/* The new file is to be as the old one was: whose, and who may do what. */
static int inherit(struct mf_target *target)
{
    const struct stat *old = &target->old;
    int result;

    MF_AGAIN(result, fchown(target->fd, old->st_uid, old->st_gid));
    /* Where the owner cannot pass, rights that come with it must not. */
    MF_AGAIN(result,
             fchmod(target->fd, old->st_mode & (result == 0 ? 07777 : 0777)));
#if defined(__linux__)
    struct stat status;
    int fd;

    if (result != 0)
        return result;
    MF_AGAIN(fd,
             openat(target->folder, mf_target_name(target),
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd >= 0) {
        if (fstat(fd, &status) == 0 && mf_target_is_old(target, &status))
            copy_attributes(fd, target->fd);
        close(fd);
    }
#endif
    return result;
}

/* Not every file system takes another mode than its own. */
static int set_mode(struct mf_target *target)
{
    struct stat status;
    int result;

    if (fstat(target->fd, &status) != 0)
        return -1;
    if ((status.st_mode & 07777) == target->mode)
        return 0;
    MF_AGAIN(result, fchmod(target->fd, target->mode));
    return result;
}

/* ---- onto the disk, and its name ---- */

enum mf_status mf_target_sync(struct mf_target *target)
{
    struct stat status;
    int result;

    if (target->stream)
        return MF_OK;
    if ((target->is_new ? set_mode(target) : inherit(target)) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "given its mode");
    MF_AGAIN(result, fsync(target->fd));
    if (result != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "brought to the disk");
    MF_AGAIN(result, fstat(target->fd, &status));
    if (result != 0 || (uint64_t)status.st_size != target->size)
        return mf_fail(
            target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
            "'%s' has not got the size that was written",
            mf_quote((struct mf_str){ target->path, strlen(target->path) })
                .text);
    return MF_OK;
}

/* Where nothing may be replaced, what has come there meanwhile is not. */
static int take_place(const struct mf_target *target)
{
    const char *name = mf_target_name(target);
    int result;

#if defined(__linux__)
    if (!target->replace) {
        MF_AGAIN(result, renameat2(target->folder, target->temporary.name,
                                   target->folder, name, RENAME_NOREPLACE));
        if (result == 0 || errno != EINVAL)
            return result;
    }
#endif
    MF_AGAIN(result, renameat(target->folder, target->temporary.name,
                              target->folder, name));
    return result;
}

/* Too late for nothing to have happened. */
static enum mf_status placed(const struct mf_target *target, int error)
{
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
        "'%s' was written, but its folder cannot be brought to the disk: %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        strerror(error));
}

static const char taken[] =
    "is another file by now, which came into its place: it was not replaced";

static bool look_at(const struct mf_target *target, const char *name,
                    struct stat *out)
{
    int result;

    MF_AGAIN(result, fstatat(target->folder, name, out, AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

/* False with errno EINVAL, ENOSYS or EOPNOTSUPP where the system cannot. */
static bool change_places(const struct mf_target *target)
{
#if defined(__linux__)
    int result;

    MF_AGAIN(result,
             renameat2(target->folder, target->temporary.name, target->folder,
                       mf_target_name(target), RENAME_EXCHANGE));
    return result == 0;
#else
    (void)target;
    errno = ENOSYS;
    return false;
#endif
}

/* What has the temporary name now is not taken away. */
static enum mf_status leave(struct mf_target *target, const char *what)
{
    char name[sizeof(target->temporary.name)];

    memcpy(name, target->temporary.name, sizeof(name));
    *target->temporary.name = 0;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' %s '%s'",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what, mf_quote((struct mf_str){ name, strlen(name) }).text);
}

/* The file that had come into the other's place gets it back.  Where yet
 * another one came meanwhile, that is the last of all and stays. */
static enum mf_status give_back(struct mf_target *target,
                                const struct stat *new)
{
    struct stat status;

    if (!change_places(target))
        return leave(target, "was written over a file that came into its place "
                             "meanwhile, which is left as");
    if (!look_at(target, target->temporary.name, &status) ||
        !mf_same_file(&status, new))
        change_places(target);
    return mf_target_refuse(target, taken);
}

/* Only that one file is replaced.  Between a look and a rename another one
 * could come into its place: so the two change places, and are looked at then.
 * Where the system cannot do that, the moment between remains. */
static enum mf_status replace_one(struct mf_target *target,
                                  const struct stat *new)
{
    struct stat status;
    int result;

    if (!look_at(target, mf_target_name(target), &status) ||
        !mf_same_file(&status, target->replaces))
        return mf_target_refuse(target, taken);
    if (!change_places(target)) {
        if ((errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) &&
            take_place(target) == 0)
            return MF_OK;
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "put into its place");
    }
    if (!look_at(target, target->temporary.name, &status) ||
        !mf_same_file(&status, target->replaces))
        return give_back(target, new);
    MF_AGAIN(result, unlinkat(target->folder, target->temporary.name, 0));
    return result == 0 ? MF_OK
                       : leave(target, "was written, but the old file is left "
                                       "as");
}

/* The file gets its name. */
static enum mf_status replace(struct mf_target *target, const struct stat *new)
{
    struct stat journal;
    bool journalled;

    if (target->replaces)
        return replace_one(target, new);
    journalled = mf_journal_mark(
        target->folder, mf_target_name(target),
        target->is_new ? geteuid() : target->old.st_uid, &journal);
    if (take_place(target) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "put into its place");
    if (journalled)
        mf_journal_forget(target->folder, mf_target_name(target), &journal);
    return MF_OK;
}

static enum mf_status commit(struct mf_target *target)
{
    struct stat new = { 0 };
    int result;

    if (!target->stream && fstat(target->fd, &new) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "closed");
    result = close(target->fd);
    target->fd = -1;
    if (result != 0 && errno != EINTR) /* Linux has closed it all the same */
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "closed");
    if (target->stream)
        return MF_OK;
    if (replace(target, &new) != MF_OK)
        return target->env->error.status;
    *target->temporary.name = 0;
    MF_AGAIN(result, fsync(target->folder));
    if (result != 0 && errno != EINVAL) /* some file systems cannot */
        return placed(target, errno);
    return MF_OK;
}

/* What has the temporary name meanwhile may be somebody else's, which
 * mf_env_abandon must not take away. */
enum mf_status mf_target_commit(struct mf_target *target)
{
    enum mf_status status;
    sigset_t before;

    mf_signals_hold(&before);
    status = commit(target);
    mf_target_abort(target);
    mf_signals_release(&before);
    return status;
}
