/* SPDX-License-Identifier: MIT
 *
 * system_common.c - what several systems do in the same way
 *
 * Each part says for which; what one system alone does is in its own file.
 */
#define _DEFAULT_SOURCE /* flock; the BSDs hide it from who asks for POSIX */
#if defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#undef _POSIX_C_SOURCE
#endif
#include "lib/io/system.h"

#include <errno.h>

#include "lib/io/path.h"
#include "lib/program.h"

/* ---- Linux and POSIX ---- */

#if defined(MF_SYSTEM_LINUX) || defined(MF_SYSTEM_POSIX)

#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statvfs.h>

int mf_system_open_and_unlink(const char *folder)
{
    char path[PATH_MAX];
    int fd, size = snprintf(path, sizeof(path), "%s/modelfile-XXXXXX", folder);

    if (size < 0 || (size_t)size >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

bool mf_system_link(const char *path, int folder, const char *name)
{
    int result;

    MF_AGAIN(result, linkat(AT_FDCWD, path, folder, name, 0));
    return result == 0;
}

bool mf_system_set_times(int fd, const struct stat *old)
{
    const struct timespec times[] = { old->st_atim, old->st_mtim };

    return futimens(fd, times) == 0;
}

static bool lock(int fd, int how)
{
    int result;

    MF_AGAIN(result, flock(fd, how | LOCK_NB));
    return result == 0;
}

bool mf_system_lock(int fd)
{
    return lock(fd, LOCK_EX);
}

bool mf_system_lock_shared(int fd)
{
    return lock(fd, LOCK_SH);
}

/* Blocks that are reserved for root count only for root. */
uint64_t mf_system_free_space(int fd)
{
    struct statvfs status;
    uint64_t blocks, bytes;
    int result;

    MF_AGAIN(result, fstatvfs(fd, &status));
    if (result != 0 || status.f_blocks == 0)
        return UINT64_MAX;
    blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail;
    return mf_mul(blocks, status.f_frsize, &bytes) ? bytes : UINT64_MAX;
}

void mf_system_wait_writable(int fd)
{
    struct pollfd ready = { .fd = fd, .events = POLLOUT };

    poll(&ready, 1, -1);
}

/* A program that is linked statically has none to load. */
void *mf_system_load(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *mf_system_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void mf_system_unload(void *library)
{
    dlclose(library);
}

#endif

/* ---- all but Windows ---- */

#if !defined(MF_SYSTEM_WINDOWS)

bool mf_system_look_and_rename(int folder, const char *from, const char *to)
{
    struct stat status;
    int result;

    if (fstatat(folder, to, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    MF_AGAIN(result, renameat(folder, from, folder, to));
    return result == 0;
}

#endif

/* ---- POSIX and WASI ---- */

#if defined(MF_SYSTEM_POSIX) || defined(MF_SYSTEM_WASI)

#include <dirent.h>

bool mf_system_rename_new(int folder, const char *from, const char *to)
{
    return mf_system_look_and_rename(folder, from, to);
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

#endif

/* ---- all but Linux ---- */

#if !defined(MF_SYSTEM_LINUX)

bool mf_system_exchange(int folder, const char *a, const char *b)
{
    (void)folder, (void)a, (void)b;
    errno = ENOSYS;
    return false;
}

bool mf_system_clone(int from, int to)
{
    (void)from, (void)to;
    errno = ENOSYS;
    return false;
}

bool mf_system_is_clone(int a, int b)
{
    (void)a, (void)b;
    return false;
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

/* POSIX has modes and owners only; access lists are each system's own. */
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

#endif

/* ---- WASI and Windows ---- */

#if defined(MF_SYSTEM_WASI) || defined(MF_SYSTEM_WINDOWS)

bool mf_system_link(const char *path, int folder, const char *name)
{
    (void)path, (void)folder, (void)name;
    errno = ENOSYS;
    return false;
}

bool mf_system_set_times(int fd, const struct stat *old)
{
    (void)fd, (void)old;
    return true;
}

void mf_system_wait_writable(int fd)
{
    (void)fd;
}

/* No library is loaded. */
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

#endif
