/* SPDX-License-Identifier: MIT
 *
 * hub_kept.c - which files a commit has, as the cache says
 */
#include "cli/remote/hub_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/remote/asking.h"

struct adding {
    struct listing *listing;
    bool done;
};

static void add_name(void *user, const char *file)
{
    struct adding *adding = user;

    if (hub_is_path(file) && strlen(file) < HUB_PATH_SIZE)
        adding->done = adding->done && listing_put(adding->listing, file);
}

/* Without the Hub, a commit has the files that the cache has of it. */
int hub_add_cached(struct run *run, const struct repository *repository,
                   struct listing *listing)
{
    struct adding adding = { listing, true };

    hub_cache_files(run, repository->name.repository, repository->commit,
                    add_name, &adding);
    if (adding.done && listing->count == 0)
        return asking_failed(ENOENT, "the cache does not have it, and "
                                     "HF_HUB_OFFLINE is set");
    return adding.done ? 0 : ENOMEM;
}

#define KEPT_MAX ((off_t)16 * 1024 * 1024)

/* Reads a file of the cache to its end; NULL if it cannot be had. */
static char *read_kept(struct run *run, const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    ssize_t got = -1;
    char *bytes = NULL;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0 && status.st_size <= KEPT_MAX) {
        *size = (size_t)status.st_size;
        bytes = mf_env_resize(run->env, NULL, 0, *size);
        got = bytes ? pread(fd, bytes, *size, 0) : -1;
    }
    if (fd >= 0)
        close(fd);
    if (!bytes || (size_t)got == *size)
        return bytes;
    mf_env_resize(run->env, bytes, *size, 0);
    return NULL;
}

/* The list that the cache has of a commit; false if the Hub has to be asked. */
bool hub_add_kept(struct run *run, const struct repository *repository,
                  struct listing *listing)
{
    char path[PATH_MAX];
    size_t size = 0;
    char *bytes = NULL;
    bool added;

    if (hub_cache_list(repository->name.repository, repository->commit, path))
        bytes = read_kept(run, path, &size);
    added = bytes && listing_add_kept(listing, bytes, size) == 0;
    if (bytes)
        mf_env_resize(run->env, bytes, size, 0);
    if (!added)
        listing_release(listing);
    return added;
}
