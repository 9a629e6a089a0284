/* SPDX-License-Identifier: MIT
 *
 * journal_apply.c - an edit is made through its journal, finished or undone
 *
 * What each sync proves, in the order in which they happen:
 *
 *   1. journal, then its folder: the name is on the disk and leads to all old
 *      and new bytes.  Only now may the file change.
 *   2. the file: all new bytes are on the disk.  Only now may the journal go.
 *   3. the folder again: the journal is gone.  Without it a power failure may
 *      bring the journal back; it then says what the file has anyway, until
 *      another program changes those bytes and the journal looks like one of
 *      another file.
 *
 * Before the first byte changes, the file's size, time and old bytes are
 * compared once more with what the edit was computed from, and its name with
 * the file: the lock is advisory, and a program that does not take it may have
 * written meanwhile.
 */
#include "lib/io/journal_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/io/source.h"

/* ---- copying and removing ---- */

static bool copy_patch(const struct mf_journal *journal,
                       const struct mf_patch *patch, int fd, uint8_t *chunk)
{
    uint64_t from = patch->old_at + (journal->shows_old ? 0 : patch->size);
    size_t size;

    for (uint64_t at = 0; at < patch->size; at += size) {
        size = mf_journal_piece(patch->size - at);
        if (!mf_fd_read(journal->fd, from + at, chunk, size) ||
            !mf_journal_write_all(fd, patch->offset + at, chunk, size))
            return false;
    }
    return true;
}

static bool copy_patches(const struct mf_journal *journal, int fd)
{
    uint8_t chunk[MF_JOURNAL_CHUNK];

    for (size_t i = 0; i < journal->count; i++)
        if (!copy_patch(journal, &journal->patch[i], fd, chunk))
            return false;
    return true;
}

/* Removes the name if it still leads to that file.  By now it may lead to the
 * journal of another file, which was renamed over ours. */
static bool unlink_file(int folder, const char *name, const struct stat *file)
{
    struct stat there;
    int result;

    MF_AGAIN(result, fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW));
    if (result == 0 && mf_same_file(&there, file))
        MF_AGAIN(result, unlinkat(folder, name, 0));
    return result == 0 || errno == ENOENT;
}

bool mf_journal_unlink(const struct mf_lock *lock, int fd)
{
    char name[NAME_MAX + 1];
    struct stat status;

    return fstat(fd, &status) == 0 && mf_journal_name(lock->place.name, name) &&
           unlink_file(lock->place.folder, name, &status);
}

/* "WHAT: error; the edit is kept in JOURNAL". */
static enum mf_status fail_keeping(struct mf_env *env,
                                   const struct mf_lock *lock, const char *what,
                                   int error)
{
    return mf_fail_system(
        env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
        "%s: %s; the edit is kept in '%s%s'", what, mf_errno_text(error),
        mf_quote((struct mf_str){ lock->place.name, strlen(lock->place.name) })
            .text,
        MF_JOURNAL_SUFFIX);
}

enum mf_status mf_journal_remove(struct mf_env *env, const struct mf_lock *lock,
                                 int fd, bool made)
{
    const char *start =
        made ? "the edit was made, but " : "nothing was changed, but ";

    if (mf_check_change(env) != MF_OK)
        return env->error.status;
    if (!mf_journal_sync(lock->fd))
        return fail_keeping(env, lock,
                            made
                                ? "the edit was made, but the file cannot be "
                                  "synced to disk"
                                : "nothing was changed, but the file cannot be "
                                  "synced to disk",
                            errno);
    if (!mf_journal_unlink(lock, fd))
        return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                              "%sthe journal cannot be removed: %s", start,
                              mf_errno_text(errno));
    if (!mf_journal_sync_folder(lock->place.folder))
        return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                              "%sthe journal may reappear after a crash: %s",
                              start, mf_errno_text(errno));
    return MF_OK;
}

/* Writes the old bytes again; false where that fails as well. */
static bool undo(const struct mf_lock *lock, const struct mf_journal *journal)
{
    struct mf_journal old = *journal;

    old.shows_old = true;
    return copy_patches(&old, lock->fd) && mf_journal_sync(lock->fd) &&
           mf_journal_unlink(lock, journal->fd);
}

static void count_written(struct mf_env *env, const struct mf_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++)
        env->io.bytes_written += journal->patch[i].size;
}

enum mf_status mf_journal_finish(struct mf_env *env, const struct mf_lock *lock,
                                 const struct mf_journal *journal)
{
    if (mf_check_change(env) != MF_OK)
        return env->error.status;
    if (!copy_patches(journal, lock->fd))
        return fail_keeping(env, lock, "the edit is incomplete", errno);
    count_written(env, journal);
    return mf_journal_remove(env, lock, journal->fd, true);
}

/* The journal is on the disk under its name: from here on readers see either
 * all old bytes or all new ones. */
static enum mf_status change(struct mf_env *env, const struct mf_lock *lock,
                             const struct mf_source *source,
                             const struct mf_journal *journal)
{
    enum mf_journal_state state = MF_JOURNAL_FOREIGN;
    int error;

    if (mf_source_unchanged(env, source) == MF_OK &&
        mf_lock_check(env, lock) == MF_OK &&
        mf_journal_compare(env, journal, lock->fd, &state) == MF_OK &&
        state != MF_JOURNAL_OLD)
        mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                "the file changed while it was edited");
    if (env->error.status != MF_OK) {
        /* Nothing was changed, so nothing is lost with it. */
        mf_journal_unlink(lock, journal->fd);
        return env->error.status;
    }
    if (!copy_patches(journal, lock->fd)) {
        error = errno;
        if (!undo(lock, journal))
            return fail_keeping(env, lock, "the edit is incomplete", error);
        return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
                              "cannot be edited: %s", mf_errno_text(error));
    }
    count_written(env, journal);
    return mf_journal_remove(env, lock, journal->fd, true);
}

enum mf_status mf_journal_apply(struct mf_env *env, const struct mf_lock *lock,
                                const struct mf_source *source,
                                const struct mf_journal_edit *edit)
{
    struct mf_journal journal = { .count = edit->count,
                                  .file_size = source->size };
    enum mf_status status;

    assert(lock->fd >= 0 && edit->count <= MF_PATCHES_MAX);
    memcpy(journal.patch, edit->patch, sizeof(journal.patch));
    status = mf_journal_make(env, lock, edit, &journal);
    if (status == MF_OK)
        status = change(env, lock, source, &journal);
    if (status == MF_OK && mf_lock_check(env, lock) != MF_OK) {
        mf_clear_error(env);
        status = mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                         "the edit was made, but the file was replaced by "
                         "another one meanwhile");
    }
    if (journal.fd >= 0)
        close(journal.fd);
    return status;
}

/* ---- files that are replaced ---- */

bool mf_journal_mark(int folder, const char *name, uid_t owner,
                     struct stat *out)
{
    char journal[NAME_MAX + 1];

    return mf_journal_name(name, journal) &&
           fstatat(folder, journal, out, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(out->st_mode) &&
           (out->st_uid == geteuid() || out->st_uid == owner);
}

void mf_journal_forget(int folder, const char *name, const struct stat *mark)
{
    char journal[NAME_MAX + 1];

    if (mf_journal_name(name, journal))
        (void)unlink_file(folder, journal, mark); /* harmless if it stays */
}
