/* SPDX-License-Identifier: MIT
 *
 * journal_make.c - the journal of an edit is made
 *
 * It is written under a temporary name and renamed when it is whole, synced and
 * has its final owner and mode: a journal under its final name is complete. The
 * folder is synced after that, because a name that is not on the disk does not
 * protect the bytes that change next.
 *
 * A neighbour in the folder could use the journal in two ways.  It shows parts
 * of the file, so only users who may read the file may read it; it starts with
 * 0600 and gets at most the file's bits.  And its bytes end up in the file, so
 * only users who could write the file may write it, or put another file under
 * its name; O_EXCL, O_NOFOLLOW and RENAME_NOREPLACE never touch what another
 * user has put there, and readers trust only the owners listed in pending.c.
 */
#include "lib/io/journal_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/base/signals.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/io/source.h"
#include "lib/io/temporary.h"

/* ---- trust ---- */

/* With an access list the group's bits are a mask and grant nothing by
 * themselves.  For a journal of another group, the members of the file's group
 * are among the others. */
mode_t mf_journal_mode(int fd, const struct stat *status, gid_t group)
{
    mode_t of_group = status->st_mode >> 3 & 6, of_others = status->st_mode & 6;

    if (mf_system_has_access_list(fd))
        return 0;
    if (group != status->st_gid)
        of_group = of_others = of_group & of_others;
    return of_group << 3 | of_others;
}

/* Root gives the journal to the file's owner; where that is refused it stays
 * root's, whom everyone trusts. */
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

/* ---- builder a journal ---- */

struct builder { /* of a journal */
    struct mf_env *env;
    const struct mf_lock *lock;
    struct mf_digest *digest;
    int fd;
    uint64_t at; /* bytes written */
    struct mf_temporary temporary;
    char name[NAME_MAX + 1]; /* that it will have */
};

static enum mf_status fail(struct mf_env *env, const char *what)
{
    return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                          "cannot be edited: its journal cannot be %s: %s",
                          what, mf_errno_text(errno));
}

static enum mf_status create(struct builder *builder)
{
    struct mf_temporary *temporary = &builder->temporary;
    int tries = 100, error;
    mf_signals before;

    temporary->folder = builder->lock->place.folder;
    /* Until the file is in the list of those that mf_env_abandon removes. */
    mf_signals_hold(&before);
    do {
        mf_temporary_name(temporary, builder->lock->place.name);
        MF_AGAIN(builder->fd,
                 openat(temporary->folder, temporary->name,
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR));
    } while (builder->fd < 0 && errno == EEXIST && --tries > 0);
    error = errno;
    if (builder->fd >= 0)
        mf_temporary_enlist(builder->env, temporary);
    else
        *temporary->name = 0;
    mf_signals_release(&before);
    errno = error;
    return builder->fd >= 0 ? MF_OK : fail(builder->env, "created");
}

static enum mf_status set_owner(struct builder *builder)
{
    const struct stat *file = &builder->lock->status;
    struct stat status;
    mode_t mode;
    int result;

    if (geteuid() == 0)
        MF_AGAIN(result, fchown(builder->fd, file->st_uid, file->st_gid));
    else
        MF_AGAIN(result, fchown(builder->fd, (uid_t)-1, file->st_gid));
    if (result != 0 && errno != EPERM && errno != EINVAL)
        return fail(builder->env, "given its owner");
    mf_system_drop_access_list(builder->fd); /* from the folder */
    if (fstat(builder->fd, &status) != 0)
        return fail(builder->env, "given its mode");
    mode = mf_journal_mode(builder->lock->fd, file, status.st_gid) &
           (S_IRGRP | S_IROTH);
    MF_AGAIN(result, fchmod(builder->fd, S_IRUSR | S_IWUSR | mode));
    return result == 0 ? MF_OK : fail(builder->env, "given its mode");
}

static void set_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static enum mf_status put(void *user, const void *bytes, size_t size)
{
    struct builder *builder = user;

    if (!mf_journal_write_all(builder->fd, builder->at, bytes, size))
        return fail(builder->env, "written");
    mf_digest_add(builder->digest, bytes, size);
    builder->at += size;
    builder->env->io.bytes_written += size;
    return MF_OK;
}

static enum mf_status put_head(struct builder *builder,
                               const struct mf_journal *journal)
{
    uint8_t head[MF_JOURNAL_HEAD + MF_JOURNAL_ROW * MF_PATCHES_MAX] =
        MF_JOURNAL_MAGIC;

    set_u64(head + 8, journal->file_size);
    set_u64(head + 16, journal->count);
    for (size_t i = 0; i < journal->count; i++) {
        set_u64(head + MF_JOURNAL_HEAD + MF_JOURNAL_ROW * i,
                journal->patch[i].offset);
        set_u64(head + MF_JOURNAL_HEAD + MF_JOURNAL_ROW * i + 8,
                journal->patch[i].size);
    }
    return put(builder, head,
               MF_JOURNAL_HEAD + MF_JOURNAL_ROW * journal->count);
}

static enum mf_status put_old(struct builder *builder,
                              const struct mf_patch *patch)
{
    uint8_t bytes[4096];

    for (uint64_t at = 0, some; at < patch->size; at += some) {
        some = patch->size - at;
        some = some < sizeof(bytes) ? some : sizeof(bytes);
        if (!mf_fd_read(builder->lock->fd, patch->offset + at, bytes,
                        (size_t)some))
            return mf_fail_system(builder->env, MF_ERR_IO, patch->offset + at,
                                  errno, "cannot be read: %s",
                                  mf_errno_text(errno));
        if (put(builder, bytes, (size_t)some) != MF_OK)
            return builder->env->error.status;
    }
    return MF_OK;
}

static enum mf_status fill_journal(struct builder *builder,
                                   const struct mf_journal *journal,
                                   const struct mf_journal_edit *edit,
                                   uint64_t size)
{
    uint8_t digest[MF_DIGEST_MAX];
    enum mf_status status = put_head(builder, journal);

    for (size_t i = 0; i < journal->count && status == MF_OK; i++) {
        status = put_old(builder, &journal->patch[i]);
        if (status == MF_OK)
            status = edit->fill(edit->user, i, put, builder);
    }
    if (status == MF_OK && builder->at != size - MF_JOURNAL_SUM)
        status = mf_fail(builder->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the file changed while it was edited");
    if (status != MF_OK)
        return status;
    mf_digest_finish(builder->digest, digest);
    return put(builder, digest, MF_JOURNAL_SUM);
}

/* An earlier edit's journal has been dealt with by now, so no file may exist
 * under the name. */
static enum mf_status take_name(struct builder *builder)
{
    if (!mf_temporary_rename_new(&builder->temporary, builder->name))
        return fail(builder->env, "renamed into place");
    *builder->temporary.name = 0;
    return MF_OK;
}

static void remove_temporary(struct builder *builder)
{
    const struct mf_temporary *temporary = &builder->temporary;
    int result;

    if (*temporary->name)
        MF_AGAIN(result, unlinkat(temporary->folder, temporary->name, 0));
    mf_temporary_strike_off(builder->env, temporary);
}

static enum mf_status make(struct builder *builder,
                           const struct mf_journal_edit *edit,
                           struct mf_journal *journal)
{
    const struct mf_lock *lock = builder->lock;
    uint64_t size = mf_journal_size(edit);

    assert(edit->count > 0 && edit->count <= MF_PATCHES_MAX);
    if (!mf_journal_name(lock->place.name, builder->name) ||
        !mf_journal_place(journal, size))
        return mf_fail(builder->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "this edit cannot have a journal");
    if (create(builder) != MF_OK ||
        fill_journal(builder, journal, edit, size) != MF_OK ||
        set_owner(builder) != MF_OK)
        return builder->env->error.status;
    if (!mf_journal_sync(builder->fd))
        return fail(builder->env, "synced to disk");
    if (take_name(builder) != MF_OK)
        return builder->env->error.status;
    if (mf_journal_sync_folder(lock->place.folder))
        return MF_OK;
    fail(builder->env, "synced to disk with its folder");
    mf_journal_unlink(lock, builder->fd);
    return builder->env->error.status;
}

enum mf_status mf_journal_make(struct mf_env *env, const struct mf_lock *lock,
                               const struct mf_journal_edit *edit,
                               struct mf_journal *journal)
{
    struct builder builder = { .env = env, .lock = lock, .fd = -1 };
    enum mf_status status;

    journal->fd = -1;
    builder.digest = mf_digest_new(env, MF_XXH3_128);
    if (!builder.digest)
        return env->error.status;
    status = mf_check_change(env);
    if (status == MF_OK)
        status = make(&builder, edit, journal);
    remove_temporary(&builder);
    mf_digest_free(builder.digest);
    journal->fd = builder.fd;
    return status;
}
