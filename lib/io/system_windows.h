/* SPDX-License-Identifier: MIT
 *
 * system_windows.h - POSIX, as far as the library uses it, on Windows
 *
 * Paths are UTF-8 here and UTF-16 for the system; both slashes divide them.
 * Files are opened so that others may read, write, rename and remove them
 * meanwhile, as in POSIX, and offsets have 64 bits.  A descriptor is one of the
 * C library, which close() closes.  A folder that is open cannot be renamed or
 * removed, so the path of its descriptor stays right.
 *
 * There are no owners and no modes: every file belongs to number 0 and has
 * 0600, or 0400 if it is read-only.  Symbolic links are followed by the system.
 */
#ifndef MF_LIB_SYSTEM_WINDOWS_H
#define MF_LIB_SYSTEM_WINDOWS_H

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <process.h> /* getpid */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* ---- types and numbers ---- */

typedef unsigned uid_t, gid_t;

struct mf_windows_stat {
    uint64_t st_dev, st_ino;
    int64_t st_size;
    unsigned st_mode, st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    struct timespec st_mtim, st_ctim;
};

#undef PATH_MAX
#define PATH_MAX 4096 /* bytes of UTF-8, and units of UTF-16 */
#undef NAME_MAX
#define NAME_MAX 255

/* Flags that the system does not need, above the C library's. */
#define O_DIRECTORY 0x01000000
#define O_NOFOLLOW  0
#define O_CLOEXEC   0
#define O_NONBLOCK  0
#define O_NOCTTY    0

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 1
#define AT_REMOVEDIR        2
#define AT_EACCESS          4

#define F_GETFL         1
#define F_DUPFD_CLOEXEC 2

#if !defined(ESTALE)
#define ESTALE 10070 /* WSAESTALE */
#endif

#define S_ISVTX     01000
#define S_ISLNK(m)  0
#define S_ISSOCK(m) 0
#if !defined(S_IRGRP)
#define S_IRGRP 040
#define S_IWGRP 020
#define S_IROTH 04
#define S_IWOTH 02
#endif
#if !defined(STDOUT_FILENO)
#define STDOUT_FILENO 1
#endif

/* ---- calls ---- */

int mf_windows_openat(int folder, const char *path, int flags, ...);
int mf_windows_fstatat(int folder, const char *path,
                       struct mf_windows_stat *out, int flags);
int mf_windows_fstat(int fd, struct mf_windows_stat *out);
int mf_windows_unlinkat(int folder, const char *path, int flags);
int mf_windows_mkdirat(int folder, const char *path, unsigned mode);
int mf_windows_faccessat(int folder, const char *path, int mode, int flags);
int mf_windows_renameat(int folder, const char *from, int to_folder,
                        const char *to);
ptrdiff_t mf_windows_pread(int fd, void *bytes, size_t size, int64_t offset);
ptrdiff_t mf_windows_pwrite(int fd, const void *bytes, size_t size,
                            int64_t offset);
int mf_windows_ftruncate(int fd, int64_t size);
int mf_windows_fsync(int fd);
int mf_windows_fcntl(int fd, int command, ...);
ptrdiff_t mf_windows_readlink(const char *path, char *out, size_t size);
int mf_windows_fnmatch(const char *pattern, const char *text, int flags);

static inline int mf_windows_stat(const char *path, struct mf_windows_stat *out)
{
    return mf_windows_fstatat(AT_FDCWD, path, out, 0);
}

/* The C library has some of these names for something else. */
#undef stat
#undef fstat
#undef lstat
#undef ftruncate
#define stat      mf_windows_stat
#define lstat     mf_windows_stat
#define fstat     mf_windows_fstat
#define ftruncate mf_windows_ftruncate
#define openat    mf_windows_openat
#define fstatat   mf_windows_fstatat
#define unlinkat  mf_windows_unlinkat
#define mkdirat   mf_windows_mkdirat
#define faccessat mf_windows_faccessat
#define renameat  mf_windows_renameat
#define pread     mf_windows_pread
#define pwrite    mf_windows_pwrite
#define fsync     mf_windows_fsync
#define fdatasync mf_windows_fsync
#define fcntl     mf_windows_fcntl
#define readlink  mf_windows_readlink
#define fnmatch   mf_windows_fnmatch

#include "lib/io/system_ownerless.h"

#define _SC_PAGESIZE   0
#define _SC_PHYS_PAGES 1

static inline long sysconf(int name)
{
    (void)name;
    return -1;
}

/* lib/program.h has no struct stat to declare it with. */
bool mf_is_planted(const struct stat *folder, const struct stat *file);

#endif
