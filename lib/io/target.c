/* SPDX-License-Identifier: MIT
 *
 * target.c - an output file that cannot be lost
 *
 * The order is: room for all bytes, bytes, fsync, rename, fsync of the folder.
 * Each call is asked again after EINTR and its failure is an error; none is
 * taken back by a later success.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* calls that only Linux has */
#endif
#include "lib/io/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/signals.h"
#include "lib/io/digest.h"
#include "lib/io/journal.h"
#include "lib/io/path.h"

#if defined(__linux__)
#include <sys/xattr.h>
#endif

#define WRITE_MAX  ((size_t)1 << 30)
#define MODE_PLAIN 0666 /* less the umask */
#define MODE_KEPT  0600 /* of what is not whole yet */

static enum mf_status fail(struct mf_env *env, const struct mf_target *target,
                           uint64_t offset, const char *what)
{
    int error = errno;
    char place[32] = "";

    /* An error's own offset is one of the file that is read. */
    if (offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), " at 0x%" PRIx64, offset);
    return mf_fail(
        env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' cannot be %s%s: %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what, place, strerror(error));
}

/* What the caller may do better, in words of ours. */
static enum mf_status fault(const struct mf_target *target, const char *what)
{
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what);
}

static const char foreign[] =
    "belongs to another user, in a folder where everyone may write: choose "
    "another name";

/* ---- what stands there ---- */

/* The target owns the path behind symbolic links: the file is written where
 * they lead. */
static enum mf_status follow_links(struct mf_target *target)
{
    char real[PATH_MAX];

    if (!mf_follow_links(target->path, real))
        return errno == EPERM
                   ? fault(target, "leads over a link that another user made "
                                   "in a folder where everyone may write: it "
                                   "is not followed")
                   : fail(target->env, target, MF_NO_OFFSET, "written");
    target->real_size = strlen(real) + 1;
    target->real = mf_alloc(target->env, target->real_size);
    if (!target->real)
        return target->env->error.status;
    memcpy(target->real, real, target->real_size);
    return MF_OK;
}

/* What the system sees at the path, by its own rules for links. */
static enum mf_status look(struct mf_target *target)
{
    int result;

    MF_AGAIN(result, stat(target->path, &target->old));
    target->is_new = result != 0;
    if (result != 0 && errno != ENOENT)
        return fail(target->env, target, MF_NO_OFFSET, "written");
    return MF_OK;
}

static bool is_old(const struct mf_target *target, const struct stat *status)
{
    return status->st_dev == target->old.st_dev &&
           status->st_ino == target->old.st_ino;
}

static const char *name_of(const struct mf_target *target)
{
    return target->real + mf_folder_size(target->real);
}

/* ---- a pipe or a device ---- */

/* Whoever reads a pipe may keep us waiting for ever.  A signal ends the wait;
 * then the caller says whether to go on. */
static enum mf_status ask(struct mf_env *env, const struct mf_target *target)
{
    const struct mf_env *asked = target->env;
    struct mf_progress progress = { 0 };

    if (!asked->progress || asked->progress(asked->progress_user, &progress))
        return MF_OK;
    return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET, "stopped before the end");
}

static enum mf_status open_stream(struct mf_target *target)
{
    bool dash = strcmp(target->path, "-") == 0;
    struct stat status;

    target->stream = true;
    do {
        target->fd = dash ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                          : open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (target->fd < 0 && errno != EINTR)
            return fail(target->env, target, MF_NO_OFFSET, "opened");
        if (target->fd >= 0 && !dash &&
            (fstat(target->fd, &status) != 0 || !is_old(target, &status)))
            return fault(target, "became another file while it was opened");
        if (target->fd >= 0)
            return MF_OK;
    } while (ask(target->env, target) == MF_OK);
    return target->env->error.status;
}

/* A pipe that somebody else put where everyone may make names is none that our
 * bytes were meant for.  What the path leads to without names, as /dev/fd/63
 * does, was opened by whoever started us. */
static enum mf_status open_named_stream(struct mf_target *target)
{
    int folder = mf_open_folder(target->real);
    struct stat status, around;
    bool planted =
        folder >= 0 && fstat(folder, &around) == 0 &&
        fstatat(folder, name_of(target), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_old(target, &status) && mf_is_planted(&around, &status);

    if (folder >= 0)
        close(folder);
    return planted ? fault(target, foreign) : open_stream(target);
}

/* ---- a file ---- */

static enum mf_status open_folder(struct mf_target *target)
{
    target->folder = mf_open_folder(target->real);
    return target->folder >= 0
               ? MF_OK
               : fail(target->env, target, MF_NO_OFFSET, "written");
}

/* What the system found at the end of the path has to be what our own way led
 * to, and has to be there to be replaced. */
static enum mf_status check_old(struct mf_target *target)
{
    const char *name = name_of(target);
    struct stat status, around;

    if (fstatat(target->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_old(target, &status))
        return fault(target, "is not where its name or link says");
    if (fstat(target->folder, &around) != 0)
        return fail(target->env, target, MF_NO_OFFSET, "replaced");
    if (mf_is_planted(&around, &status))
        return fault(target, foreign);
    if (faccessat(target->folder, name, W_OK, AT_EACCESS) != 0)
        return fail(target->env, target, MF_NO_OFFSET, "replaced");
    return MF_OK;
}

static int create(const struct mf_target *target, mode_t mode)
{
    int fd;

    MF_AGAIN(fd,
             openat(target->folder, target->temporary.name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    return fd;
}

/* The mode that the system would give a new file here, by the umask or by what
 * the folder passes on, is learnt from an empty one: the file itself is not to
 * be open to others before it is whole. */
static bool learn_mode(struct mf_target *target)
{
    int fd = create(target, MODE_PLAIN), error, result;
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

/* ---- the temporary file ---- */

static int create_temporary(struct mf_target *target)
{
    int tries = 100;

    do {
        mf_temporary_name(&target->temporary, name_of(target));
        if (!target->is_new || learn_mode(target))
            target->fd = create(target, MODE_KEPT);
    } while (target->fd < 0 && errno == EEXIST && --tries > 0);
    return target->fd;
}

/* No signal comes before it is known that there is something to take away. */
static enum mf_status open_temporary(struct mf_target *target)
{
    sigset_t before;
    int error;

    target->temporary.folder = target->folder;
    mf_signals_hold(&before);
    if (create_temporary(target) >= 0)
        mf_temporary_enlist(target->env, &target->temporary);
    error = errno;
    mf_signals_release(&before);
    if (target->fd >= 0)
        return MF_OK;
    *target->temporary.name = 0;
    errno = error;
    return fail(target->env, target, MF_NO_OFFSET, "written");
}

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
             openat(target->folder, name_of(target),
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd >= 0) {
        if (fstat(fd, &status) == 0 && is_old(target, &status))
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

/* Bytes that the file system still has for us; UINT64_MAX where it does not
 * say. What it keeps for root is root's. */
static uint64_t room_left(int fd)
{
    struct statvfs status;
    uint64_t blocks, room;
    int result;

    MF_AGAIN(result, fstatvfs(fd, &status));
    if (result != 0 || status.f_blocks == 0)
        return UINT64_MAX;
    blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail;
    return mf_mul(blocks, status.f_frsize, &room) ? room : UINT64_MAX;
}

/* By asking: what is taken in vain is missed meanwhile by whoever else writes
 * there. */
static enum mf_status check_room(const struct mf_target *target,
                                 const char *what, uint64_t size)
{
    uint64_t room = room_left(target->fd);

    if (size <= room)
        return MF_OK;
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
        "%s'%s' needs %" PRIu64 " bytes, its file system has %" PRIu64 " left",
        what,
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        size, room);
}

enum mf_status mf_target_check_more(const struct mf_target *target,
                                    uint64_t size)
{
    return target->stream ? MF_OK : check_room(target, "what goes with ", size);
}

/* A full disk is found out now, not after an hour. */
static enum mf_status take_room(struct mf_target *target)
{
    int result;

    if (target->size == 0)
        return MF_OK;
#if defined(__linux__)
    MF_AGAIN(result, fallocate(target->fd, 0, 0, (off_t)target->size));
    if (result == 0)
        return MF_OK;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return fail(target->env, target, MF_NO_OFFSET, "given its size");
#endif
    MF_AGAIN(result, ftruncate(target->fd, (off_t)target->size));
    return result == 0
               ? MF_OK
               : fail(target->env, target, MF_NO_OFFSET, "given its size");
}

static enum mf_status open_file(struct mf_target *target)
{
    enum mf_status status = open_folder(target);

    if (status == MF_OK && !target->is_new)
        status = check_old(target);
    if (status == MF_OK)
        status = open_temporary(target);
    if (status == MF_OK)
        status = check_room(target, "", target->size);
    return status == MF_OK ? take_room(target) : status;
}

static bool is_stream(const struct stat *status)
{
    return S_ISFIFO(status->st_mode) || S_ISCHR(status->st_mode) ||
           S_ISBLK(status->st_mode);
}

/* For what stands there and may be replaced, or for nothing. */
static enum mf_status open_real(struct mf_target *target)
{
    if (strcmp(target->path, "-") == 0)
        return open_stream(target);
    if (follow_links(target) != MF_OK || look(target) != MF_OK)
        return target->env->error.status;
    /* Also what a shell calls /dev/fd/63: a link to a pipe that has no name of
     * its own. */
    if (!target->is_new && is_stream(&target->old))
        return open_named_stream(target);
    if (!*target->real)
        return fault(target, "is no name of a file");
    if (!*name_of(target))
        return fault(target, "is a folder's name: behind the last slash that "
                             "of the file is missing");
    if (target->is_new)
        return open_file(target);
    if (!S_ISREG(target->old.st_mode)) {
        errno = S_ISDIR(target->old.st_mode) ? EISDIR : EINVAL;
        return fail(target->env, target, MF_NO_OFFSET, "written");
    }
    if (!target->replace) {
        target->env->error.exists = true;
        return fault(target, "exists already");
    }
    return open_file(target);
}

enum mf_status mf_target_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out)
{
    *out = (struct mf_target){ .env = env,
                               .path = path,
                               .size = size,
                               .folder = -1,
                               .fd = -1,
                               .replace = replace };
    if (size > INT64_MAX)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "%" PRIu64 " bytes are more than a file can have", size);
    if (open_real(out) == MF_OK)
        return MF_OK;
    mf_target_abort(out);
    return env->error.status;
}

/* ---- bytes ---- */

/* Whoever shares our end of a pipe may have made it one that does not wait. */
static void wait_for(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };

    poll(&ready, 1, -1); /* a signal ends it, too */
}

/* A write of nothing, which no file system should answer, would be tried for
 * ever. */
static ssize_t moved(ssize_t wrote)
{
    if (wrote != 0)
        return wrote;
    errno = EIO;
    return -1;
}

static enum mf_status stream_write(struct mf_env *env, struct mf_target *target,
                                   uint64_t offset, const uint8_t *bytes,
                                   size_t size)
{
    if (offset != target->streamed)
        return mf_fail(env, MF_ERR_ARGUMENT, offset,
                       "a pipe takes bytes in their order: the next one is "
                       "number %" PRIu64,
                       target->streamed);
    target->crc = mf_crc32(target->crc, bytes, size);
    while (size > 0) {
        ssize_t wrote;

        wrote = moved(write(target->fd, bytes, size));
        if (wrote < 0 && errno == EAGAIN)
            wait_for(target->fd);
        else if (wrote < 0 && errno != EINTR)
            return fail(env, target, target->streamed, "written");
        wrote = wrote < 0 ? 0 : wrote;
        /* Also what had begun is cut short by a signal. */
        if ((size_t)wrote < size && ask(env, target) != MF_OK)
            return env->error.status;
        bytes += wrote;
        size -= (size_t)wrote;
        target->streamed += (uint64_t)wrote;
        env->io.bytes_written += (uint64_t)wrote;
    }
    return MF_OK;
}

/* So much may wait to go to the disk.  What the threads wrote goes there while
 * they work on, so that little is left for the fsync at the end, which alone
 * decides whether all went well. */
#define BEHIND ((uint64_t)16 * 1024 * 1024)

static void write_behind(struct mf_env *env, struct mf_target *target,
                         uint64_t size)
{
    uint64_t before =
        atomic_fetch_add_explicit(&target->written, size, memory_order_relaxed);

    env->io.bytes_written += size;
#if defined(SYNC_FILE_RANGE_WRITE)
    if (before / BEHIND != (before + size) / BEHIND)
        sync_file_range(target->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)before;
#endif
}

enum mf_status mf_target_write(struct mf_env *env, struct mf_target *target,
                               uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    if (offset > target->size || size > target->size - offset)
        return mf_fail(env, MF_ERR_ARGUMENT, offset,
                       "%zu bytes do not fit behind %" PRIu64 " of %" PRIu64,
                       size, offset, target->size);
    if (target->stream)
        return stream_write(env, target, offset, from, size);
    while (size > 0) {
        ssize_t wrote;

        MF_AGAIN(wrote, moved(pwrite(target->fd, from,
                                     size < WRITE_MAX ? size : WRITE_MAX,
                                     (off_t)offset)));
        if (wrote < 0)
            return fail(env, target, offset, "written");
        from += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
        write_behind(env, target, (uint64_t)wrote);
    }
    return MF_OK;
}

size_t mf_target_copy(struct mf_env *env, struct mf_target *target,
                      uint64_t offset, const struct mf_source *source,
                      uint64_t from, size_t size)
{
#if defined(__linux__)
    off_t in = (off_t)from, out = (off_t)offset;
    ssize_t moved;

    if (target->stream || source->fd < 0 || source->journal ||
        from > source->size || size > source->size - from ||
        offset > target->size || size > target->size - offset)
        return 0;
    MF_AGAIN(moved,
             copy_file_range(source->fd, &in, target->fd, &out, size, 0));
    if (moved <= 0)
        return 0;
    env->io.bytes_read += (uint64_t)moved;
    write_behind(env, target, (uint64_t)moved);
    return (size_t)moved;
#else
    (void)env, (void)target, (void)offset, (void)source, (void)from, (void)size;
    return 0;
#endif
}

enum mf_status mf_target_read(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              void *bytes, size_t size)
{
    uint8_t *into = bytes;

    while (size > 0) {
        ssize_t got;

        MF_AGAIN(got, pread(target->fd, into, size, (off_t)offset));
        if (got < 0)
            return fail(env, target, offset, "read back");
        if (got == 0) {
            errno = EIO;
            return fail(env, target, offset, "read back");
        }
        into += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MF_OK;
}

/* ---- the end ---- */

enum mf_status mf_target_sync(struct mf_target *target)
{
    struct stat status;
    int result;

    if (target->stream)
        return MF_OK;
    if ((target->is_new ? set_mode(target) : inherit(target)) != 0)
        return fail(target->env, target, MF_NO_OFFSET, "given its mode");
    MF_AGAIN(result, fsync(target->fd));
    if (result != 0)
        return fail(target->env, target, MF_NO_OFFSET, "brought to the disk");
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
    const char *name = name_of(target);
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
                       name_of(target), RENAME_EXCHANGE));
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
    return fault(target, taken);
}

/* Only that one file is replaced.  Between a look and a rename another one
 * could come into its place: so the two change places, and are looked at then.
 * Where the system cannot do that, the moment between remains. */
static enum mf_status replace_one(struct mf_target *target,
                                  const struct stat *new)
{
    struct stat status;
    int result;

    if (!look_at(target, name_of(target), &status) ||
        !mf_same_file(&status, target->replaces))
        return fault(target, taken);
    if (!change_places(target)) {
        if ((errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) &&
            take_place(target) == 0)
            return MF_OK;
        return fail(target->env, target, MF_NO_OFFSET, "put into its place");
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
        target->folder, name_of(target),
        target->is_new ? geteuid() : target->old.st_uid, &journal);
    if (take_place(target) != 0)
        return fail(target->env, target, MF_NO_OFFSET, "put into its place");
    if (journalled)
        mf_journal_forget(target->folder, name_of(target), &journal);
    return MF_OK;
}

static enum mf_status commit(struct mf_target *target)
{
    struct stat new = { 0 };
    int result;

    if (!target->stream && fstat(target->fd, &new) != 0)
        return fail(target->env, target, MF_NO_OFFSET, "closed");
    result = close(target->fd);
    target->fd = -1;
    if (result != 0 && errno != EINTR) /* Linux has closed it all the same */
        return fail(target->env, target, MF_NO_OFFSET, "closed");
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

void mf_target_abort(struct mf_target *target)
{
    int result;

    if (target->fd >= 0)
        close(target->fd);
    if (*target->temporary.name) {
        MF_AGAIN(result, unlinkat(target->folder, target->temporary.name, 0));
    }
    if (target->env)
        mf_temporary_strike_off(target->env, &target->temporary);
    if (target->folder >= 0)
        close(target->folder);
    if (target->real)
        mf_release(target->env, target->real, target->real_size);
    *target = (struct mf_target)MF_TARGET_NONE;
}
