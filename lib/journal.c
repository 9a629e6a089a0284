/* SPDX-License-Identifier: MIT
 *
 * journal.c - changing some bytes of a file so that a crash cannot leave half
 *
 * The journal, all numbers little-endian and of 64 bits:
 *
 *     "MFEDIT\1\n" | size of the file | count of patches
 *     count times: offset, size
 *     count times: the old bytes, the new bytes
 *
 * It takes its name when it is whole and on the disk, so one that is there can
 * be believed; that it belongs to the file is seen by the file's bytes, which
 * must be the old or the new ones.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* flock */
#endif
#include "lib/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/path.h"
#include "lib/target.h"

#define MAGIC        "MFEDIT\1\n"
#define HEAD_SIZE    24
#define PATCH_SIZE   16
#define CHUNK        ((size_t)64 * 1024)
#define SECTOR       512 /* what a disk writes whole or not at all */
#define PAGE         4096
#define JOURNAL_PATH (PATH_MAX + sizeof(MF_JOURNAL_SUFFIX))

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
        if (wrote < 0)
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

static enum mf_status fail(struct mf_env *env, enum mf_status status,
                           const char *path, const char *what)
{
    int error = errno;

    return mf_fail(env, status, MF_NO_OFFSET, "'%s' cannot be %s: %s",
                   mf_quote((struct mf_str){ path, strlen(path) }).text, what,
                   strerror(error));
}

static void journal_path(const char *real, char out[JOURNAL_PATH])
{
    strcpy(out, real);
    strcat(out, MF_JOURNAL_SUFFIX);
}

/* ---- reading a journal ---- */

/* False where its numbers cannot be those of a journal of that size. */
static bool place_patches(struct mf_journal *journal, uint64_t size)
{
    uint64_t at = HEAD_SIZE + PATCH_SIZE * journal->count;

    for (size_t i = 0; i < journal->count; i++) {
        struct mf_patch *patch = &journal->patch[i];

        patch->old_at = at;
        if (patch->offset > journal->file_size ||
            patch->size > journal->file_size - patch->offset || at > size ||
            patch->size > (size - at) / 2)
            return false;
        at += 2 * patch->size;
    }
    return at == size;
}

/* False with errno set; EINVAL where the file is no journal. */
static bool read_journal(struct mf_journal *journal)
{
    uint8_t bytes[HEAD_SIZE + PATCH_SIZE * MF_PATCHES_MAX];
    struct stat status;

    if (fstat(journal->fd, &status) != 0 ||
        !read_all(journal->fd, 0, bytes, HEAD_SIZE))
        return false;
    journal->file_size = get(bytes + 8);
    journal->count = (size_t)get(bytes + 16);
    errno = EINVAL;
    if (memcmp(bytes, MAGIC, 8) != 0 || journal->count > MF_PATCHES_MAX)
        return false;
    if (!read_all(journal->fd, HEAD_SIZE, bytes, PATCH_SIZE * journal->count))
        return false;
    for (size_t i = 0; i < journal->count; i++) {
        journal->patch[i].offset = get(bytes + PATCH_SIZE * i);
        journal->patch[i].size = get(bytes + PATCH_SIZE * i + 8);
    }
    errno = EINVAL;
    return place_patches(journal, (uint64_t)status.st_size);
}

/* Whether each sector of the file holds what it held before, or what it is to
 * hold.  *done: all hold the latter. */
static bool belongs(const struct mf_journal *journal, int fd, bool *done)
{
    uint8_t now[SECTOR], old[SECTOR], new[SECTOR];
    struct stat status;

    *done = true;
    if (fstat(fd, &status) != 0 ||
        (uint64_t)status.st_size != journal->file_size)
        return false;
    for (size_t i = 0; i < journal->count; i++) {
        const struct mf_patch *patch = &journal->patch[i];

        for (uint64_t at = 0, size; at < patch->size; at += size) {
            uint64_t left = patch->size - at;

            /* To the end of a sector of the file. */
            size = SECTOR - (patch->offset + at) % SECTOR;
            size = size < left ? size : left;
            if (!read_all(fd, patch->offset + at, now, (size_t)size) ||
                !read_all(journal->fd, patch->old_at + at, old, (size_t)size) ||
                !read_all(journal->fd, patch->old_at + patch->size + at, new,
                          (size_t)size))
                return false;
            if (memcmp(now, new, (size_t)size) == 0)
                continue;
            *done = false;
            if (memcmp(now, old, (size_t)size) != 0)
                return false;
        }
    }
    return true;
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

        if (from < end &&
            !read_all(journal->fd,
                      patch->old_at + patch->size + (from - patch->offset),
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

/* ---- bringing a change to its end ---- */

/* A write may be the last: each ends where a sector does, so that every sector
 * is old or new, as belongs() will want it. */
static bool copy_patch(const struct mf_journal *journal,
                       const struct mf_patch *patch, int fd, uint8_t *chunk)
{
    for (uint64_t at = 0, size; at < patch->size; at += size) {
        uint64_t left = patch->size - at;

        size = CHUNK - (patch->offset + at) % CHUNK;
        size = size < left ? size : left;
        if (!read_all(journal->fd, patch->old_at + patch->size + at, chunk,
                      (size_t)size) ||
            !write_all(fd, patch->offset + at, chunk, (size_t)size))
            return false;
    }
    return true;
}

/* All new bytes into the file and onto the disk; then the journal goes. */
static bool finish(const struct mf_journal *journal, int fd, const char *path,
                   uint8_t *chunk)
{
    char name[JOURNAL_PATH];
    int folder, result;

    for (size_t i = 0; i < journal->count; i++)
        if (!copy_patch(journal, &journal->patch[i], fd, chunk))
            return false;
    if (!sync_file(fd))
        return false;
    journal_path(path, name);
    MF_AGAIN(result, unlink(name));
    if (result != 0 && errno != ENOENT) /* another process was faster */
        return false;
    folder = mf_open_folder(path);
    result = folder >= 0 && (sync_file(folder) || errno == EINVAL);
    if (folder >= 0)
        close(folder);
    return result;
}

void mf_journal_forget(const char *real)
{
    char name[JOURNAL_PATH];
    int result;

    if (strlen(real) >= PATH_MAX)
        return;
    journal_path(real, name);
    MF_AGAIN(result, unlink(name)); /* mostly there is none */
}

/* A lock that others respect who edit; -1 where the file may not be written,
 * or is being edited. */
static int open_locked(const char *path)
{
    int fd, result;

    MF_AGAIN(fd, open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return -1;
    MF_AGAIN(result, flock(fd, LOCK_EX | LOCK_NB));
    if (result == 0)
        return fd;
    result = errno;
    close(fd);
    errno = result;
    return -1;
}

static enum mf_status stale(struct mf_env *env, const char *name)
{
    return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                   "beside it stands '%s', the journal of an edit of another "
                   "file of this name: remove it",
                   mf_quote((struct mf_str){ name, strlen(name) }).text);
}

/* True where the change is done, in the file that is open to be written. */
static bool try_finish(struct mf_env *env, const struct mf_journal *journal,
                       int fd, const char *real)
{
    uint8_t *chunk = mf_alloc(env, CHUNK);
    bool done = chunk && finish(journal, fd, real, chunk);
    int error = chunk ? errno : ENOMEM;

    mf_release(env, chunk, CHUNK);
    errno = error;
    return done;
}

/* The same where it may be that somebody else is at it, or has just been. */
static bool try_recover(struct mf_env *env, const struct mf_journal *journal,
                        const char *real)
{
    int fd = open_locked(real);
    bool ours, done;

    if (fd < 0)
        return false;
    done = belongs(journal, fd, &ours) && try_finish(env, journal, fd, real);
    close(fd);
    return done;
}

enum mf_status mf_journal_recover(struct mf_env *env, const char *path, int fd,
                                  struct mf_journal **out)
{
    char real[PATH_MAX], name[JOURNAL_PATH];
    struct mf_journal journal = { .fd = -1 };
    bool done;

    *out = NULL;
    if (!mf_follow_links(path, real))
        return MF_OK; /* it is open all the same, by a way of its own */
    journal_path(real, name);
    if (access(name, F_OK) != 0)
        return MF_OK;
    MF_AGAIN(journal.fd, open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (journal.fd < 0)
        return errno == ENOENT ? MF_OK : fail(env, MF_ERR_IO, name, "opened");
    if (!read_journal(&journal) || !belongs(&journal, fd, &done)) {
        close(journal.fd);
        return stale(env, name);
    }
    /* Another process may have been faster. */
    if (!try_recover(env, &journal, real) && access(name, F_OK) == 0) {
        mf_clear_error(env);
        *out = mf_alloc(env, sizeof(**out));
        if (*out) {
            **out = journal;
            return MF_OK;
        }
    }
    close(journal.fd);
    return env->error.status;
}

/* ---- an edit ---- */

struct writing {
    struct mf_target *target; /* the journal, or NULL: page */
    uint64_t at;
    uint8_t *page;
    size_t room;
    struct mf_env *env;
};

static enum mf_status put(void *user, const void *bytes, size_t size)
{
    struct writing *writing = user;

    if (writing->target) {
        if (mf_target_write(writing->env, writing->target, writing->at, bytes,
                            size) != MF_OK)
            return writing->env->error.status;
    } else {
        if (size > writing->room - writing->at)
            return mf_fail(writing->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                           "an edit has more bytes than it said");
        memcpy(writing->page + writing->at, bytes, size);
    }
    writing->at += size;
    return MF_OK;
}

static enum mf_status write_page(struct mf_env *env, const char *path, int fd,
                                 const struct mf_journal_edit *edit)
{
    const struct mf_patch *patch = &edit->patch[0];
    uint8_t page[PAGE];
    struct writing writing = { .env = env, .page = page };

    writing.room = (size_t)patch->size;
    if (edit->fill(edit->user, 0, put, &writing) != MF_OK)
        return env->error.status;
    if (write_all(fd, patch->offset, page, (size_t)writing.at) && sync_file(fd))
        return MF_OK;
    return fail(env, MF_ERR_OUTPUT, path, "written");
}

static enum mf_status put_old(struct writing *writing, int fd,
                              const struct mf_patch *patch)
{
    uint8_t bytes[PAGE];

    for (uint64_t at = 0; at < patch->size; at += sizeof(bytes)) {
        uint64_t left = patch->size - at;
        size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

        if (!read_all(fd, patch->offset + at, bytes, size))
            return mf_fail(writing->env, MF_ERR_IO, patch->offset + at,
                           "cannot be read: %s", strerror(errno));
        if (put(writing, bytes, size) != MF_OK)
            return writing->env->error.status;
    }
    return MF_OK;
}

static enum mf_status write_journal(struct mf_target *target, int fd,
                                    const struct mf_journal *journal,
                                    const struct mf_journal_edit *edit)
{
    uint8_t head[HEAD_SIZE + PATCH_SIZE * MF_PATCHES_MAX] = MAGIC;
    struct writing writing = { .env = target->env, .target = target };
    enum mf_status status;

    set(head + 8, journal->file_size);
    set(head + 16, journal->count);
    for (size_t i = 0; i < journal->count; i++) {
        set(head + HEAD_SIZE + PATCH_SIZE * i, journal->patch[i].offset);
        set(head + HEAD_SIZE + PATCH_SIZE * i + 8, journal->patch[i].size);
    }
    status = put(&writing, head, HEAD_SIZE + PATCH_SIZE * journal->count);
    for (size_t i = 0; i < journal->count && status == MF_OK; i++) {
        status = put_old(&writing, fd, &journal->patch[i]);
        if (status == MF_OK)
            status = edit->fill(edit->user, i, put, &writing);
    }
    if (status == MF_OK && writing.at != target->size)
        status = mf_fail(target->env, MF_ERR_IO, MF_NO_OFFSET,
                         "the file changed while it was edited");
    return status == MF_OK ? mf_target_sync(target) : status;
}

static enum mf_status with_journal(struct mf_env *env, const char *real, int fd,
                                   const struct mf_journal_edit *edit)
{
    struct mf_journal journal = { .fd = -1, .count = edit->count };
    struct mf_target target = MF_TARGET_NONE;
    uint64_t size = HEAD_SIZE + PATCH_SIZE * edit->count;
    char name[JOURNAL_PATH];
    struct stat now;
    enum mf_status status;

    if (fstat(fd, &now) != 0)
        return fail(env, MF_ERR_OUTPUT, real, "edited");
    journal.file_size = (uint64_t)now.st_size;
    memcpy(journal.patch, edit->patch, sizeof(journal.patch));
    for (size_t i = 0; i < edit->count; i++)
        size += 2 * edit->patch[i].size;
    journal_path(real, name);
    status = mf_target_open(env, name, size, true, &target);
    if (status == MF_OK)
        status = write_journal(&target, fd, &journal, edit);
    if (status == MF_OK)
        status = mf_target_commit(&target);
    mf_target_abort(&target);
    if (status != MF_OK)
        return status;
    /* From here on the change is made, by us or by the next who looks. */
    MF_AGAIN(journal.fd, open(name, O_RDONLY | O_CLOEXEC));
    if (journal.fd < 0 || !place_patches(&journal, size) ||
        !try_finish(env, &journal, fd, real))
        status = fail(env, MF_ERR_OUTPUT, real, "edited");
    if (journal.fd >= 0)
        close(journal.fd);
    return status;
}

static bool within_page(const struct mf_journal_edit *edit)
{
    const struct mf_patch *patch = &edit->patch[0];

    return edit->count == 1 && patch->size > 0 &&
           patch->offset / PAGE == (patch->offset + patch->size - 1) / PAGE;
}

enum mf_status mf_journal_apply(struct mf_env *env, const char *path,
                                const struct mf_journal_edit *edit,
                                bool *journalled)
{
    char real[PATH_MAX];
    enum mf_status status;
    int fd;

    if (!mf_follow_links(path, real))
        return fail(env, MF_ERR_OUTPUT, path, "edited");
    fd = open_locked(real);
    if (fd < 0)
        return fail(env, MF_ERR_OUTPUT, path, "edited");
    *journalled = !within_page(edit);
    status = !*journalled ? write_page(env, path, fd, edit)
                          : with_journal(env, real, fd, edit);
    close(fd);
    for (size_t i = 0; i < edit->count && status == MF_OK; i++)
        env->io.bytes_written += edit->patch[i].size;
    return status;
}
