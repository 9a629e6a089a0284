/* SPDX-License-Identifier: MIT
 *
 * target.c - an output file: moving its bytes
 *
 * The life of a target is: reserve space for all bytes, write them, fsync,
 * rename, fsync the folder.  What each step buys:
 *
 * - Rename instead of writing over the old file: a crash, a full disk or a
 *   signal half-way leaves the old file untouched, readers that have it open
 *   go on reading it, and an input that happens to be the output's hard link
 *   cannot be damaged.
 * - fsync before rename: a file system may put the new name on the disk before
 *   the new data.  After a power failure the name would then lead to an empty
 *   or partial file.  With the order kept, a name on the disk proves that all
 *   bytes are.
 * - fsync of the folder after rename: only then does a success that we reported
 *   survive a power failure.  Its failure cannot be undone any more, so the
 *   message says that the file was written.
 * - fsync is called once per file and never again after it failed: Linux
 *   reports a failed write-back once, marks the pages clean, and a second
 *   fsync would succeed without the bytes.
 *
 * Every call is repeated after EINTR, and its failure is an error that no later
 * success takes back.
 */
#include "lib/io/target.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/timings.h"
#include "lib/io/digest.h"
#include "lib/io/target_parts.h"

/* Linux writes at most 2 GiB less a page at once. */
#define WRITE_MAX ((size_t)1 << 30)

enum mf_status mf_target_fail(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              const char *what)
{
    int error = errno;
    char place[32] = "";

    if (offset != MF_NO_OFFSET)
        snprintf(place, sizeof(place), " at 0x%" PRIx64, offset);
    mf_fail_system(
        env, MF_ERR_OUTPUT, MF_NO_OFFSET, error, "'%s' cannot be %s%s: %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what, place, mf_errno_text(error));
    return mf_error_about(env, target->path);
}

enum mf_status mf_target_refuse(const struct mf_target *target,
                                const char *what)
{
    return mf_fail(
        target->env, MF_ERR_OUTPUT, MF_NO_OFFSET, "'%s' %s",
        mf_quote((struct mf_str){ target->path, strlen(target->path) }).text,
        what);
}

/* ---- streams ---- */

/* env: of the thread that writes, which has no progress function. */
enum mf_status mf_target_check_stop(struct mf_env *env,
                                    const struct mf_target *target)
{
    const struct mf_env *program = target->env;
    struct mf_progress progress = { 0 };

    if (!program->progress ||
        program->progress(program->progress_user, &progress))
        return MF_OK;
    return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET, "interrupted");
}

/* A file system that answers 0 to a write would have us repeat it for ever. */
static ssize_t refuse_zero(ssize_t wrote)
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
    assert(target->stream && (target->fd >= 0 || target->given));
    if (offset != target->streamed)
        return mf_fail(env, MF_ERR_ARGUMENT, offset,
                       "a pipe must be written in order: the next offset is "
                       "%" PRIu64,
                       target->streamed);
    target->crc = mf_crc32(target->crc, bytes, size);
    if (target->given) {
        target->streamed += size;
        return mf_target_put_given(env, target, offset, bytes, size);
    }
    while (size > 0) {
        ssize_t wrote;

        wrote = refuse_zero(write(target->fd, bytes, size));
        if (wrote < 0 && errno == EAGAIN)
            mf_system_wait_writable(target->fd);
        else if (wrote < 0 && errno != EINTR)
            return mf_target_fail(env, target, target->streamed, "written");
        wrote = wrote < 0 ? 0 : wrote;
        /* A signal also shortens a write that had begun. */
        if ((size_t)wrote < size && mf_target_check_stop(env, target) != MF_OK)
            return env->error.status;
        bytes += wrote;
        size -= (size_t)wrote;
        target->streamed += (uint64_t)wrote;
        env->io.bytes_written += (uint64_t)wrote;
    }
    return MF_OK;
}

/* ---- files ---- */

/* The kernel is asked to start writing back each time so many bytes have been
 * written, while the threads work on: otherwise nearly all of a file would wait
 * for the fsync at the end.  That fsync alone decides whether all went well.
 * For 1 GiB this took convert from 0.61 to 0.34 s. */
#define WRITE_BACK ((uint64_t)16 * 1024 * 1024)

static void count_written(struct mf_env *env, struct mf_target *target,
                          uint64_t size)
{
    uint64_t before =
        atomic_fetch_add_explicit(&target->written, size, memory_order_relaxed);

    env->io.bytes_written += size;
    if (before / WRITE_BACK != (before + size) / WRITE_BACK)
        mf_system_write_back(target->fd);
}

void mf_target_grow(struct mf_target *target, uint64_t size)
{
    if (size > target->size)
        target->size = size;
}

static enum mf_status write_all(struct mf_env *env, struct mf_target *target,
                                uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    assert(target->fd >= 0 || target->given);
    if (offset > target->size || size > target->size - offset)
        return mf_fail(env, MF_ERR_ARGUMENT, offset,
                       "%zu bytes at offset %" PRIu64
                       " do not fit into a file of %" PRIu64 " bytes",
                       size, offset, target->size);
    if (target->stream)
        return stream_write(env, target, offset, from, size);
    if (target->given)
        return mf_target_put_given(env, target, offset, bytes, size);
    if (target->complete)
        return mf_target_compare(env, target, offset, bytes, size);
    while (size > 0) {
        ssize_t wrote;

        MF_AGAIN(wrote, refuse_zero(pwrite(target->fd, from,
                                           size < WRITE_MAX ? size : WRITE_MAX,
                                           (off_t)offset)));
        if (wrote < 0)
            return mf_target_fail(env, target, offset, "written");
        from += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
        count_written(env, target, (uint64_t)wrote);
    }
    return MF_OK;
}

enum mf_status mf_target_write(struct mf_env *env, struct mf_target *target,
                               uint64_t offset, const void *bytes, size_t size)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_WRITE);
    enum mf_status status = write_all(env, target, offset, bytes, size);

    mf_timed_end(env, timed);
    return status;
}

size_t mf_target_copy(struct mf_env *env, struct mf_target *target,
                      uint64_t offset, const struct mf_source *source,
                      uint64_t from, size_t size)
{
    struct mf_timed timed;
    size_t moved;

    /* The kernel would copy the file's own bytes, not those that an overlay
     * shows in their place. */
    if (target->stream || target->given || target->complete || source->fd < 0 ||
        source->overlay.count > 0 || from > source->size ||
        size > source->size - from || offset > target->size ||
        size > target->size - offset)
        return 0;
    timed = mf_timed_begin(env, MF_PHASE_WRITE);
    moved = mf_system_copy(source->fd, from, target->fd, offset, size);
    if (moved > 0) {
        env->io.bytes_read += moved;
        count_written(env, target, moved);
    }
    mf_timed_end(env, timed);
    return moved;
}

static enum mf_status read_back(struct mf_env *env,
                                const struct mf_target *target, uint64_t offset,
                                void *bytes, size_t size)
{
    uint8_t *into = bytes;

    assert(!target->stream);
    if (target->given)
        return mf_target_get_given(env, target, offset, bytes, size);
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

enum mf_status mf_target_read(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              void *bytes, size_t size)
{
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_READ);
    enum mf_status status = read_back(env, target, offset, bytes, size);

    mf_timed_end(env, timed);
    return status;
}

/* ---- closing ---- */

void mf_target_abort(struct mf_target *target)
{
    int result;

    if (target->given) /* after the error that it is about */
        mf_target_end_given(target, false);
    if (target->fd >= 0)
        close(target->fd);
    if (*target->temporary.name && !target->kept) {
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
