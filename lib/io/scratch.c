/* SPDX-License-Identifier: MIT
 *
 * scratch.c - a file without a name, for bytes that are too many for memory
 */
#include "lib/io/scratch.h"

#include <assert.h>
#include <errno.h>

#include "lib/base/kept.h"
#include "lib/io/path.h"
#include "lib/io/source.h"
#include "lib/io/system.h"
#include "lib/program.h"

/* /var/tmp is for large files, and /tmp often memory. */
int mf_scratch_open(const char *folder)
{
    bool own = folder && *folder;
    int fd = mf_system_open_unnamed(own ? folder : "/var/tmp"), other;

    if (fd < 0 && !own)
        fd = mf_system_open_unnamed("/tmp");
    if (fd != 0)
        return fd;
    other = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* 0 says that there is none */
    close(fd);
    return other;
}

bool mf_scratch_join(struct mf_env *env)
{
    struct mf_scratch *scratch = &env->scratch;
    bool open;

    mf_kept_lock(env);
    /* Another process may be at work on the file that the program gave. */
    if (scratch->file <= 0 && !env->discards) {
        scratch->file = mf_scratch_open(scratch->folder);
        scratch->own = scratch->file > 0;
    }
    open = scratch->file > 0 && !env->discards;
    scratch->users += open;
    mf_kept_unlock(env);
    return open;
}

void mf_scratch_leave(struct mf_env *env)
{
    struct mf_scratch *scratch = &env->scratch;

    assert(scratch->users > 0);
    mf_kept_lock(env);
    if (--scratch->users == 0 && ftruncate(scratch->file, 0) == 0)
        scratch->end = 0;
    mf_kept_unlock(env);
}

bool mf_scratch_take(struct mf_env *env, uint64_t size, uint64_t *at)
{
    struct mf_scratch *scratch = &env->scratch;
    bool fits;

    mf_kept_lock(env);
    fits = size <= INT64_MAX - scratch->end;
    *at = scratch->end;
    scratch->end += fits ? size : 0;
    mf_kept_unlock(env);
    errno = EFBIG;
    return fits;
}

void mf_scratch_give(struct mf_env *env, uint64_t at, uint64_t size)
{
    struct mf_scratch *scratch = &env->scratch;

    mf_kept_lock(env);
    if (scratch->end == at + size && ftruncate(scratch->file, (off_t)at) == 0)
        scratch->end = at;
    mf_kept_unlock(env);
}

bool mf_scratch_write(const struct mf_env *env, uint64_t at, const void *bytes,
                      size_t size)
{
    const uint8_t *from = bytes;
    ssize_t done;

    for (; size > 0; size -= (size_t)done) {
        MF_AGAIN(done, pwrite(env->scratch.file, from, size, (off_t)at));
        if (done == 0)
            errno = ENOSPC;
        if (done <= 0)
            return false;
        from += done;
        at += (uint64_t)done;
    }
    return true;
}

bool mf_scratch_read(const struct mf_env *env, uint64_t at, void *bytes,
                     size_t size)
{
    return mf_fd_read(env->scratch.file, at, bytes, size);
}
