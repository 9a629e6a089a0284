/* SPDX-License-Identifier: MIT
 *
 * journal_make.c - the journal of an edit, on the disk before its file changes
 */
#if defined(__linux__)
#define _GNU_SOURCE /* renameat2 */
#endif
#include "lib/io/journal_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/xattr.h>
#endif

#include "lib/base/signals.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/io/temporary.h"

/* ---- who may do what ---- */

#if defined(__linux__)
#define ACCESS_LIST "system.posix_acl_access"

static bool has_access_list(int fd)
{
    return fgetxattr(fd, ACCESS_LIST, NULL, 0) > 0;
}
#endif

/* With an access list the group's bits say something else.  Who is of the
 * file's group is one of the others for a journal of another group. */
mode_t mf_journal_mode(int fd, const struct stat *status, gid_t group)
{
    mode_t of_group = status->st_mode >> 3 & 6, of_others = status->st_mode & 6;

#if defined(__linux__)
    if (has_access_list(fd))
        return 0;
#else
    (void)fd;
#endif
    if (group != status->st_gid)
        of_group = of_others = of_group & of_others;
    return of_group << 3 | of_others;
}

/* Root passes its files on; where that is refused they stay root's, whom
 * everyone trusts. */
static bool can_own(const struct mf_lock *lock)
{
    return geteuid() == 0 || geteuid() == lock->status.st_uid;
}

bool mf_journal_possible(const struct mf_lock *lock,
                         const struct mf_journal_edit *edit)
{
    char name[NAME_MAX + 1];

    return can_own(lock) && mf_journal_name(lock->place.name, name) &&
           mf_journal_size(edit) <= MF_JOURNAL_MAX;
}

/* ---- making a journal ---- */

struct writing {
    struct mf_env *env;
    const struct mf_lock *lock;
    struct mf_digest *digest;
    int fd;
    uint64_t at;
    struct mf_temporary temporary;
    char name[NAME_MAX + 1];
};

static enum mf_status cannot(struct mf_env *env, const char *what)
{
    return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "cannot be edited: its journal cannot be %s: %s", what,
                   strerror(errno));
}

/* Nobody else may look into it or put something of his in its place. */
static enum mf_status create(struct writing *writing)
{
    struct mf_temporary *temporary = &writing->temporary;
    int tries = 100, error;
    sigset_t before;

    temporary->folder = writing->lock->place.folder;
    /* No signal comes before it is known what there is to take away. */
    mf_signals_hold(&before);
    do {
        mf_temporary_name(temporary, writing->lock->place.name);
        MF_AGAIN(writing->fd,
                 openat(temporary->folder, temporary->name,
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR));
    } while (writing->fd < 0 && errno == EEXIST && --tries > 0);
    error = errno;
    if (writing->fd >= 0)
        mf_temporary_enlist(writing->env, temporary);
    else
        *temporary->name = 0;
    mf_signals_release(&before);
    errno = error;
    return writing->fd >= 0 ? MF_OK : cannot(writing->env, "made");
}

static enum mf_status set_owner(struct writing *writing)
{
    const struct stat *file = &writing->lock->status;
    struct stat status;
    mode_t mode;
    int result;

    if (geteuid() == 0)
        MF_AGAIN(result, fchown(writing->fd, file->st_uid, file->st_gid));
    else
        MF_AGAIN(result, fchown(writing->fd, (uid_t)-1, file->st_gid));
    if (result != 0 && errno != EPERM && errno != EINVAL)
        return cannot(writing->env, "given its owner");
#if defined(__linux__)
    (void)fremovexattr(writing->fd, ACCESS_LIST); /* what the folder gave it */
#endif
    if (fstat(writing->fd, &status) != 0)
        return cannot(writing->env, "given its mode");
    mode = mf_journal_mode(writing->lock->fd, file, status.st_gid) &
           (S_IRGRP | S_IROTH);
    MF_AGAIN(result, fchmod(writing->fd, S_IRUSR | S_IWUSR | mode));
    return result == 0 ? MF_OK : cannot(writing->env, "given its mode");
}

static void set(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static enum mf_status put(void *user, const void *bytes, size_t size)
{
    struct writing *writing = user;

    if (!mf_journal_write_all(writing->fd, writing->at, bytes, size))
        return cannot(writing->env, "written");
    mf_digest_add(writing->digest, bytes, size);
    writing->at += size;
    writing->env->io.bytes_written += size;
    return MF_OK;
}

static enum mf_status put_head(struct writing *writing,
                               const struct mf_journal *journal)
{
    uint8_t head[MF_JOURNAL_HEAD + MF_JOURNAL_ROW * MF_PATCHES_MAX] =
        MF_JOURNAL_MAGIC;

    set(head + 8, journal->file_size);
    set(head + 16, journal->count);
    for (size_t i = 0; i < journal->count; i++) {
        set(head + MF_JOURNAL_HEAD + MF_JOURNAL_ROW * i,
            journal->patch[i].offset);
        set(head + MF_JOURNAL_HEAD + MF_JOURNAL_ROW * i + 8,
            journal->patch[i].size);
    }
    return put(writing, head,
               MF_JOURNAL_HEAD + MF_JOURNAL_ROW * journal->count);
}

static enum mf_status put_old(struct writing *writing,
                              const struct mf_patch *patch)
{
    uint8_t bytes[4096];

    for (uint64_t at = 0, some; at < patch->size; at += some) {
        some = patch->size - at;
        some = some < sizeof(bytes) ? some : sizeof(bytes);
        if (!mf_journal_read_all(writing->lock->fd, patch->offset + at, bytes,
                                 (size_t)some))
            return mf_fail(writing->env, MF_ERR_IO, patch->offset + at,
                           "cannot be read: %s", strerror(errno));
        if (put(writing, bytes, (size_t)some) != MF_OK)
            return writing->env->error.status;
    }
    return MF_OK;
}

static enum mf_status fill_journal(struct writing *writing,
                                   const struct mf_journal *journal,
                                   const struct mf_journal_edit *edit,
                                   uint64_t size)
{
    uint8_t digest[MF_DIGEST_MAX];
    enum mf_status status = put_head(writing, journal);

    for (size_t i = 0; i < journal->count && status == MF_OK; i++) {
        status = put_old(writing, &journal->patch[i]);
        if (status == MF_OK)
            status = edit->fill(edit->user, i, put, writing);
    }
    if (status == MF_OK && writing->at != size - MF_JOURNAL_SUM)
        status = mf_fail(writing->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the file changed while it was edited");
    if (status != MF_OK)
        return status;
    mf_digest_finish(writing->digest, digest);
    return put(writing, digest, MF_JOURNAL_SUM);
}

/* Nothing may stand there: what was left by an earlier edit was dealt with. */
static enum mf_status take_name(struct writing *writing)
{
    int folder = writing->lock->place.folder, result;

#if defined(__linux__)
    MF_AGAIN(result, renameat2(folder, writing->temporary.name, folder,
                               writing->name, RENAME_NOREPLACE));
    if (result != 0 &&
        (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
#endif
    {
        struct stat status;

        if (fstatat(folder, writing->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
            errno = EEXIST;
            return cannot(writing->env, "given its name");
        }
        MF_AGAIN(result, renameat(folder, writing->temporary.name, folder,
                                  writing->name));
    }
    if (result != 0)
        return cannot(writing->env, "given its name");
    *writing->temporary.name = 0;
    return MF_OK;
}

static void forget_temporary(struct writing *writing)
{
    const struct mf_temporary *temporary = &writing->temporary;
    int result;

    if (*temporary->name)
        MF_AGAIN(result, unlinkat(temporary->folder, temporary->name, 0));
    mf_temporary_strike_off(writing->env, temporary);
}

static enum mf_status make(struct writing *writing,
                           const struct mf_journal_edit *edit,
                           struct mf_journal *journal)
{
    const struct mf_lock *lock = writing->lock;
    uint64_t size = mf_journal_size(edit);

    if (!mf_journal_name(lock->place.name, writing->name) ||
        !mf_journal_place(journal, size))
        return mf_fail(writing->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "an edit without a possible journal");
    if (create(writing) != MF_OK ||
        fill_journal(writing, journal, edit, size) != MF_OK ||
        set_owner(writing) != MF_OK)
        return writing->env->error.status;
    if (!mf_journal_sync(writing->fd))
        return cannot(writing->env, "brought to the disk");
    if (take_name(writing) != MF_OK)
        return writing->env->error.status;
    if (mf_journal_sync_folder(lock->place.folder))
        return MF_OK;
    cannot(writing->env, "brought to the disk with its name");
    mf_journal_unlink(lock, writing->fd);
    return writing->env->error.status;
}

enum mf_status mf_journal_make(struct mf_env *env, const struct mf_lock *lock,
                               const struct mf_journal_edit *edit,
                               struct mf_journal *journal)
{
    struct writing writing = { .env = env, .lock = lock, .fd = -1 };
    enum mf_status status;

    journal->fd = -1;
    writing.digest = mf_digest_new(env, MF_XXH3_128);
    if (!writing.digest)
        return env->error.status;
    status = make(&writing, edit, journal);
    forget_temporary(&writing);
    mf_digest_free(writing.digest);
    journal->fd = writing.fd;
    return status;
}
