/* SPDX-License-Identifier: MIT
 *
 * journal.c - changing some bytes of a file so that a crash cannot leave half
 *
 * The journal, all numbers little-endian and of 64 bits:
 *
 *     "MFEDIT\2\n" | size of the file | count of patches
 *     count times: offset, size
 *     count times: the old bytes, the new bytes
 *     the XXH3 of 128 bits of all that
 *
 * It takes its name when it is whole and on the disk.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* renameat2 */
#endif
#include "lib/io/journal.h"

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
#include "lib/io/source.h"
#include "lib/io/temporary.h"

#define MAGIC       "MFEDIT\2\n"
#define HEAD_SIZE   24
#define PATCH_SIZE  16
#define DIGEST_SIZE 16
#define CHUNK       ((size_t)16 * 1024)

/* ---- bytes ---- */

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0;

    for (int i = 8; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void set(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static bool read_all(int fd, uint64_t offset, void *bytes, size_t size)
{
    uint8_t *into = bytes;

    while (size > 0) {
        ssize_t got;

        MF_AGAIN(got, pread(fd, into, size, (off_t)offset));
        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return false;
        into += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        ssize_t wrote;

        MF_AGAIN(wrote, pwrite(fd, from, size, (off_t)offset));
        if (wrote == 0) /* it would be tried for ever */
            errno = EIO;
        if (wrote <= 0)
            return false;
        from += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static bool sync_file(int fd)
{
    int result;

    MF_AGAIN(result, fsync(fd));
    return result == 0;
}

/* Some file systems cannot. */
static bool sync_folder(int fd)
{
    return sync_file(fd) || errno == EINVAL;
}

static size_t piece(uint64_t left)
{
    return left < CHUNK ? (size_t)left : CHUNK;
}

bool mf_journal_name(const char *name, char out[NAME_MAX + 1])
{
    if (strlen(name) + strlen(MF_JOURNAL_SUFFIX) > NAME_MAX)
        return false;
    strcpy(out, name);
    strcat(out, MF_JOURNAL_SUFFIX);
    return true;
}

/* ---- reading a journal ---- */

/* False where its numbers cannot be those of a journal of that size. */
static bool place_patches(struct mf_journal *journal, uint64_t size)
{
    uint64_t at = HEAD_SIZE + PATCH_SIZE * journal->count, behind = 0;

    size -= DIGEST_SIZE;
    for (size_t i = 0; i < journal->count; i++) {
        struct mf_patch *patch = &journal->patch[i];

        patch->old_at = at;
        if (patch->size == 0 || patch->offset < behind ||
            patch->offset > journal->file_size ||
            patch->size > journal->file_size - patch->offset || at > size ||
            patch->size > (size - at) / 2)
            return false;
        behind = patch->offset + patch->size;
        at += 2 * patch->size;
    }
    return at == size;
}

/* Size and numbers, before anything else is read. */
static const char *read_head(struct mf_journal *journal, uint64_t size)
{
    uint8_t bytes[HEAD_SIZE + PATCH_SIZE * MF_PATCHES_MAX];
    uint64_t count;

    if (size > MF_JOURNAL_MAX)
        return "is larger than a journal can be";
    if (size < HEAD_SIZE + PATCH_SIZE + DIGEST_SIZE ||
        !read_all(journal->fd, 0, bytes, HEAD_SIZE) ||
        memcmp(bytes, MAGIC, 8) != 0)
        return "is not a journal of this version";
    journal->file_size = get(bytes + 8);
    count = get(bytes + 16);
    if (count < 1 || count > MF_PATCHES_MAX ||
        size < HEAD_SIZE + PATCH_SIZE * count + DIGEST_SIZE ||
        !read_all(journal->fd, HEAD_SIZE, bytes, PATCH_SIZE * (size_t)count))
        return "is damaged: its count of patches is invalid";
    journal->count = (size_t)count;
    for (size_t i = 0; i < journal->count; i++) {
        journal->patch[i].offset = get(bytes + PATCH_SIZE * i);
        journal->patch[i].size = get(bytes + PATCH_SIZE * i + 8);
    }
    return place_patches(journal, size)
               ? NULL
               : "is damaged: a patch is out of bounds";
}

static const char *check_digest(struct mf_digest *digest, int fd, uint64_t size)
{
    uint8_t bytes[4096], said[DIGEST_SIZE], found[MF_DIGEST_MAX];

    size -= DIGEST_SIZE;
    for (uint64_t at = 0, some; at < size; at += some) {
        some = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
        if (!read_all(fd, at, bytes, (size_t)some))
            return "cannot be read";
        mf_digest_add(digest, bytes, (size_t)some);
    }
    if (!read_all(fd, size, said, sizeof(said)))
        return "cannot be read";
    mf_digest_finish(digest, found);
    return memcmp(said, found, sizeof(said)) == 0
               ? NULL
               : "is damaged: its checksum does not match";
}

enum mf_status mf_journal_read(struct mf_env *env, int fd,
                               struct mf_journal *out, const char **why)
{
    struct mf_journal journal = { .fd = fd };
    struct mf_digest *digest;
    struct stat status;

    *why = fstat(fd, &status) == 0
               ? read_head(&journal, (uint64_t)status.st_size)
               : "cannot be read";
    if (*why)
        return MF_OK;
    digest = mf_digest_new(env, MF_XXH3_128);
    if (!digest)
        return env->error.status;
    *why = check_digest(digest, fd, (uint64_t)status.st_size);
    mf_digest_free(digest);
    *out = journal;
    return MF_OK;
}

/* ---- what a file holds ---- */

struct comparing {
    uint8_t now[CHUNK], old[CHUNK], new[CHUNK];
    bool some_old, some_new, foreign;
};

static void compare_chunk(struct comparing *comparing, size_t size)
{
    const uint8_t *now = comparing->now;

    for (size_t i = 0; i < size; i++) {
        bool is_old = now[i] == comparing->old[i];
        bool is_new = now[i] == comparing->new[i];

        comparing->some_old |= is_old && !is_new;
        comparing->some_new |= is_new && !is_old;
        comparing->foreign |= !is_old && !is_new;
    }
}

static bool compare_patch(struct comparing *comparing,
                          const struct mf_journal *journal,
                          const struct mf_patch *patch, int fd)
{
    size_t size;

    for (uint64_t at = 0; at < patch->size && !comparing->foreign; at += size) {
        uint64_t old_at = patch->old_at + at;

        size = piece(patch->size - at);
        if (!read_all(fd, patch->offset + at, comparing->now, size) ||
            !read_all(journal->fd, old_at, comparing->old, size) ||
            !read_all(journal->fd, old_at + patch->size, comparing->new, size))
            return false;
        compare_chunk(comparing, size);
    }
    return true;
}

static bool compare(struct comparing *comparing,
                    const struct mf_journal *journal, int fd)
{
    struct stat status;

    comparing->some_old = comparing->some_new = false;
    if (fstat(fd, &status) != 0)
        return false;
    comparing->foreign = (uint64_t)status.st_size != journal->file_size;
    for (size_t i = 0; i < journal->count && !comparing->foreign; i++)
        if (!compare_patch(comparing, journal, &journal->patch[i], fd))
            return false;
    return true;
}

enum mf_status mf_journal_compare(struct mf_env *env,
                                  const struct mf_journal *journal, int fd,
                                  enum mf_journal_state *out)
{
    struct comparing *comparing = mf_alloc(env, sizeof(*comparing));

    if (!comparing)
        return env->error.status;
    if (!compare(comparing, journal, fd))
        mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                "cannot be compared with its journal: %s", strerror(errno));
    else if (comparing->foreign)
        *out = MF_JOURNAL_FOREIGN;
    else if (comparing->some_old)
        *out = comparing->some_new ? MF_JOURNAL_MIXED : MF_JOURNAL_OLD;
    else
        *out = MF_JOURNAL_NEW;
    mf_release(env, comparing, sizeof(*comparing));
    return env->error.status;
}

bool mf_journal_cover(const struct mf_journal *journal, uint64_t offset,
                      uint8_t *buffer, size_t size)
{
    for (size_t i = 0; i < journal->count; i++) {
        const struct mf_patch *patch = &journal->patch[i];
        uint64_t from = offset > patch->offset ? offset : patch->offset;
        uint64_t end = offset + size < patch->offset + patch->size
                           ? offset + size
                           : patch->offset + patch->size;
        uint64_t at = patch->old_at + (journal->shows_old ? 0 : patch->size);

        if (from < end &&
            !read_all(journal->fd, at + (from - patch->offset),
                      buffer + (from - offset), (size_t)(end - from)))
            return false;
    }
    return true;
}

void mf_journal_close(struct mf_env *env, struct mf_journal *journal)
{
    if (!journal)
        return;
    close(journal->fd);
    mf_release(env, journal, sizeof(*journal));
}

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

static enum mf_status put(void *user, const void *bytes, size_t size)
{
    struct writing *writing = user;

    if (!write_all(writing->fd, writing->at, bytes, size))
        return cannot(writing->env, "written");
    mf_digest_add(writing->digest, bytes, size);
    writing->at += size;
    writing->env->io.bytes_written += size;
    return MF_OK;
}

static enum mf_status put_head(struct writing *writing,
                               const struct mf_journal *journal)
{
    uint8_t head[HEAD_SIZE + PATCH_SIZE * MF_PATCHES_MAX] = MAGIC;

    set(head + 8, journal->file_size);
    set(head + 16, journal->count);
    for (size_t i = 0; i < journal->count; i++) {
        set(head + HEAD_SIZE + PATCH_SIZE * i, journal->patch[i].offset);
        set(head + HEAD_SIZE + PATCH_SIZE * i + 8, journal->patch[i].size);
    }
    return put(writing, head, HEAD_SIZE + PATCH_SIZE * journal->count);
}

static enum mf_status put_old(struct writing *writing,
                              const struct mf_patch *patch)
{
    uint8_t bytes[4096];

    for (uint64_t at = 0, some; at < patch->size; at += some) {
        some = patch->size - at;
        some = some < sizeof(bytes) ? some : sizeof(bytes);
        if (!read_all(writing->lock->fd, patch->offset + at, bytes,
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
    if (status == MF_OK && writing->at != size - DIGEST_SIZE)
        status = mf_fail(writing->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the file changed while it was edited");
    if (status != MF_OK)
        return status;
    mf_digest_finish(writing->digest, digest);
    return put(writing, digest, DIGEST_SIZE);
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

/* ---- applying one ---- */

static bool copy_patch(const struct mf_journal *journal,
                       const struct mf_patch *patch, int fd, uint8_t *chunk)
{
    uint64_t from = patch->old_at + (journal->shows_old ? 0 : patch->size);
    size_t size;

    for (uint64_t at = 0; at < patch->size; at += size) {
        size = piece(patch->size - at);
        if (!read_all(journal->fd, from + at, chunk, size) ||
            !write_all(fd, patch->offset + at, chunk, size))
            return false;
    }
    return true;
}

static bool copy_patches(const struct mf_journal *journal, int fd)
{
    uint8_t chunk[CHUNK];

    for (size_t i = 0; i < journal->count; i++)
        if (!copy_patch(journal, &journal->patch[i], fd, chunk))
            return false;
    return true;
}

/* Takes the name away where that file has it.  What stands there by now may be
 * the journal of another file that has taken the place of ours. */
static bool unlink_file(int folder, const char *name, const struct stat *file)
{
    struct stat there;
    int result;

    MF_AGAIN(result, fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW));
    if (result == 0 && mf_same_file(&there, file))
        MF_AGAIN(result, unlinkat(folder, name, 0));
    return result == 0 || errno == ENOENT;
}

static bool unlink_journal(const struct mf_lock *lock, int fd)
{
    char name[NAME_MAX + 1];
    struct stat status;

    return fstat(fd, &status) == 0 && mf_journal_name(lock->place.name, name) &&
           unlink_file(lock->place.folder, name, &status);
}

static enum mf_status unfinished(struct mf_env *env, const struct mf_lock *lock,
                                 const char *what, int error)
{
    return mf_fail(
        env, MF_ERR_OUTPUT, MF_NO_OFFSET, "%s: %s; '%s%s' keeps the edit", what,
        strerror(error),
        mf_quote((struct mf_str){ lock->place.name, strlen(lock->place.name) })
            .text,
        MF_JOURNAL_SUFFIX);
}

enum mf_status mf_journal_remove(struct mf_env *env, const struct mf_lock *lock,
                                 int fd, bool made)
{
    const char *start =
        made ? "the edit was made, but " : "nothing was changed, and ";

    if (!sync_file(lock->fd))
        return unfinished(env, lock,
                          made ? "the edit was made, but may not last: the "
                                 "file cannot be brought to the disk"
                               : "nothing was changed, and the file cannot be "
                                 "brought to the disk",
                          errno);
    if (!unlink_journal(lock, fd))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "%sthe journal cannot be removed: %s", start,
                       strerror(errno));
    if (!sync_folder(lock->place.folder))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "%sthe journal may come back after a crash: %s", start,
                       strerror(errno));
    return MF_OK;
}

/* Back to what it was; false where that fails as well. */
static bool undo(const struct mf_lock *lock, const struct mf_journal *journal)
{
    struct mf_journal old = *journal;

    old.shows_old = true;
    return copy_patches(&old, lock->fd) && sync_file(lock->fd) &&
           unlink_journal(lock, journal->fd);
}

enum mf_status mf_journal_finish(struct mf_env *env, const struct mf_lock *lock,
                                 const struct mf_journal *journal)
{
    if (!copy_patches(journal, lock->fd))
        return unfinished(env, lock, "the edit is not finished", errno);
    for (size_t i = 0; i < journal->count; i++)
        env->io.bytes_written += journal->patch[i].size;
    return mf_journal_remove(env, lock, journal->fd, true);
}

/* The journal has its name, on the disk.  From here on whoever sees new bytes
 * in the file sees all of them. */
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
        unlink_journal(lock,
                       journal->fd); /* no byte is new: it means nothing */
        return env->error.status;
    }
    if (!copy_patches(journal, lock->fd)) {
        error = errno;
        if (!undo(lock, journal))
            return unfinished(env, lock, "the edit is not finished", error);
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET, "cannot be edited: %s",
                       strerror(error));
    }
    for (size_t i = 0; i < journal->count; i++)
        env->io.bytes_written += journal->patch[i].size;
    return mf_journal_remove(env, lock, journal->fd, true);
}

static uint64_t journal_size(const struct mf_journal_edit *edit)
{
    uint64_t size = HEAD_SIZE + PATCH_SIZE * edit->count + DIGEST_SIZE;

    for (size_t i = 0; i < edit->count; i++)
        size += 2 * edit->patch[i].size;
    return size;
}

bool mf_journal_possible(const struct mf_lock *lock,
                         const struct mf_journal_edit *edit)
{
    char name[NAME_MAX + 1];

    return can_own(lock) && mf_journal_name(lock->place.name, name) &&
           journal_size(edit) <= MF_JOURNAL_MAX;
}

static enum mf_status apply(struct writing *writing,
                            const struct mf_source *source,
                            const struct mf_journal_edit *edit)
{
    const struct mf_lock *lock = writing->lock;
    struct mf_journal journal = { .count = edit->count,
                                  .file_size = source->size };
    uint64_t size = journal_size(edit);

    memcpy(journal.patch, edit->patch, sizeof(journal.patch));
    if (!mf_journal_name(lock->place.name, writing->name) ||
        !place_patches(&journal, size))
        return mf_fail(writing->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "an edit without a possible journal");
    if (create(writing) != MF_OK)
        return writing->env->error.status;
    journal.fd = writing->fd;
    if (fill_journal(writing, &journal, edit, size) != MF_OK ||
        set_owner(writing) != MF_OK)
        return writing->env->error.status;
    if (!sync_file(writing->fd))
        return cannot(writing->env, "brought to the disk");
    if (take_name(writing) != MF_OK)
        return writing->env->error.status;
    if (!sync_folder(lock->place.folder)) {
        cannot(writing->env, "brought to the disk with its name");
        unlink_journal(lock, writing->fd);
        return writing->env->error.status;
    }
    if (change(writing->env, lock, source, &journal) != MF_OK)
        return writing->env->error.status;
    if (mf_lock_check(writing->env, lock) == MF_OK)
        return MF_OK;
    mf_clear_error(writing->env);
    return mf_fail(writing->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "the edit was made, but another file has taken the place of "
                   "the edited one");
}

enum mf_status mf_journal_apply(struct mf_env *env, const struct mf_lock *lock,
                                const struct mf_source *source,
                                const struct mf_journal_edit *edit)
{
    struct writing writing = { .env = env, .lock = lock, .fd = -1 };
    enum mf_status status;

    writing.digest = mf_digest_new(env, MF_XXH3_128);
    if (!writing.digest)
        return env->error.status;
    status = apply(&writing, source, edit);
    forget_temporary(&writing);
    if (writing.fd >= 0)
        close(writing.fd);
    mf_digest_free(writing.digest);
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
        (void)unlink_file(folder, journal, mark); /* harmless where it stays */
}
