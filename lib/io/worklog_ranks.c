/* SPDX-License-Identifier: MIT
 *
 * worklog_ranks.c - the work log of several processes
 *
 * Rank 0 alone keeps the log.  The others go on with a copy of what it has when
 * it is opened, and add records to it that are never read: so all take the same
 * way through the work.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/ranks.h"
#include "lib/base/signals.h"
#include "lib/io/path.h"
#include "lib/io/worklog.h"

static enum mf_status fail(const struct mf_worklog *log)
{
    return mf_fail_system(
        log->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
        "the work log of '%s' cannot be copied for another rank: %s",
        mf_quote((struct mf_str){ log->path, strlen(log->path) }).text,
        mf_errno_text(errno));
}

/* A file without a name, in the log's folder. */
static int open_nameless(const struct mf_worklog *log)
{
    struct mf_temporary copy = { .folder = log->temporary.folder };
    mf_signals before;
    int fd;

    mf_temporary_name(&copy, log->temporary.name);
    mf_signals_hold(&before);
    MF_AGAIN(fd,
             openat(copy.folder, copy.name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd >= 0)
        unlinkat(copy.folder, copy.name, 0);
    mf_signals_release(&before);
    return fd;
}

static enum mf_status copy_from(struct mf_worklog *log, int from)
{
    struct stat status;
    const char *why;

    if (fstat(from, &status) != 0)
        return fail(log);
    why = mf_worklog_distrust(&status);
    if (why)
        return mf_worklog_refuse(log->env, log->path, "its work log %s", why);
    log->size = (uint64_t)status.st_size;
    return log->size == 0 || mf_system_copy(from, 0, log->fd, 0,
                                            (size_t)log->size) == log->size
               ? MF_OK
               : fail(log);
}

static enum mf_status copy(struct mf_worklog *log)
{
    enum mf_status status;
    int from;

    log->copied = true;
    log->fd = open_nameless(log);
    if (log->fd < 0)
        return fail(log);
    MF_AGAIN(from,
             openat(log->temporary.folder, log->temporary.name,
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (from < 0)
        return fail(log);
    status = copy_from(log, from);
    close(from);
    return status;
}

/* Not before rank 0 has opened it, nor after it has changed it. */
enum mf_status mf_worklog_for_ranks(struct mf_worklog *log)
{
    struct mf_env *env = log->env;

    if (mf_ranks_agree(env, env->error.status) != MF_OK)
        return env->error.status;
    if (mf_ranks_follow(env))
        copy(log);
    return mf_ranks_agree(env, env->error.status);
}
