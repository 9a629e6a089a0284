/* SPDX-License-Identifier: MIT
 *
 * lock.c - a file that only this process may edit
 *
 * flock locks a file, not a name, so the order is: open, lock, and only then
 * look at the name.  While we waited for the lock, its owner may have renamed a
 * new file over the name; ours is then a file without a name, and an edit of it
 * would be lost.  So after locking, the path is followed once more.  If it
 * leads elsewhere the lock is dropped and all begins again with the new file.
 * When it leads to the locked file, no program that respects the lock can
 * replace it any more.
 *
 * Not a lock file next to the model: it stays behind after a kill, it
 * needs rights that reading and writing the model does not, and two names of
 * one model would have two locks.  Not fcntl: its locks end when any descriptor
 * of the file is closed in the process, also one of an embedding program.
 */
#include "lib/io/lock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "lib/io/path.h"

/* ---- places ---- */

/* A symbolic link is not followed. */
static bool stat_place(const struct mf_place *place, struct stat *status)
{
    int result;

    MF_AGAIN(result,
             fstatat(place->folder, place->name, status, AT_SYMLINK_NOFOLLOW));
    return result == 0;
}

static bool open_place(const char *path, struct mf_place *out)
{
    char real[PATH_MAX];
    const char *name;

    if (!mf_follow_links(path, real))
        return false;
    name = real + mf_folder_size(real);
    if (strlen(name) >= sizeof(out->name)) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(out->name, name);
    out->folder = mf_open_folder(real);
    return out->folder >= 0;
}

bool mf_place_find(const char *path, int fd, struct mf_place *out)
{
    struct stat file, there;
    int error;

    *out = (struct mf_place){ .folder = -1 };
    if (fstat(fd, &file) != 0 || !open_place(path, out))
        return false;
    if (stat_place(out, &there) && mf_same_file(&file, &there))
        return true;
    error = errno == ENOENT ? ENOENT : ESTALE;
    mf_place_close(out);
    errno = error;
    return false;
}

void mf_place_close(struct mf_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

/* ---- opening ---- */

static enum mf_status fail(struct mf_env *env, enum mf_status status,
                           const char *what)
{
    return mf_fail_system(env, status, MF_NO_OFFSET, errno, "cannot be %s: %s",
                          what, mf_errno_text(errno));
}

/* That it is not a file comes first: opening a folder to write would only say
 * that it is one, and a device might act on it. */
static enum mf_status open_file(struct mf_env *env, const char *path, int *fd)
{
    const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat status;
    int error;

    if (stat(path, &status) != 0)
        return fail(env, MF_ERR_IO, "opened");
    if (!S_ISREG(status.st_mode))
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "not a regular file; only regular files can be edited");
    MF_AGAIN(*fd, openat(AT_FDCWD, path, O_RDWR | flags));
    if (*fd >= 0)
        return MF_OK;
    error = errno;
    MF_AGAIN(*fd, openat(AT_FDCWD, path, O_RDONLY | flags));
    if (*fd < 0)
        return fail(env, MF_ERR_IO, "opened");
    close(*fd);
    errno = error;
    return fail(env, MF_ERR_OUTPUT, "edited");
}

/* ---- waiting ---- */

struct wait {
    struct mf_env *env;
    struct timespec start;
    long pause; /* in milliseconds */
};

static long elapsed(const struct wait *wait)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - wait->start.tv_sec) * 1000 +
           (now.tv_nsec - wait->start.tv_nsec) / 1000000;
}

/* Each pause is longer than the one before, up to 20 ms.  Not a blocking
 * flock: the program could not stop it, nor the time limit. */
static enum mf_status pause_once(struct wait *wait)
{
    const struct mf_progress nothing = { .total = 1 };
    struct mf_env *env = wait->env;
    struct timespec some = { .tv_nsec = wait->pause * 1000000 };

    if (env->progress && !env->progress(env->progress_user, &nothing))
        return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET, "interrupted");
    if (elapsed(wait) >= MF_LOCK_SECONDS * 1000L)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "another process is editing the file; gave up after %d "
                       "seconds",
                       MF_LOCK_SECONDS);
    nanosleep(&some, NULL); /* a signal cuts it short */
    wait->pause = wait->pause < 10 ? 2 * wait->pause : 20;
    return MF_OK;
}

/* An edit that changes nothing needs no lock. */
static enum mf_status lock_file(struct wait *wait, int fd)
{
    while (!wait->env->discards) {
        if (mf_system_lock(fd))
            return MF_OK;
        if (errno != EWOULDBLOCK)
            return fail(wait->env, MF_ERR_OUTPUT, "locked");
        if (pause_once(wait) != MF_OK)
            return wait->env->error.status;
    }
    return MF_OK;
}

/* ---- locks ---- */

/* Opens and locks the file at path.  *here: path still leads to it. */
static enum mf_status try_lock(struct wait *wait, const char *path,
                               struct mf_lock *out, bool *here)
{
    struct mf_env *env = wait->env;
    struct stat there;

    if (open_file(env, path, &out->fd) != MF_OK ||
        lock_file(wait, out->fd) != MF_OK)
        return env->error.status;
    *here = mf_place_find(path, out->fd, &out->place);
    if (fstat(out->fd, &out->status) != 0)
        return fail(env, MF_ERR_IO, "examined");
    /* The system says that it leads there, and we cannot find the way: a path
     * such as /proc/self/fd/3. */
    if (!*here && stat(path, &there) == 0 &&
        mf_same_file(&there, &out->status) &&
        !mf_place_find(path, out->fd, &out->place))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "cannot be edited by this path: its folder cannot be "
                       "determined");
    *here = out->place.folder >= 0;
    return MF_OK;
}

enum mf_status mf_lock_open(struct mf_env *env, const char *path,
                            struct mf_lock *out)
{
    struct wait wait = { .env = env, .pause = 1 };
    bool here = false;

    clock_gettime(CLOCK_MONOTONIC, &wait.start);
    while (!here) {
        *out = (struct mf_lock)MF_LOCK_NONE;
        if (try_lock(&wait, path, out, &here) != MF_OK ||
            (!here && pause_once(&wait) != MF_OK)) {
            mf_lock_close(out);
            return env->error.status;
        }
        if (!here)
            mf_lock_close(out);
    }
    return MF_OK;
}

void mf_lock_close(struct mf_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
    mf_place_close(&lock->place);
}

enum mf_status mf_lock_check(struct mf_env *env, const struct mf_lock *lock)
{
    struct stat there;

    if (stat_place(&lock->place, &there) && mf_same_file(&there, &lock->status))
        return MF_OK;
    return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "the file was replaced by another one while it was edited");
}
