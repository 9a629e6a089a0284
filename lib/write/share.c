/* SPDX-License-Identifier: MIT
 *
 * share.c - two equal files that take their space on the disk once
 *
 * The new file is made under a temporary name next to the one that it replaces:
 * a clone (reflink) of the other file, or one more name of it (a hard link).
 * It gets its name as any output does (target_commit.c), and only if that name
 * still leads to the file that was compared.
 *
 * A clone is compared after it was made: no other program can change it,
 * whatever happens to the file that it was made of.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/parallel.h"
#include "lib/io/lock.h"
#include "lib/io/path.h"
#include "lib/io/target.h"
#include "lib/program.h"

/* A file that is open, not by a symbolic link. */
struct opened {
    const char *path;
    struct mf_source source; /* closing it leaves the file open */
    struct stat status;
};

#define NOT_OPENED                                                             \
    {                                                                          \
        .source.fd = -1                                                        \
    }

struct sharing {
    struct mf_env *env;
    struct opened from, to;
    struct mf_target target;
    bool links;
    struct mf_share *out;
};

static enum mf_status end(struct sharing *sharing, enum mf_share_end how,
                          const char *why)
{
    *sharing->out = (struct mf_share){ .end = how, .why = why };
    return MF_OK;
}

/* ---- which files ---- */

static enum mf_status open_nofollow(struct mf_env *env, const char *path,
                                    struct opened *out)
{
    int fd;

    MF_AGAIN(fd, open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
                                O_NOCTTY));
    out->path = path;
    out->source.fd = fd;
    if (fd < 0 || fstat(fd, &out->status) != 0)
        return mf_fail_system(env, MF_ERR_IO, MF_NO_OFFSET, errno,
                              "cannot be opened: %s", mf_errno_text(errno));
    mf_source_open_fd(path, fd, &out->source);
    return MF_OK;
}

static void close_opened(struct opened *opened)
{
    if (opened->source.fd >= 0)
        close(opened->source.fd);
}

static const char *why_not(const struct sharing *sharing)
{
    const struct stat *from = &sharing->from.status;
    const struct stat *to = &sharing->to.status;

    if (!S_ISREG(from->st_mode) || !S_ISREG(to->st_mode))
        return "it is not a regular file";
    if (to->st_uid != geteuid())
        return "it belongs to another user";
    if (sharing->links && from->st_uid != to->st_uid)
        return "the file that is equal belongs to another user";
    if (to->st_nlink > 1)
        return "it has several names (hard links)";
    if (!(to->st_mode & 0200))
        return "it is write-protected";
    return NULL;
}

static bool is_changed(const struct opened *opened)
{
    struct mf_source_times now = mf_source_times_now(&opened->source);

    return mf_source_size_now(&opened->source) != opened->source.size ||
           now.written != opened->source.times.written ||
           now.changed != opened->source.times.changed;
}

/* ---- comparing ---- */

struct comparing {
    const struct mf_source *a, *b;
    size_t piece;
    atomic_bool differ;
};

static enum mf_status compare_piece(struct mf_worker *worker, void *context,
                                    size_t task)
{
    struct comparing *comparing = context;
    uint64_t at = (uint64_t)task * comparing->piece;
    uint64_t left = comparing->a->size - at;
    size_t size = left < comparing->piece ? (size_t)left : comparing->piece;
    uint8_t *other = worker->buffer + comparing->piece;

    if (atomic_load(&comparing->differ))
        return MF_OK;
    if (mf_source_read(&worker->env, comparing->a, at, worker->buffer, size) !=
            MF_OK ||
        mf_source_read(&worker->env, comparing->b, at, other, size) != MF_OK)
        return worker->env.error.status;
    if (memcmp(worker->buffer, other, size) != 0)
        atomic_store(&comparing->differ, true);
    return mf_worker_done(worker, size) ? MF_OK : mf_worker_stopped(worker);
}

/* All bytes, on all threads. */
static enum mf_status compare(struct mf_env *env, const struct mf_source *a,
                              const struct mf_source *b, bool *equal)
{
    struct comparing comparing = { .a = a, .b = b };
    struct mf_crew crew = { 0 };
    enum mf_status status;

    *equal = a->size == b->size;
    if (!*equal || a->size == 0)
        return MF_OK;
    status = mf_crew_init(&crew, env, a->size, a->size, 0);
    if (status == MF_OK) {
        comparing.piece = crew.buffer_size / 2;
        mf_worker_at(&crew.worker[0], b->name);
        status = mf_crew_run(&crew, compare_piece, &comparing,
                             (size_t)((a->size - 1) / comparing.piece + 1));
    }
    mf_crew_release(&crew);
    *equal = !comparing.differ;
    return status;
}

/* ---- the new file ---- */

static bool cannot_clone(int error)
{
    return error == EOPNOTSUPP || error == ENOTTY || error == EINVAL ||
           error == ENOSYS || error == EXDEV || error == EPERM;
}

static enum mf_status fail(struct sharing *sharing, const char *what)
{
    return mf_fail_system(sharing->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                          "cannot be %s: %s", what, mf_errno_text(errno));
}

/* Gives the new file its name, unless the old one has changed. */
static enum mf_status commit(struct sharing *sharing)
{
    enum mf_status status;

    if (is_changed(&sharing->to))
        return end(sharing, MF_SHARE_SKIPPED,
                   "it was changed while it was compared");
    sharing->target.expected = &sharing->to.status;
    status = mf_target_commit(&sharing->target);
    return status == MF_OK ? end(sharing, MF_SHARE_DONE, NULL) : status;
}

static enum mf_status commit_clone(struct sharing *sharing)
{
    struct mf_target *target = &sharing->target;

    mf_target_grow(target, sharing->to.source.size);
    if (!mf_system_set_times(target->fd, &sharing->to.status))
        return fail(sharing, "given its times");
    if (mf_target_sync(target) != MF_OK)
        return sharing->env->error.status;
    return commit(sharing);
}

static enum mf_status share_clone(struct sharing *sharing)
{
    struct mf_target *target = &sharing->target;
    struct mf_source clone;
    bool equal;

    if (!mf_system_clone(sharing->from.source.fd, target->fd))
        return cannot_clone(errno) ? end(sharing, MF_SHARE_IMPOSSIBLE, NULL)
                                   : fail(sharing, "made to share data");
    mf_source_open_fd(sharing->to.path, target->fd, &clone);
    if (compare(sharing->env, &clone, &sharing->to.source, &equal) != MF_OK)
        return sharing->env->error.status;
    return equal ? commit_clone(sharing)
                 : end(sharing, MF_SHARE_DIFFERENT, NULL);
}

/* The empty file that was made gives its temporary name to the link.  Then all
 * names are of one file, and an edit of one would change the others: it is
 * write-protected. */
static enum mf_status commit_link(struct sharing *sharing)
{
    const struct mf_temporary *temporary = &sharing->target.temporary;
    struct opened *from = &sharing->from;
    struct stat made;
    int result;

    if (is_changed(from))
        return end(sharing, MF_SHARE_SKIPPED,
                   "the file that is equal was changed while it was compared");
    MF_AGAIN(result, unlinkat(temporary->folder, temporary->name, 0));
    if (result != 0 ||
        !mf_system_link(from->path, temporary->folder, temporary->name))
        return errno == EXDEV ? end(sharing, MF_SHARE_IMPOSSIBLE, NULL)
                              : fail(sharing, "linked");
    if (fstatat(temporary->folder, temporary->name, &made,
                AT_SYMLINK_NOFOLLOW) != 0 ||
        !mf_same_file(&made, &from->status))
        return end(sharing, MF_SHARE_SKIPPED,
                   "the file that is equal was replaced meanwhile");
    MF_AGAIN(result, fchmod(from->source.fd, from->status.st_mode & 0444));
    return result == 0 ? commit(sharing) : fail(sharing, "write-protected");
}

static enum mf_status share_link(struct sharing *sharing)
{
    bool equal;

    if (compare(sharing->env, &sharing->from.source, &sharing->to.source,
                &equal) != MF_OK)
        return sharing->env->error.status;
    return equal ? commit_link(sharing)
                 : end(sharing, MF_SHARE_DIFFERENT, NULL);
}

static enum mf_status share(struct sharing *sharing)
{
    const struct opened *from = &sharing->from, *to = &sharing->to;
    const char *why = why_not(sharing);

    if (mf_same_file(&from->status, &to->status) ||
        (from->source.size == to->source.size &&
         mf_system_is_clone(from->source.fd, to->source.fd)))
        return end(sharing, MF_SHARE_ALREADY, NULL);
    if (why)
        return end(sharing, MF_SHARE_SKIPPED, why);
    if (from->source.size != to->source.size)
        return end(sharing, MF_SHARE_DIFFERENT, NULL);
    if (sharing->env->discards)
        return mf_fail(sharing->env, MF_ERR_STOPPED, MF_NO_OFFSET,
                       "nothing may be changed");
    if (mf_target_open(sharing->env, to->path, 0, true, &sharing->target) !=
        MF_OK)
        return sharing->env->error.status;
    return sharing->links ? share_link(sharing) : share_clone(sharing);
}

enum mf_status mf_file_share(struct mf_env *env, const char *from,
                             const char *path, bool links, struct mf_share *out)
{
    struct sharing sharing = { .env = env,
                               .from = NOT_OPENED,
                               .to = NOT_OPENED,
                               .target = MF_TARGET_NONE,
                               .links = links,
                               .out = out };
    enum mf_status status;

    mf_clear_error(env);
    status = open_nofollow(env, from, &sharing.from);
    if (status == MF_OK)
        status = open_nofollow(env, path, &sharing.to);
    if (status == MF_OK)
        status = share(&sharing);
    mf_target_abort(&sharing.target);
    close_opened(&sharing.to);
    close_opened(&sharing.from);
    return status;
}

bool mf_file_shares(const char *a, const char *b)
{
    bool shares = false;
    int a_fd, b_fd;

    MF_AGAIN(a_fd, open(a, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    MF_AGAIN(b_fd, open(b, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (a_fd >= 0 && b_fd >= 0)
        shares = mf_system_is_clone(a_fd, b_fd);
    if (a_fd >= 0)
        close(a_fd);
    if (b_fd >= 0)
        close(b_fd);
    return shares;
}
