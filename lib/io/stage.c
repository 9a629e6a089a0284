/* SPDX-License-Identifier: MIT
 *
 * stage.c - a folder of files that is renamed once complete
 *
 * Every file is in the env's list of temporary ones before it exists, after the
 * folder: an abrupt end goes over the list from its newest entry, so the folder
 * is empty when its turn comes.
 */
#include "lib/io/stage.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "lib/base/ranks.h"
#include "lib/base/signals.h"
#include "lib/io/path.h"
#include "lib/io/system.h"

struct mf_stage_name {
    struct mf_stage_name *next;
    struct mf_temporary temporary;
};

static enum mf_status fail(const struct mf_stage *stage, const char *what)
{
    int error = errno;

    return mf_fail_system(
        stage->env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
        "folder '%s' cannot be %s: %s",
        mf_quote((struct mf_str){ stage->path, strlen(stage->path) }).text,
        what, mf_errno_text(error));
}

static enum mf_status fail_file(struct mf_env *env, const char *name,
                                const char *what)
{
    int error = errno;

    return mf_fail_system(env, MF_ERR_OUTPUT, MF_NO_OFFSET, error,
                          "'%s' cannot be %s: %s", name, what,
                          mf_errno_text(error));
}

/* ---- the folder ---- */

/* Nothing, or an empty folder, is at the path. */
static enum mf_status check_path(const struct mf_stage *stage)
{
    struct mf_str path = { stage->path, strlen(stage->path) };
    struct stat status;
    int result;

    MF_AGAIN(result, lstat(stage->path, &status));
    if (result != 0)
        return errno == ENOENT ? MF_OK : fail(stage, "written");
    if (!S_ISDIR(status.st_mode))
        return mf_fail(stage->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "'%s' exists and is not a folder", mf_quote(path).text);
    if (unlinkat(AT_FDCWD, stage->path, AT_REMOVEDIR) == 0)
        return mkdirat(AT_FDCWD, stage->path, status.st_mode & 07777) == 0
                   ? MF_OK
                   : fail(stage, "written");
    return mf_fail(stage->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "folder '%s' exists and is not empty: nothing in it is "
                   "replaced",
                   mf_quote(path).text);
}

static bool set_paths(struct mf_stage *stage, const char *path)
{
    size_t size = strlen(path), head;
    char *own, *inside;

    while (size > 1 && path[size - 1] == '/')
        size--;
    own = mf_arena_text(&stage->arena, size);
    if (!own)
        return false;
    memcpy(own, path, size);
    stage->path = own;
    head = mf_folder_size(own);
    mf_temporary_name(&stage->temporary, own + head);
    if (mf_ranks_tell(stage->env, MF_OK, stage->temporary.name,
                      sizeof(stage->temporary.name)) != MF_OK)
        return false;
    inside =
        mf_arena_text(&stage->arena, head + strlen(stage->temporary.name) + 1);
    if (!inside)
        return false;
    sprintf(inside, "%.*s%s/", (int)head, own, stage->temporary.name);
    stage->inside = inside;
    return true;
}

static bool is_named(const struct mf_stage *stage)
{
    const char *name = mf_base_name(stage->path);

    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static enum mf_status make_folder(struct mf_stage *stage)
{
    mf_signals before;
    int made;

    mf_signals_hold(&before);
    MF_AGAIN(made, mkdirat(stage->parent, stage->temporary.name, 0777));
    if (made == 0)
        mf_temporary_enlist(stage->env, &stage->temporary);
    mf_signals_release(&before);
    if (made == 0)
        return MF_OK;
    *stage->temporary.name = 0;
    return fail(stage, "written");
}

enum mf_status mf_stage_begin(struct mf_env *env, const char *path,
                              struct mf_stage *out)
{
    enum mf_status status;

    *out = (struct mf_stage)MF_STAGE_NONE;
    out->env = env;
    mf_arena_init(&out->arena, env);
    out->path = path;
    if (!set_paths(out, path))
        return env->error.status;
    if (!is_named(out))
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "'%s' is not the name of a new folder",
                       mf_quote((struct mf_str){ path, strlen(path) }).text);
    if (mf_check_change(env) != MF_OK ||
        (!mf_ranks_follow(env) && check_path(out) != MF_OK))
        return env->error.status;
    out->parent = mf_open_folder(out->path);
    if (out->parent < 0)
        return fail(out, "written");
    out->temporary.folder = out->parent;
    out->temporary.is_folder = true;
    status = mf_ranks_follow(env) ? MF_OK : make_folder(out);
    if (mf_ranks_agree(env, status) != MF_OK)
        return env->error.status;
    MF_AGAIN(out->fd, openat(out->parent, out->temporary.name,
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (mf_ranks_follow(env))
        *out->temporary.name = 0; /* rank 0 names or removes it */
    return out->fd >= 0 ? MF_OK : fail(out, "written");
}

/* What is there from now on is removed with the folder: last first, so a folder
 * within is empty then. */
static bool expect(struct mf_stage *stage, const char *name, bool is_folder)
{
    struct mf_stage_name *entry;
    size_t size = strlen(name);

    if (mf_ranks_follow(stage->env))
        return true;
    entry = mf_arena_take(&stage->arena, sizeof(*entry));
    if (!entry)
        return false;
    assert(size <= NAME_MAX);
    *entry = (struct mf_stage_name){ .next = stage->first,
                                     .temporary = { .folder = stage->fd,
                                                    .is_folder = is_folder } };
    memcpy(entry->temporary.name, name, size + 1);
    mf_temporary_enlist(stage->env, &entry->temporary);
    stage->first = entry;
    return true;
}

enum mf_status mf_stage_folder(struct mf_stage *stage, const char *name)
{
    int made;

    if (!expect(stage, name, true))
        return stage->env->error.status;
    if (mf_ranks_follow(stage->env))
        return MF_OK;
    MF_AGAIN(made, mkdirat(stage->fd, name, 0777));
    return made == 0 ? MF_OK : fail_file(stage->env, name, "created");
}

const char *mf_stage_expect(struct mf_stage *stage, const char *name)
{
    size_t head = strlen(stage->inside), size = strlen(name);
    char *path = mf_arena_text(&stage->arena, head + size);

    if (!path || !expect(stage, name, false))
        return NULL;
    memcpy(path, stage->inside, head);
    memcpy(path + head, name, size);
    return path;
}

/* ---- its files ---- */

static enum mf_status write_part(void *user, uint64_t offset, const void *bytes,
                                 size_t size)
{
    struct mf_stage_file *file = user;
    const uint8_t *from = bytes;

    (void)offset; /* in order */
    while (size > 0) {
        ssize_t wrote;

        MF_AGAIN(wrote, write(file->fd, from, size));
        if (wrote == 0)
            errno = EIO; /* or it would be repeated for ever */
        if (wrote <= 0)
            return fail_file(file->stage->env, file->name, "written");
        from += wrote;
        size -= (size_t)wrote;
        file->stage->env->io.bytes_written += (uint64_t)wrote;
    }
    return MF_OK;
}

enum mf_status mf_stage_open(struct mf_stage *stage, const char *name,
                             struct mf_stage_file *out)
{
    const char *path = mf_stage_expect(stage, name);

    out->stage = stage;
    out->name = name;
    out->fd = -1;
    mf_sink_init(&out->sink, stage->env);
    if (!path)
        return stage->env->error.status;
    out->sink.write = write_part;
    out->sink.user = out;
    if (mf_ranks_follow(stage->env)) /* rank 0 writes it alone */
        MF_AGAIN(out->fd, open("/dev/null", O_WRONLY | O_CLOEXEC));
    else
        MF_AGAIN(out->fd,
                 openat(stage->fd, name,
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    return out->fd >= 0 ? MF_OK : fail_file(stage->env, name, "written");
}

enum mf_status mf_stage_close(struct mf_stage_file *file, enum mf_status status)
{
    struct mf_env *env = file->stage->env;
    int result;

    if (file->fd < 0)
        return status;
    if (status == MF_OK)
        status = mf_sink_finish(&file->sink);
    if (status == MF_OK) {
        MF_AGAIN(result, fsync(file->fd));
        if (result != 0 && !mf_ranks_follow(env))
            status = fail_file(env, file->name, "written");
    }
    if (close(file->fd) != 0 && status == MF_OK)
        status = fail_file(env, file->name, "written");
    file->fd = -1;
    return status;
}

/* ---- the end ---- */

static void strike_off(struct mf_stage *stage)
{
    for (struct mf_stage_name *each = stage->first; each; each = each->next)
        mf_temporary_strike_off(stage->env, &each->temporary);
    mf_temporary_strike_off(stage->env, &stage->temporary);
    stage->first = NULL;
    *stage->temporary.name = 0;
}

/* The names of files in a folder within are on the disk. */
static enum mf_status sync_folders(const struct mf_stage *stage)
{
    for (struct mf_stage_name *each = stage->first; each; each = each->next) {
        int fd, result;

        if (!each->temporary.is_folder)
            continue;
        MF_AGAIN(fd, openat(stage->fd, each->temporary.name,
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0)
            return fail(stage, "written");
        MF_AGAIN(result, fsync(fd));
        if (close(fd) != 0 || result != 0)
            return fail(stage, "written");
    }
    return MF_OK;
}

/* An empty folder of that name is replaced by the rename. */
enum mf_status mf_stage_commit(struct mf_stage *stage)
{
    const char *name = mf_base_name(stage->path);
    mf_signals before;
    int result;

    if (mf_ranks_agree(stage->env, sync_folders(stage)) != MF_OK ||
        mf_ranks_follow(stage->env))
        return stage->env->error.status;
    MF_AGAIN(result, fsync(stage->fd));
    if (result != 0)
        return fail(stage, "written");
    mf_signals_hold(&before);
    MF_AGAIN(result, renameat(stage->parent, stage->temporary.name,
                              stage->parent, name));
    if (result == 0)
        strike_off(stage);
    mf_signals_release(&before);
    if (result != 0)
        return fail(stage, "given its name");
    MF_AGAIN(result, fsync(stage->parent));
    return result == 0 ? MF_OK : fail(stage, "known to be on the disk");
}

void mf_stage_abort(struct mf_stage *stage)
{
    for (struct mf_stage_name *each = stage->first; each; each = each->next)
        unlinkat(stage->fd, each->temporary.name,
                 each->temporary.is_folder ? AT_REMOVEDIR : 0);
    if (*stage->temporary.name)
        unlinkat(stage->parent, stage->temporary.name, AT_REMOVEDIR);
    if (stage->env) {
        strike_off(stage);
        mf_arena_release(&stage->arena);
    }
    if (stage->fd >= 0)
        close(stage->fd);
    if (stage->parent >= 0)
        close(stage->parent);
    *stage = (struct mf_stage)MF_STAGE_NONE;
}
