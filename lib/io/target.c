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
#include <unistd.h>

#include "lib/io/digest.h"
#include "lib/io/target_parts.h"

#define WRITE_MAX ((size_t)1 << 30)

enum mf_status mf_target_fail(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              const char *what)
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
enum mf_status mf_target_refuse(const struct mf_target *target,
                                const char *what)
{
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what);
}

/* Whoever reads a pipe may keep us waiting for ever.  A signal ends the wait;
 * then the caller says whether to go on. */
enum mf_status mf_target_ask(struct mf_env *env, const struct mf_target *target)
{
    const struct mf_env *asked = target->env;
    struct mf_progress progress = { 0 };

    if (!asked->progress || asked->progress(asked->progress_user, &progress))
        return MF_OK;
    return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET, "stopped before the end");
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
            return mf_target_fail(env, target, target->streamed, "written");
        wrote = wrote < 0 ? 0 : wrote;
        /* Also what had begun is cut short by a signal. */
        if ((size_t)wrote < size && mf_target_ask(env, target) != MF_OK)
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
            return mf_target_fail(env, target, offset, "written");
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

    if (target->stream || source->fd < 0 || source->overlay.count > 0 ||
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
            return mf_target_fail(env, target, offset, "read back");
        if (got == 0) {
            errno = EIO;
            return mf_target_fail(env, target, offset, "read back");
        }
        into += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MF_OK;
}

/* ---- the end ---- */

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
