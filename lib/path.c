/* SPDX-License-Identifier: MIT
 *
 * path.c - where a path leads
 */
#include "lib/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as many as Linux follows */

size_t mf_folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash + 1 - path) : 0;
}

static bool too_long(void)
{
    errno = ENAMETOOLONG;
    return false;
}

bool mf_follow_links(const char *path, char out[PATH_MAX])
{
    char link[PATH_MAX];

    if (strlen(path) >= PATH_MAX)
        return too_long();
    strcpy(out, path);
    for (int i = 0; i < LINKS_MAX; i++) {
        size_t folder = mf_folder_size(out);
        ssize_t size;

        MF_AGAIN(size, readlink(out, link, sizeof(link) - 1));
        if (size < 0) /* no link, or nothing there */
            return errno == EINVAL || errno == ENOENT;
        link[size] = 0;
        folder = *link == '/' ? 0 : folder;
        if (folder + (size_t)size >= PATH_MAX)
            return too_long();
        strcpy(out + folder, link);
    }
    errno = ELOOP;
    return false;
}

int mf_open_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    size_t size = mf_folder_size(path);
    int fd;

    if (size >= sizeof(folder)) {
        too_long();
        return -1;
    }
    if (size > 0) {
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    MF_AGAIN(fd, open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd;
}

bool mf_name_ends(const char *name, const char *suffix)
{
    size_t size = strlen(name), tail = strlen(suffix);

    return size > tail && strcmp(name + size - tail, suffix) == 0;
}
