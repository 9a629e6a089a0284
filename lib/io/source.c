/* SPDX-License-Identifier: MIT
 *
 * source.c - bytes in: a file or memory, read at any offset
 */
#include "lib/io/source.h"

#include <errno.h>
#include <string.h>

#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/io/system.h"

/* Linux reads at most 2 GiB less a page at once. */
#define READ_MAX ((size_t)1 << 30)

bool mf_fd_read(int fd, uint64_t offset, void *bytes, size_t size)
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

/* Replaces the bytes read at offset that the overlay has; false with errno set
 * if it cannot be read. */
static bool apply_overlay(const struct mf_overlay *overlay, uint64_t offset,
                          uint8_t *buffer, size_t size)
{
    for (size_t i = 0; i < overlay->count; i++) {
        uint64_t start = overlay->span[i].offset;
        uint64_t stop = start + overlay->span[i].size;
        uint64_t from = offset > start ? offset : start;
        uint64_t end = offset + size < stop ? offset + size : stop;

        if (from < end &&
            !mf_fd_read(overlay->fd, overlay->span[i].at + (from - start),
                        buffer + (from - offset), (size_t)(end - from)))
            return false;
    }
    return true;
}

static void count_read(struct mf_io_stats *io, size_t size)
{
    io->reads++;
    io->bytes_read += size;
}

static int64_t file_read(const struct mf_source *source, uint64_t offset,
                         void *buffer, size_t size, struct mf_io_stats *io)
{
    ssize_t got;

    if (size > READ_MAX)
        size = READ_MAX;
    MF_AGAIN(got, pread(source->fd, buffer, size, (off_t)offset));
    if (got <= 0)
        return got;
    count_read(io, (size_t)got);
    return apply_overlay(&source->overlay, offset, buffer, (size_t)got) ? got
                                                                        : -1;
}

static uint64_t file_size_now(const struct mf_source *source)
{
    struct stat status;

    return fstat(source->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct mf_source_times times_of(const struct stat *status)
{
    return (struct mf_source_times){ nanoseconds(status->st_mtim),
                                     nanoseconds(status->st_ctim) };
}

static struct mf_source_times file_times_now(const struct mf_source *source)
{
    struct stat status;

    return fstat(source->fd, &status) == 0 ? times_of(&status)
                                           : (struct mf_source_times){ -1, -1 };
}

static void file_close(struct mf_source *source)
{
    close(source->fd);
    if (source->overlay.count > 0)
        close(source->overlay.fd);
}

static int64_t memory_read(const struct mf_source *source, uint64_t offset,
                           void *buffer, size_t size, struct mf_io_stats *io)
{
    uint64_t left = offset < source->there ? source->there - offset : 0;

    if (size > left)
        size = (size_t)left;
    if (size == 0 && offset < source->size) {
        errno = ENODATA; /* of a file whose beginning is here */
        return -1;
    }
    if (size == 0)
        return 0;
    memcpy(buffer, source->bytes + offset, size);
    count_read(io, size);
    return (int64_t)size;
}

static const struct mf_source_ops borrowed_ops = {
    .read = file_read, .size_now = file_size_now, .times_now = file_times_now
};
static const struct mf_source_ops file_ops = { .read = file_read,
                                               .size_now = file_size_now,
                                               .times_now = file_times_now,
                                               .close = file_close,
                                               .borrowed = &borrowed_ops };
static const struct mf_source_ops memory_ops = { .read = memory_read };

/* What a path leads to if not to a regular file. */
static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a folder";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

static enum mf_status check_regular(struct mf_env *env,
                                    const struct stat *status, bool *is_folder)
{
    if (S_ISREG(status->st_mode))
        return MF_OK;
    if (is_folder)
        *is_folder = S_ISDIR(status->st_mode);
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "this is %s, not a regular file%s", kind_of(status->st_mode),
                   S_ISDIR(status->st_mode)
                       ? ""
                       : ": the input must be seekable; save it to a file "
                         "first");
}

enum mf_status mf_source_open_file(struct mf_env *env, const char *path,
                                   struct mf_source *out, bool *is_folder)
{
    /* O_NONBLOCK: opening a pipe that has no writer must not hang; regular
     * files ignore it. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat status;
    int fd;

    MF_AGAIN(fd, openat(AT_FDCWD, path, flags));
    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        mf_fail_system(env, MF_ERR_IO, MF_NO_OFFSET, error,
                       "cannot be opened: %s", mf_errno_text(error));
        return mf_error_about(env, path);
    }
    if (check_regular(env, &status, is_folder) != MF_OK) {
        close(fd);
        return env->error.status;
    }
    *out = (struct mf_source){ .ops = &file_ops,
                               .name = path,
                               .size = (uint64_t)status.st_size,
                               .times = times_of(&status),
                               .fd = fd };
    return MF_OK;
}

enum mf_status mf_source_check_size(struct mf_env *env,
                                    const struct mf_source *source,
                                    uint64_t most)
{
    if (source->size <= most)
        return MF_OK;
    return mf_refuse(env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                     "it has %" PRIu64 " bytes, at most %" PRIu64 " are read",
                     source->size, most);
}

enum mf_status mf_source_check_fd(struct mf_env *env, int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &status) != 0)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "descriptor %d is not open", fd);
    if ((flags & O_ACCMODE) == O_WRONLY)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "descriptor %d is not open for reading", fd);
    return check_regular(env, &status, NULL);
}

void mf_source_open_fd(const char *path, int fd, struct mf_source *out)
{
    struct stat status = { 0 };

    fstat(fd, &status);
    *out = (struct mf_source){ .ops = &borrowed_ops,
                               .name = path,
                               .size = (uint64_t)status.st_size,
                               .times = times_of(&status),
                               .fd = fd };
}

struct mf_source mf_source_borrow(const struct mf_source *source)
{
    struct mf_source copy = *source;

    if (copy.ops->borrowed)
        copy.ops = copy.ops->borrowed;
    return copy;
}

void mf_source_open_memory(const char *name, const void *bytes, size_t size,
                           struct mf_source *out)
{
    *out = (struct mf_source){
        .ops = &memory_ops,
        .name = name,
        .size = size,
        .fd = -1,
        /* One that is not NULL says what kind of source this is. */
        .bytes = bytes ? bytes : (const uint8_t *)"",
        .there = size,
    };
}

enum mf_status mf_source_open_beginning(struct mf_env *env, const char *name,
                                        const void *bytes, size_t size,
                                        uint64_t file_size,
                                        struct mf_source *out)
{
    if (file_size < size || file_size > INT64_MAX)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%zu bytes are not the beginning of a file of %" PRIu64,
                       size, file_size);
    mf_source_open_memory(name, bytes, size, out);
    out->size = file_size;
    return MF_OK;
}

void mf_source_close(struct mf_source *source)
{
    if (source->ops && source->ops->close)
        source->ops->close(source);
    source->ops = NULL;
}

uint64_t mf_source_size_now(const struct mf_source *source)
{
    return source->ops->size_now ? source->ops->size_now(source) : source->size;
}

struct mf_source_times mf_source_times_now(const struct mf_source *source)
{
    return source->ops->times_now ? source->ops->times_now(source)
                                  : source->times;
}

static int64_t shut_read(const struct mf_source *source, uint64_t offset,
                         void *buffer, size_t size, struct mf_io_stats *io)
{
    (void)source, (void)offset, (void)buffer, (void)size, (void)io;
    errno = EBADF;
    return -1;
}

static const struct mf_source_ops shut_ops = { .read = shut_read };

void mf_source_shut(struct mf_source *source)
{
    mf_source_close(source);
    *source = (struct mf_source){ .ops = &shut_ops,
                                  .name = source->name,
                                  .size = source->size,
                                  .fd = -1,
                                  .stored = source->stored };
}

/* What errno says after a read that failed. */
static enum mf_status read_failed(struct mf_env *env, uint64_t offset)
{
    if (errno == ENOMEM)
        return mf_fail_system(env, MF_ERR_MEMORY, MF_NO_OFFSET, errno,
                              "no memory is left to read or unpack with");
    if (errno == ENOSPC)
        return mf_decline(
            env, MF_REASON_SCRATCH_SPACE, MF_NO_OFFSET,
            "a compressed tensor that is transposed, or one of many "
            "slices, is unpacked to a temporary file, and there "
            "is no room for one");
    if (errno == ECANCELED)
        return mf_fail_system(env, MF_ERR_STOPPED, MF_NO_OFFSET, errno,
                              "the source was cancelled");
    if (errno == EBADMSG)
        return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "the compressed data of a tensor is damaged");
    return mf_fail_system(env, MF_ERR_IO, offset, errno, "cannot be read: %s",
                          mf_errno_text(errno));
}

bool mf_source_fill(const struct mf_source *source, uint64_t offset,
                    uint8_t *into, size_t size, struct mf_io_stats *io)
{
    while (size > 0) {
        int64_t got = source->ops->read(source, offset, into, size, io);

        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return false;
        offset += (uint64_t)got;
        into += got;
        size -= (size_t)got;
    }
    return true;
}

/* What is not in memory, of a file of which the beginning is. */
static enum mf_status need_more(struct mf_env *env,
                                const struct mf_source *source, uint64_t end)
{
    if (end > source->size)
        end = source->size;
    mf_fail(env, MF_NEED_MORE, MF_NO_OFFSET,
            "%" PRIu64 " of the file's %" PRIu64 " bytes are needed, and "
            "%" PRIu64 " are there",
            end, source->size, source->there);
    if (env->error.status == MF_NEED_MORE)
        env->error.needed = end;
    return env->error.status;
}

/* Of bytes that are turned around, where the file has them. */
static uint64_t place_of(uint64_t offset)
{
    return offset & ~MF_SWAPPED_BIT;
}

static enum mf_status read_all(struct mf_env *env,
                               const struct mf_source *source, uint64_t offset,
                               void *buffer, size_t size)
{
    uint8_t *into = buffer;

    if ((offset < MF_STORED_BASE || offset & MF_SWAPPED_BIT) && source->bytes &&
        place_of(offset) + size > source->there && source->there < source->size)
        return need_more(env, source, place_of(offset) + size);
    while (size > 0) {
        int64_t got = source->ops->read(source, offset, into, size, &env->io);

        if (got < 0 && errno == ENODATA && source->there < source->size)
            need_more(env, source, source->there + 1);
        else if (got < 0)
            read_failed(env, place_of(offset));
        if (got == 0)
            mf_fail(env, MF_ERR_IO, place_of(offset),
                    "the file ends here, %zu bytes early: it was truncated "
                    "while it was read",
                    size);
        if (got <= 0)
            return mf_error_about(env, source->name);
        into += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MF_OK;
}

enum mf_status mf_source_read(struct mf_env *env,
                              const struct mf_source *source, uint64_t offset,
                              void *buffer, size_t size)
{
    struct mf_timed timed;
    enum mf_status status;

    if (size == 0)
        return MF_OK;
    timed = mf_timed_begin(env, MF_PHASE_READ);
    status = read_all(env, source, offset, buffer, size);
    mf_timed_end(env, timed);
    return status;
}

struct mf_source_id mf_source_identify(const struct mf_source *source)
{
    const void *own = source->bytes ? (const void *)source->bytes : source;
    struct stat status;

    if (source->fd >= 0 && fstat(source->fd, &status) == 0)
        return (struct mf_source_id){ status.st_dev, status.st_ino };
    /* No device has this number. */
    return (struct mf_source_id){ UINT64_MAX, (uintptr_t)own };
}

enum mf_status mf_source_unchanged(struct mf_env *env,
                                   const struct mf_source *source)
{
    uint64_t now = mf_source_size_now(source);

    if (now == source->size &&
        mf_source_times_now(source).written != source->times.written)
        return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                       "the file was written to while it was read");
    if (now == source->size)
        return MF_OK;
    return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                   "the file changed while it was read: it had %" PRIu64
                   " bytes when it was opened and has %" PRIu64 " now",
                   source->size, now);
}

enum mf_status mf_source_steady(struct mf_env *env, struct mf_source *source,
                                bool *touched)
{
    struct mf_source_times now;

    *touched = false;
    /* Asked for first: a change after this is found the next time. */
    now = mf_source_times_now(source);
    if (mf_source_unchanged(env, source) != MF_OK)
        return env->error.status;
    *touched = now.changed != source->times.changed;
    source->times = now;
    return MF_OK;
}
