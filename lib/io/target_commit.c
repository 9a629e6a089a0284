/* SPDX-License-Identifier: MIT
 *
 * target_commit.c - an output file: onto the disk, and under its name
 *
 * Two kinds of targets get their names differently:
 *
 * - Without `expected`, as most outputs: one rename, with RENAME_NOREPLACE
 *   where no file may be replaced, so that one that was created during an hour
 *   of conversion is not lost.
 *
 * - With `expected`, where an edit writes its own input again: only the file
 *   that was read may be replaced.  To compare and then rename is not enough:
 *   between the two another program may rename a third file over the name, and
 *   that file would be gone for good.  No call renames on condition of what the
 *   target is.  So the names are exchanged, which destroys nothing, and what
 *   now has the temporary name is compared.  If it is not the expected file the
 *   names are exchanged back.  Only where a file system cannot exchange names
 *   is it compare and rename, with the gap between them.
 *
 *   The editor's lock of the file does not help here: it holds off other
 *   editors, not the programs that replace a file by rename, as most do.
 *
 * The old mode, owner and attributes are set before fsync and rename: a new
 * file that appeared with 0600 and was killed before chmod would have taken a
 * shared model from its readers.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/signals.h"
#include "lib/base/timings.h"
#include "lib/io/journal.h"
#include "lib/io/target_parts.h"

/* ---- mode and owner ---- */

/* Owner, mode and attributes of the file that is replaced. */
static int copy_rights(struct mf_target *target)
{
    const struct stat *old = &target->old;
    struct stat status;
    int result, fd;

    assert(!target->is_new);
    MF_AGAIN(result, fchown(target->fd, old->st_uid, old->st_gid));
    /* Without the owner, no set-user-ID: it would lend our rights. */
    MF_AGAIN(result,
             fchmod(target->fd, old->st_mode & (result == 0 ? 07777 : 0777)));
    if (result != 0)
        return result;
    MF_AGAIN(fd,
             openat(target->folder, mf_target_name(target),
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd >= 0) {
        if (fstat(fd, &status) == 0 && mf_target_is_old(target, &status))
            mf_system_copy_attributes(fd, target->fd);
        close(fd);
    }
    return result;
}

/* chmod only where it changes something: some file systems have one mode for
 * all files and refuse it. */
static int set_default_mode(struct mf_target *target)
{
    struct stat status;
    int result;

    assert(target->is_new);
    if (fstat(target->fd, &status) != 0)
        return -1;
    if ((status.st_mode & 07777) == target->mode)
        return 0;
    MF_AGAIN(result, fchmod(target->fd, target->mode));
    return result;
}

static enum mf_status sync_file(struct mf_target *target)
{
    struct stat status;
    int result;

    if (target->stream || target->given)
        return MF_OK;
    if (!target->complete && !target->follows &&
        (target->is_new ? set_default_mode(target) : copy_rights(target)) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "given its mode");
    MF_AGAIN(result, fsync(target->fd));
    if (result != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "synced to disk");
    MF_AGAIN(result, fstat(target->fd, &status));
    if (result != 0 || (uint64_t)status.st_size != target->size)
        return mf_target_refuse(target, "does not have the size that was "
                                        "written");
    return MF_OK;
}

enum mf_status mf_target_sync(struct mf_target *target)
{
    struct mf_timed timed = mf_timed_begin(target->env, MF_PHASE_SYNC);
    enum mf_status status = sync_file(target);

    mf_timed_end(target->env, timed);
    return status;
}

/* ---- names ---- */

static bool stat_name(const struct mf_target *target, const char *name,
                      struct stat *out)
{
    int result;

    MF_AGAIN(result, fstatat(target->folder, name, out, AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

static bool rename_over(const struct mf_target *target)
{
    int result;

    MF_AGAIN(result, renameat(target->folder, target->temporary.name,
                              target->folder, mf_target_name(target)));
    return result == 0;
}

static bool exchange_names(const struct mf_target *target)
{
    return mf_system_exchange(target->folder, target->temporary.name,
                              mf_target_name(target));
}

/* ---- the only file that may be replaced ---- */

static const char not_overwritten[] =
    "was replaced by another file meanwhile; that file was not overwritten";

/* "'path' WHAT 'temporary name'", and the file of that name stays: it is not
 * ours. */
static enum mf_status keep_temporary(struct mf_target *target, const char *what)
{
    char name[sizeof(target->temporary.name)];

    memcpy(name, target->temporary.name, sizeof(name));
    *target->temporary.name = 0;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' %s '%s'",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what, mf_quote((struct mf_str){ name, strlen(name) }).text);
}

/* Another file than the expected one was exchanged and gets its name back.  If
 * yet another one took our place in between, that is the newest and stays. */
static enum mf_status exchange_back(struct mf_target *target,
                                    const struct stat *new)
{
    struct stat status;

    if (!exchange_names(target))
        return keep_temporary(target, "was written; another file, which had "
                                      "taken its name meanwhile, is kept as");
    if (!stat_name(target, target->temporary.name, &status) ||
        !mf_same_file(&status, new))
        exchange_names(target);
    return mf_target_refuse(target, not_overwritten);
}

static enum mf_status replace_expected(struct mf_target *target,
                                       const struct stat *new)
{
    struct stat status;
    int result;

    assert(target->expected && target->replace);
    if (!stat_name(target, mf_target_name(target), &status) ||
        !mf_same_file(&status, target->expected))
        return mf_target_refuse(target, not_overwritten);
    if (!exchange_names(target)) {
        if ((errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) &&
            rename_over(target))
            return MF_OK;
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "renamed into place");
    }
    if (!stat_name(target, target->temporary.name, &status) ||
        !mf_same_file(&status, target->expected))
        return exchange_back(target, new);
    MF_AGAIN(result, unlinkat(target->folder, target->temporary.name, 0));
    return result == 0 ? MF_OK
                       : keep_temporary(target, "was written, but the old file "
                                                "remains as");
}

/* ---- committing ---- */

/* The journal of an interrupted edit belongs to the file that is replaced and
 * goes with it. */
static enum mf_status replace(struct mf_target *target, const struct stat *new)
{
    struct stat journal;
    bool journalled;

    if (target->expected)
        return replace_expected(target, new);
    journalled = mf_journal_mark(
        target->folder, mf_target_name(target),
        target->is_new ? geteuid() : target->old.st_uid, &journal);
    if (target->replace ? !rename_over(target)
                        : !mf_temporary_rename_new(&target->temporary,
                                                   mf_target_name(target)))
        return mf_target_fail(target->env, target, MF_NO_OFFSET,
                              "renamed into place");
    if (journalled)
        mf_journal_forget(target->folder, mf_target_name(target), &journal);
    return MF_OK;
}

static enum mf_status close_file(struct mf_target *target)
{
    int result = close(target->fd);

    target->fd = -1;
    /* Linux has closed it even then. */
    return result == 0 || errno == EINTR
               ? MF_OK
               : mf_target_fail(target->env, target, MF_NO_OFFSET, "closed");
}

static enum mf_status sync_folder(const struct mf_target *target)
{
    int result;

    MF_AGAIN(result, fsync(target->folder));
    if (result == 0 || errno == EINVAL) /* some file systems cannot */
        return MF_OK;
    return mf_fail_system(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
        "'%s' was written, but its folder cannot be synced to disk: %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        mf_errno_text(errno));
}

static enum mf_status commit(struct mf_target *target)
{
    struct stat new = { 0 };

    if (target->given)
        return mf_target_end_given(target, true);
    if (target->follows)
        return close_file(target);
    if (!target->stream && fstat(target->fd, &new) != 0)
        return mf_target_fail(target->env, target, MF_NO_OFFSET, "closed");
    if (close_file(target) != MF_OK)
        return target->env->error.status;
    if (target->stream || target->given)
        return MF_OK;
    if (!target->complete && replace(target, &new) != MF_OK)
        return target->env->error.status;
    *target->temporary.name = 0;
    return sync_folder(target);
}

/* Signals are held back because for a moment the temporary name may lead to
 * a file that is not ours, which mf_env_abandon must not remove. */
enum mf_status mf_target_commit(struct mf_target *target)
{
    struct mf_env *env = target->env;
    struct mf_timed timed;
    enum mf_status status;
    mf_signals before;

    assert(target->fd >= 0 || target->given);
    mf_signals_hold(&before);
    timed = mf_timed_begin(env, MF_PHASE_SYNC);
    status = commit(target);
    mf_target_abort(target);
    mf_timed_end(env, timed);
    mf_signals_release(&before);
    return status;
}

enum mf_status mf_target_finish(struct mf_target *target, enum mf_status status)
{
    if (status == MF_OK)
        status = mf_target_sync(target);
    if (status == MF_OK)
        return mf_target_commit(target);
    mf_target_abort(target);
    return status;
}
