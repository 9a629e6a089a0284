/* SPDX-License-Identifier: MIT
 *
 * target_partial.c - an output file that goes on after a stop
 *
 * A partial file has the name `.NAME.partial`, so that the next process finds
 * it, and so that anybody else does: it is looked at before it is opened, never
 * opened through a link, and refused unless it is a regular file of ours with
 * mode 0600 and no other name.  That its bytes are those that were written is
 * for the caller to find out.
 *
 * A file gets its mode and owner before its name (target_commit.c).  A kill in
 * between leaves a partial file with those; it is known by its inode number.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/io/shared.h"
#include "lib/io/target_parts.h"
#include "lib/io/worklog.h"

/* "'.NAME.partial' WHAT". */
static enum mf_status refuse(const struct mf_target *target, const char *what)
{
    const char *name = target->temporary.name;

    return mf_worklog_refuse(
        target->env, target->path, "'%s' %s",
        mf_quote((struct mf_str){ name, strlen(name) }).text, what);
}

int mf_target_open_name(const struct mf_target *target, const char *name,
                        int access)
{
    int fd;

    MF_AGAIN(fd,
             openat(target->folder, name,
                    access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    return fd;
}

/* Whether a file has the partial file's name. */
static bool stat_partial(const struct mf_target *target, struct stat *out)
{
    int result;

    MF_AGAIN(result, fstatat(target->folder, target->temporary.name, out,
                             AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

/* Before a new one is created: another's file is only removed if the caller
 * wants that. */
static enum mf_status remove_old(const struct mf_target *target)
{
    struct stat status;
    const char *why;

    if (!stat_partial(target, &status))
        return MF_OK; /* to create it says why */
    why =
        target->partial == MF_PARTIAL_NEW ? mf_worklog_distrust(&status) : NULL;
    if (why)
        return refuse(target, why);
    if (unlinkat(target->folder, target->temporary.name, 0) != 0 &&
        errno != ENOENT)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "started again");
    return MF_OK;
}

static enum mf_status create_new(struct mf_target *target)
{
    struct stat status;

    if (remove_old(target) != MF_OK)
        return target->env->error.status;
    target->fd = mf_target_create(target, MF_MODE_PRIVATE);
    if (target->fd < 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    mf_temporary_enlist(target->env, &target->temporary);
    /* The umask may have taken away from 0600. */
    if (fstat(target->fd, &status) != 0 ||
        ((status.st_mode & 07777) != MF_MODE_PRIVATE &&
         fchmod(target->fd, MF_MODE_PRIVATE) != 0))
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    return MF_OK;
}

/* Back to what it was before it was to get its name. */
static enum mf_status make_private(const struct mf_target *target,
                                   const struct stat *status)
{
    if (status->st_uid != geteuid() &&
        fchown(target->fd, geteuid(), getegid()) != 0)
        return refuse(target, "belongs to another user");
    return fchmod(target->fd, MF_MODE_PRIVATE) == 0
               ? MF_OK
               : mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
}

static enum mf_status open_old(struct mf_target *target)
{
    bool naming = target->partial == MF_PARTIAL_NAMING;
    struct stat before, status;
    const char *why;

    target->kept = true; /* whatever it is, it is not removed */
    if (!stat_partial(target, &before))
        return errno == ENOENT ? refuse(target, "is missing")
                               : mf_target_fail(target->env, target,
                                                MF_NO_OFFSET, "written");
    why = mf_worklog_distrust(&before);
    if (naming && S_ISREG(before.st_mode) && before.st_nlink == 1)
        why = before.st_ino == target->inode ? NULL : "is another file";
    if (why)
        return refuse(target, why);
    target->fd = mf_target_open_name(target, target->temporary.name, O_RDWR);
    if (target->fd < 0 || fstat(target->fd, &status) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "opened");
    if (status.st_dev != before.st_dev || status.st_ino != before.st_ino)
        return refuse(target, "was replaced while it was opened");
    if ((uint64_t)status.st_size != target->size)
        return refuse(target, "has another size than was planned");
    return naming ? make_private(target, &status) : MF_OK;
}

enum mf_status mf_target_open_kept(struct mf_target *target)
{
    bool common = target->partial >= MF_PARTIAL_SHARED;
    char name[NAME_MAX + 1];

    assert(target->partial != MF_PARTIAL_NONE);
    if (!mf_worklog_name(mf_target_name(target),
                         common ? MF_PARTS_SUFFIX : MF_PARTIAL_SUFFIX, name))
        return mf_target_refuse(
            target, common ? "has too long a name to be written in parts"
                           : "has too long a name to be resumed");
    if (target->is_new && target->partial != MF_PARTIAL_SHARED) {
        mf_temporary_name(&target->temporary, mf_target_name(target));
        if (!mf_target_default_mode(target))
            return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
    }
    memcpy(target->temporary.name, name, sizeof(name));
    if (common)
        return mf_target_open_common(target);
    if (target->partial >= MF_PARTIAL_KEPT)
        return open_old(target);
    if (create_new(target) == MF_OK)
        return MF_OK;
    if (target->fd < 0)
        *target->temporary.name = 0; /* the file is not ours */
    return target->env->error.status;
}

void mf_target_go_back(const struct mf_target *target)
{
    struct stat status;

    if (target->fd < 0 || target->complete || !target->kept || target->follows)
        return;
    if (fstat(target->fd, &status) == 0)
        make_private(target, &status);
}

void mf_target_keep(struct mf_target *target)
{
    target->kept = true;
    mf_temporary_strike_off(target->env, &target->temporary);
}

enum mf_status mf_target_flush(struct mf_env *env,
                               const struct mf_target *target)
{
    int result;

    MF_AGAIN(result, fdatasync(target->fd));
    return result == 0
               ? MF_OK
               : mf_target_fail(env, target, MF_NO_OFFSET, "synced to disk");
}

/* ---- files that have their names ---- */

static bool open_complete(struct mf_target *target, uint64_t inode)
{
    struct stat status;

    target->fd = mf_target_open_name(target, mf_target_name(target), O_RDONLY);
    return target->fd >= 0 && fstat(target->fd, &status) == 0 &&
           S_ISREG(status.st_mode) &&
           (uint64_t)status.st_size == target->size &&
           (inode == 0 || status.st_ino == inode);
}

enum mf_status mf_target_open_complete(struct mf_env *env, const char *path,
                                       uint64_t size, uint64_t inode,
                                       struct mf_target *out, bool *found)
{
    *out = (struct mf_target){ .env = env,
                               .path = path,
                               .size = size,
                               .folder = -1,
                               .fd = -1,
                               .complete = true };
    *found = mf_target_follow_links(out) == MF_OK &&
             mf_target_open_folder(out) == MF_OK && open_complete(out, inode);
    if (!*found)
        mf_target_abort(out);
    return env->error.status;
}

enum mf_status mf_target_compare(struct mf_env *env,
                                 const struct mf_target *target,
                                 uint64_t offset, const void *bytes,
                                 size_t size)
{
    const uint8_t *expected = bytes;
    uint8_t found[4096];

    for (size_t some; size > 0; size -= some) {
        some = size < sizeof(found) ? size : sizeof(found);
        if (mf_target_read(env, target, offset, found, some) != MF_OK)
            return env->error.status;
        if (memcmp(found, expected, some) != 0)
            return mf_worklog_refuse(env, target->path,
                                     "it was changed at 0x%" PRIx64
                                     " after it had got its name",
                                     offset);
        expected += some;
        offset += some;
    }
    return MF_OK;
}
