/* SPDX-License-Identifier: MIT
 *
 * system_wasi.c - WebAssembly with the system interface of WASI
 *
 * A module reaches the folders that the host has opened for it, and no others;
 * without any it still opens models from memory and through functions of the
 * program.  No other process is known that could edit a file at the same time:
 * a lock is given at once, and docs/ports.md says so.
 */
#include "lib/io/system.h"

#if defined(MF_SYSTEM_WASI)

#include <stdio.h>

#include "lib/io/path.h"

/* ---- names in a folder ---- */

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

/* ---- files ---- */

bool mf_system_lock(int fd)
{
    (void)fd;
    return true;
}

bool mf_system_lock_shared(int fd)
{
    return mf_system_lock(fd);
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

/* ---- libraries ---- */

#endif
