/* SPDX-License-Identifier: MIT
 *
 * path.c - paths, folders and symbolic links
 */
#define _XOPEN_SOURCE 700 /* the sticky bit */
#include "lib/io/path.h"

#include <errno.h>
#include <string.h>

#define LINKS_MAX 40 /* as many as Linux follows */

size_t mf_folder_size(const char *path)
{
    size_t size = strlen(path);

    while (size > 0 && !mf_is_separator(path[size - 1]))
        size--;
    return size;
}

static bool too_long(void)
{
    errno = ENAMETOOLONG;
    return false;
}

/* Up to and with the last slash; "." where there is none. */
static bool copy_folder(const char *path, char out[PATH_MAX])
{
    size_t size = mf_folder_size(path);

    strcpy(out, ".");
    if (size >= PATH_MAX)
        return too_long();
    if (size > 0) {
        memcpy(out, path, size);
        out[size] = 0;
    }
    return true;
}

bool mf_is_planted(const struct stat *folder, const struct stat *file)
{
    const mode_t shared = S_ISVTX | S_IWOTH;

    return (folder->st_mode & shared) == shared && file->st_uid != geteuid() &&
           file->st_uid != folder->st_uid;
}

/* Whether the link at path, of that status, may be followed. */
static bool may_follow(const char *path, const struct stat *status)
{
    char name[PATH_MAX];
    struct stat folder;

    if (!copy_folder(path, name) || stat(name, &folder) != 0)
        return false;
    if (!mf_is_planted(&folder, status))
        return true;
    errno = EPERM;
    return false;
}

static bool same_link(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Replaces the link at the end of path by what it leads to.  If it is no longer
 * the link that status is of, path does not change, and is tried again. */
static bool follow(char path[PATH_MAX], const struct stat *status)
{
    char link[PATH_MAX];
    size_t folder = mf_folder_size(path);
    struct stat now;
    ssize_t size;

    MF_AGAIN(size, readlink(path, link, sizeof(link) - 1));
    if (size < 0)
        return errno == EINVAL || errno == ENOENT;
    if (lstat(path, &now) != 0 || !same_link(status, &now))
        return true;
    link[size] = 0;
    folder = *link == '/' ? 0 : folder;
    if (folder + (size_t)size >= PATH_MAX)
        return too_long();
    strcpy(path + folder, link);
    return true;
}

bool mf_follow_links(const char *path, char out[PATH_MAX])
{
    struct stat status;

    if (strlen(path) >= PATH_MAX)
        return too_long();
    strcpy(out, path);
    for (int i = 0; i < LINKS_MAX; i++) {
        if (lstat(out, &status) != 0)
            return errno == ENOENT;
        if (!S_ISLNK(status.st_mode))
            return true;
        if (!may_follow(out, &status) || !follow(out, &status))
            return false;
    }
    errno = ELOOP;
    return false;
}

int mf_open_directory(const char *path)
{
    int fd;

    MF_AGAIN(fd, openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd;
}

int mf_open_folder(const char *path)
{
    char folder[PATH_MAX];

    return copy_folder(path, folder) ? mf_open_directory(folder) : -1;
}

const char *mf_base_name(const char *path)
{
    return path + mf_folder_size(path);
}

const char *mf_path_sibling(struct mf_arena *arena, const char *path,
                            struct mf_str name)
{
    size_t folder = mf_folder_size(path);
    char *joined = mf_arena_text(arena, folder + name.size);

    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name.at, name.size);
    return joined;
}

bool mf_name_ends(const char *name, const char *suffix)
{
    size_t size = strlen(name), tail = strlen(suffix);

    return size > tail && strcmp(name + size - tail, suffix) == 0;
}
