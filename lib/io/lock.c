/* SPDX-License-Identifier: MIT
 *
 * lock.c - a file that this process alone may edit
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* flock */
#endif
#include "lib/io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/path.h"

/* ---- places ---- */

/* *status: of what stands there, be it a link. */
static bool look(const struct mf_place *place, struct stat *status)
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
    if (look(out, &there) && mf_same_file(&file, &there))
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

static enum mf_status cannot(struct mf_env *env, enum mf_status status,
                             const char *what)
{
    return mf_fail(env, status, MF_NO_OFFSET, "cannot be %s: %s", what,
                   strerror(errno));
}

/* What is refused to a writer may be no file at all: that is told first. */
static enum mf_status open_file(struct mf_env *env, const char *path, int *fd)
{
    const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat status;
    int error;

    if (stat(path, &status) != 0)
        return cannot(env, MF_ERR_IO, "opened");
    if (!S_ISREG(status.st_mode))
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "this is not a regular file and cannot be edited");
    MF_AGAIN(*fd, open(path, O_RDWR | flags));
    if (*fd >= 0)
        return MF_OK;
    error = errno;
    MF_AGAIN(*fd, open(path, O_RDONLY | flags));
    if (*fd < 0)
        return cannot(env, MF_ERR_IO, "opened");
    close(*fd);
    errno = error;
    return cannot(env, MF_ERR_OUTPUT, "edited");
}

/* ---- waiting ---- */

struct waiting {
    struct mf_env *env;
    struct timespec start;
    long pause; /* in milliseconds */
};

static long elapsed(const struct waiting *waiting)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(now.tv_sec - waiting->start.tv_sec) * 1000 +
           (now.tv_nsec - waiting->start.tv_nsec) / 1000000;
}

/* A moment, longer each time; fails where there was enough of them. */
static enum mf_status pause_once(struct waiting *waiting)
{
    const struct mf_progress nothing = { .total = 1 };
    struct mf_env *env = waiting->env;
    struct timespec some = { .tv_nsec = waiting->pause * 1000000 };

    if (env->progress && !env->progress(env->progress_user, &nothing))
        return mf_fail(env, MF_ERR_STOPPED, MF_NO_OFFSET,
                       "stopped before the end");
    if (elapsed(waiting) >= MF_LOCK_SECONDS * 1000L)
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "another process is editing this file; gave up after "
                       "%d seconds",
                       MF_LOCK_SECONDS);
    nanosleep(&some, NULL); /* a signal cuts it short */
    waiting->pause = waiting->pause < 10 ? 2 * waiting->pause : 20;
    return MF_OK;
}

static enum mf_status take(struct waiting *waiting, int fd)
{
    for (;;) {
        int result;

        MF_AGAIN(result, flock(fd, LOCK_EX | LOCK_NB));
        if (result == 0)
            return MF_OK;
        if (errno != EWOULDBLOCK)
            return cannot(waiting->env, MF_ERR_OUTPUT, "locked");
        if (pause_once(waiting) != MF_OK)
            return waiting->env->error.status;
    }
}

/* ---- locks ---- */

/* Opens and locks what stands at path; *here: it still stands there. */
static enum mf_status try_lock(struct waiting *waiting, const char *path,
                               struct mf_lock *out, bool *here)
{
    struct mf_env *env = waiting->env;
    struct stat there;

    if (open_file(env, path, &out->fd) != MF_OK ||
        take(waiting, out->fd) != MF_OK)
        return env->error.status;
    *here = mf_place_find(path, out->fd, &out->place);
    if (fstat(out->fd, &out->status) != 0)
        return cannot(env, MF_ERR_IO, "looked at");
    /* A path of which only the system knows where it leads. */
    if (!*here && stat(path, &there) == 0 &&
        mf_same_file(&there, &out->status) &&
        !mf_place_find(path, out->fd, &out->place))
        return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "cannot be edited by this path: its folder is not "
                       "known");
    *here = out->place.folder >= 0;
    return MF_OK;
}

enum mf_status mf_lock_open(struct mf_env *env, const char *path,
                            struct mf_lock *out)
{
    struct waiting waiting = { .env = env, .pause = 1 };
    bool here = false;

    clock_gettime(CLOCK_MONOTONIC, &waiting.start);
    while (!here) {
        *out = (struct mf_lock)MF_LOCK_NONE;
        if (try_lock(&waiting, path, out, &here) != MF_OK ||
            (!here && pause_once(&waiting) != MF_OK)) {
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

    if (look(&lock->place, &there) && mf_same_file(&there, &lock->status))
        return MF_OK;
    return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "another file has taken its place while it was edited");
}
