/* SPDX-License-Identifier: MIT
 *
 * system_wasi.c - WebAssembly with the system interface of WASI
 *
 * A module reaches the folders that the host has opened for it, and no others;
 * without any it still opens models from memory and through functions of the
 * program.  Nobody else is known who could edit a file at the same time: a lock
 * is given at once, and docs/ports.md says so.
 */
#include "lib/io/system.h"

#if defined(MF_SYSTEM_WASI)

#include <dirent.h>
#include <stdio.h>

#include "lib/io/path.h"
#include "lib/program.h"

/* ---- names in a folder ---- */

bool mf_system_rename_new(int folder, const char *from, const char *to)
{
    struct stat status;

    if (fstatat(folder, to, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(folder, from, folder, to) == 0;
}

bool mf_system_exchange(int folder, const char *a, const char *b)
{
    (void)folder, (void)a, (void)b;
    errno = ENOSYS;
    return false;
}

int mf_system_open_unnamed(const char *folder)
{
    char path[PATH_MAX];

    for (unsigned i = 0; i < 1000; i++) {
        int size =
            snprintf(path, sizeof(path), "%s/modelfile-%u.tmp", folder, i);
        int fd;

        if (size < 0 || (size_t)size >= sizeof(path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0)
            unlinkat(AT_FDCWD, path, 0);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

void mf_entries_begin(struct mf_entries *entries, int folder)
{
    entries->folder = folder;
    entries->stream = NULL;
}

void mf_entries_end(struct mf_entries *entries)
{
    if (entries->stream)
        closedir(entries->stream);
    else if (entries->folder >= 0)
        close(entries->folder);
    entries->stream = NULL;
    entries->folder = -1;
}

const char *mf_entries_next(struct mf_entries *entries)
{
    const struct dirent *entry;

    if (!entries->stream)
        entries->stream = fdopendir(entries->folder);
    if (!entries->stream)
        return NULL;
    errno = 0;
    entry = readdir(entries->stream);
    return entry ? entry->d_name : NULL;
}

/* ---- files ---- */

bool mf_system_lock(int fd)
{
    (void)fd;
    return true;
}

bool mf_system_allocate(int fd, uint64_t size)
{
    return ftruncate(fd, (off_t)size) == 0;
}

uint64_t mf_system_free_space(int fd)
{
    (void)fd;
    return UINT64_MAX;
}

void mf_system_write_back(int fd)
{
    (void)fd;
}

size_t mf_system_copy(int from, uint64_t at, int to, uint64_t to_at,
                      size_t size)
{
    (void)from, (void)at, (void)to, (void)to_at, (void)size;
    return 0;
}

void mf_system_copy_attributes(int from, int to)
{
    (void)from, (void)to;
}

bool mf_system_has_access_list(int fd)
{
    (void)fd;
    return false;
}

void mf_system_drop_access_list(int fd)
{
    (void)fd;
}

void mf_system_wait_writable(int fd)
{
    (void)fd;
}

/* ---- libraries ---- */

void *mf_system_load(const char *name)
{
    (void)name;
    return NULL;
}

void *mf_system_symbol(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

void mf_system_unload(void *library)
{
    (void)library;
}

const char *mf_system_load_error(void)
{
    return "WASI has no shared libraries";
}

#endif
