/* SPDX-License-Identifier: MIT
 *
 * source.c - where bytes come from: a file or memory
 */
#include "lib/io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io/journal.h"
#include "lib/io/path.h"

/* Linux reads at most 2 GiB less a page at once. */
#define READ_MAX ((size_t)1 << 30)

static int64_t file_read(const struct mf_source *source, uint64_t offset,
                         void *buffer, size_t size)
{
    ssize_t got;

    if (size > READ_MAX)
        size = READ_MAX;
    do {
        got = pread(source->fd, buffer, size, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    if (got > 0 && source->journal &&
        !mf_journal_cover(source->journal, offset, buffer, (size_t)got))
        return -1;
    return got;
}

static uint64_t file_size_now(const struct mf_source *source)
{
    struct stat status;

    return fstat(source->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* When the file was written last, in nanoseconds. */
static int64_t time_of(const struct stat *status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 +
           status->st_mtim.tv_nsec;
}

static int64_t file_time_now(const struct mf_source *source)
{
    struct stat status;

    return fstat(source->fd, &status) == 0 ? time_of(&status) : -1;
}

static void file_close(struct mf_source *source)
{
    close(source->fd);
    mf_journal_close(source->env, source->journal);
}

static void keep_open(struct mf_source *source)
{
    (void)source;
}

static int64_t memory_read(const struct mf_source *source, uint64_t offset,
                           void *buffer, size_t size)
{
    uint64_t left = offset < source->size ? source->size - offset : 0;

    if (size > left)
        size = (size_t)left;
    if (size > 0)
        memcpy(buffer, source->bytes + offset, size);
    return (int64_t)size;
}

static uint64_t memory_size_now(const struct mf_source *source)
{
    return source->size;
}

static const struct mf_source_ops file_ops = { file_read, file_size_now,
                                               file_time_now, file_close };
static const struct mf_source_ops borrowed_ops = { file_read, file_size_now,
                                                   file_time_now, keep_open };
static const struct mf_source_ops memory_ops = { memory_read, memory_size_now,
                                                 NULL, keep_open };

/* What is at the end of a path when it is no regular file. */
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
                   "this is %s, not a regular file: reading a model needs "
                   "one that can be read at any place",
                   kind_of(status->st_mode));
}

enum mf_status mf_source_open_file(struct mf_env *env, const char *path,
                                   struct mf_source *out, bool *is_folder)
{
    /* O_NONBLOCK: a pipe without a writer must not hang us; it does not
     * matter for regular files. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat status;
    int fd;

    MF_AGAIN(fd, open(path, flags));
    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET, "cannot be opened: %s",
                       strerror(error));
    }
    if (check_regular(env, &status, is_folder) != MF_OK) {
        close(fd);
        return env->error.status;
    }
    *out = (struct mf_source){ .ops = &file_ops,
                               .name = path,
                               .size = (uint64_t)status.st_size,
                               .time = time_of(&status),
                               .fd = fd,
                               .env = env };
    return MF_OK;
}

void mf_source_open_fd(struct mf_env *env, const char *path, int fd,
                       struct mf_source *out)
{
    struct stat status = { 0 };

    fstat(fd, &status);
    *out = (struct mf_source){ .ops = &borrowed_ops,
                               .name = path,
                               .size = (uint64_t)status.st_size,
                               .time = time_of(&status),
                               .fd = fd,
                               .env = env };
}

struct mf_source mf_source_borrow(const struct mf_source *source)
{
    struct mf_source copy = *source;

    if (copy.ops == &file_ops)
        copy.ops = &borrowed_ops;
    return copy;
}

void mf_source_open_memory(const char *name, const void *bytes, size_t size,
                           struct mf_source *out)
{
    *out = (struct mf_source){
        .ops = &memory_ops, .name = name, .size = size, .fd = -1, .bytes = bytes
    };
}

void mf_source_close(struct mf_source *source)
{
    if (source->ops)
        source->ops->close(source);
    source->ops = NULL;
}

enum mf_status mf_source_read(struct mf_env *env,
                              const struct mf_source *source, uint64_t offset,
                              void *buffer, size_t size)
{
    uint8_t *into = buffer;

    while (size > 0) {
        int64_t got = source->ops->read(source, offset, into, size);

        if (got < 0)
            return mf_fail(env, MF_ERR_IO, offset, "cannot be read: %s",
                           strerror(errno));
        if (got == 0)
            return mf_fail(env, MF_ERR_IO, offset,
                           "the file ends here, %zu bytes early: it shrank "
                           "while it was read",
                           size);
        env->io.reads++;
        env->io.bytes_read += (uint64_t)got;
        into += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MF_OK;
}

enum mf_status mf_source_unchanged(struct mf_env *env,
                                   const struct mf_source *source)
{
    uint64_t now = source->ops->size_now(source);

    if (now == source->size && source->ops->time_now &&
        source->ops->time_now(source) != source->time)
        return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                       "the file was written to while it was read");
    if (now == source->size)
        return MF_OK;
    return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                   "the file was %" PRIu64 " bytes long when it was opened "
                   "and is %" PRIu64 " now: it changed while it was read",
                   source->size, now);
}
