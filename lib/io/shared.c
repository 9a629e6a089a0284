/* SPDX-License-Identifier: MIT
 *
 * shared.c - an output file that several processes fill, each a part of it
 *
 * The file is created with O_EXCL, which is one step on network file systems,
 * too, and gets its size afterwards.  A process may die in between, so each
 * process that finds it too short gives it its size: that is the same for all,
 * and changes no byte that is there.
 */
#include "lib/io/shared.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/lock.h"
#include "lib/io/target_parts.h"
#include "lib/io/worklog.h"

static struct mf_quoted quoted(const char *text)
{
    return mf_quote((struct mf_str){ text, strlen(text) });
}

enum mf_status mf_shared_refuse(struct mf_env *env, const char *path,
                                const char *what, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(text, sizeof(text), what, arguments);
    va_end(arguments);
    return mf_decline(env, MF_REASON_PARTS_UNFIT, MF_NO_OFFSET,
                      "the parts of '%s' cannot be joined: %s",
                      quoted(path).text, text);
}

/* "'.NAME.parts' WHAT". */
static enum mf_status refuse(const struct mf_target *target, const char *what)
{
    return mf_shared_refuse(target->env, target->path, "'%s' %s",
                            quoted(target->temporary.name).text, what);
}

bool mf_shared_lacks_locks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

/* ---- opening ---- */

static bool stat_name(const struct mf_target *target, struct stat *out)
{
    int result;

    MF_AGAIN(result, fstatat(target->folder, target->temporary.name, out,
                             AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

/* What is there is looked at before it is opened: a device might act on that.
 * Its mode may be the final one, or what a mask has made of it. */
static enum mf_status open_old(struct mf_target *target)
{
    struct stat status;
    const char *why;

    if (!stat_name(target, &status))
        return errno == ENOENT ? MF_OK
                               : mf_target_fail(target->env, target,
                                                MF_NO_OFFSET, "examined");
    status.st_mode = (status.st_mode & ~(mode_t)0777) | MF_MODE_PRIVATE;
    why = mf_worklog_distrust(&status);
    if (why)
        return refuse(target, why);
    target->fd = mf_target_open_name(target, target->temporary.name, O_RDWR);
    return target->fd >= 0 || errno == ENOENT
               ? MF_OK
               : mf_target_fail(target->env, target, MF_NO_OFFSET, "opened");
}

static enum mf_status create(struct mf_target *target)
{
    if (target->partial == MF_PARTIAL_JOINED)
        return refuse(target, "is missing");
    target->fd = mf_target_create(target, MF_MODE_PRIVATE);
    if (target->fd < 0)
        return errno == EEXIST ? MF_OK
                               : mf_target_fail(target->env, target,
                                                MF_NO_OFFSET, "written");
    target->created = true;
    return MF_OK;
}

static enum mf_status make_private(const struct mf_target *target,
                                   const struct stat *status)
{
    if (target->partial == MF_PARTIAL_JOINED ||
        (status->st_mode & 07777) == MF_MODE_PRIVATE ||
        fchmod(target->fd, MF_MODE_PRIVATE) == 0)
        return MF_OK;
    return mf_target_fail(target->env, target, MF_NO_OFFSET, "written");
}

static enum mf_status fail_locked(const struct mf_target *target, bool at_work)
{
    struct mf_quoted path = quoted(target->path);

    return at_work
               ? mf_decline(target->env, MF_REASON_PARTS_MISSING, MF_NO_OFFSET,
                            "a part of '%s' is at work", path.text)
               : mf_fail(target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                         "another process is finishing '%s'", path.text);
}

/* Where a lock of parts can be taken, no other process is finishing: a part is
 * at work, or what finished has ended just now, and the lock is free. */
static bool lock_to_join(const struct mf_target *target, bool *at_work)
{
    if (mf_system_lock(target->fd))
        return true;
    *at_work = errno == EWOULDBLOCK && mf_system_lock_shared(target->fd);
    return *at_work && mf_system_lock(target->fd);
}

/* *here: the file still has its name once it is locked. */
static enum mf_status lock(struct mf_target *target, bool *here)
{
    struct stat status, there;
    bool at_work = false;
    bool locked = target->partial == MF_PARTIAL_JOINED
                      ? lock_to_join(target, &at_work)
                      : mf_system_lock_shared(target->fd);

    if (!locked && errno == EWOULDBLOCK)
        return fail_locked(target, at_work);
    if (!locked && !mf_shared_lacks_locks(errno))
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "locked");
    if (fstat(target->fd, &status) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "examined");
    *here = stat_name(target, &there) && mf_same_file(&status, &there);
    return *here ? make_private(target, &status) : MF_OK;
}

static void drop(struct mf_target *target)
{
    if (target->fd >= 0)
        close(target->fd);
    target->fd = -1;
    target->created = false;
}

enum mf_status mf_target_open_common(struct mf_target *target)
{
    bool here = false;

    target->kept = true; /* whatever it is, abort does not remove it */
    /* Each round another process removed it, or came first. */
    for (int tries = 100; !here && tries > 0; tries--) {
        drop(target);
        if (open_old(target) != MF_OK ||
            (target->fd < 0 && create(target) != MF_OK) ||
            (target->fd >= 0 && lock(target, &here) != MF_OK))
            return target->env->error.status;
    }
    if (here)
        return MF_OK;
    errno = EBUSY;
    return mf_target_fail(target->env, target, MF_NO_OFFSET, "locked");
}

enum mf_status mf_shared_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out)
{
    return mf_target_open_partial(env, path, size, replace, MF_PARTIAL_SHARED,
                                  0, out);
}

/* ---- its size ---- */

enum mf_status mf_shared_reserve(struct mf_target *target, uint64_t others)
{
    struct stat status;

    if (fstat(target->fd, &status) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "examined");
    if ((uint64_t)status.st_size == target->size)
        return MF_OK;
    if ((uint64_t)status.st_size > target->size)
        return refuse(target, "has another size than was planned");
    if (mf_target_reserve(target, status.st_size == 0) != MF_OK)
        return target->env->error.status;
    return mf_target_check_space(target, others);
}

void mf_shared_forget(struct mf_target *target)
{
    struct stat status;

    if (target->fd < 0 || !target->created || fstat(target->fd, &status) != 0 ||
        status.st_size != 0 || !mf_system_lock(target->fd))
        return;
    unlinkat(target->folder, target->temporary.name, 0);
}

/* ---- the end ---- */

bool mf_shared_is_there(struct mf_env *env, const char *path)
{
    return mf_worklog_is_there(env, path, MF_PARTS_SUFFIX);
}

enum mf_status mf_shared_join(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out)
{
    struct stat status;

    if (mf_target_open_partial(env, path, size, replace, MF_PARTIAL_JOINED, 0,
                               out) != MF_OK)
        return env->error.status;
    if (fstat(out->fd, &status) == 0 && (uint64_t)status.st_size == size)
        return MF_OK;
    return refuse(out, "has another size than was planned");
}

enum mf_status mf_shared_join_complete(struct mf_env *env, const char *path,
                                       uint64_t size, struct mf_target *out,
                                       bool *found)
{
    if (mf_target_open_complete(env, path, size, 0, out, found) != MF_OK ||
        !*found)
        return env->error.status;
    return mf_system_lock(out->fd) || errno != EWOULDBLOCK
               ? MF_OK
               : fail_locked(out, false);
}

int mf_shared_hold(const struct mf_target *target)
{
    return fcntl(target->fd, F_DUPFD_CLOEXEC, 3);
}

enum mf_status mf_shared_remove(struct mf_env *env, const char *path,
                                const char *suffix)
{
    struct mf_worklog log = MF_WORKLOG_NONE;
    bool found = false;

    if (mf_worklog_look(env, path, suffix, &log, &found) == MF_OK && found) {
        if (mf_system_lock(log.fd) || mf_shared_lacks_locks(errno))
            log.kept = false;
        else
            mf_decline(env, MF_REASON_PARTS_MISSING, MF_NO_OFFSET,
                       "a part of '%s' is at work", quoted(path).text);
    }
    mf_worklog_close(&log);
    return env->error.status;
}
