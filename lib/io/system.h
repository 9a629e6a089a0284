/* SPDX-License-Identifier: MIT
 *
 * system.h - what differs between the systems that the library runs on
 *
 * The library is written for POSIX, with the calls that take a folder and a
 * name (openat and its kin).  Where a system has them, they are called by those
 * names, here as everywhere.  Two things are left:
 *
 * - What each system does in its own way, or not at all: the functions below.
 *   One of system_linux.c, system_posix.c, system_wasi.c and system_windows.c
 *   has them, the others are empty for the compiler; what several of them would
 *   have is in system_common.c.
 * - What WASI and Windows lack of POSIX: system_wasi.h and system_windows.h
 *   give it under the same names.
 *
 * docs/ports.md says what a user does not get where.
 */
#ifndef MF_LIB_SYSTEM_H
#define MF_LIB_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MF_SYSTEM_WINDOWS
#include "lib/io/system_windows.h"
#else
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>
#if !defined(__wasi__)
#include <sys/resource.h>
#endif
#if defined(__wasi__)
#define MF_SYSTEM_WASI
#include "lib/io/system_wasi.h"
#elif defined(__linux__) && defined(__GLIBC__)
#define MF_SYSTEM_LINUX
#else
#define MF_SYSTEM_POSIX
#if defined(__APPLE__)
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#define st_atim st_atimespec
#endif
#endif
#endif

/* Whether files have owners and permissions; else anybody is trusted who can
 * write in a folder. */
#if defined(MF_SYSTEM_WINDOWS) || defined(MF_SYSTEM_WASI)
#define MF_SYSTEM_HAS_OWNERS false
#else
#define MF_SYSTEM_HAS_OWNERS true
#endif

/* Those that return bool or an fd: false, or -1, with errno set. */

/* ---- names in a folder ---- */

/* Renames a file unless `to` exists (EEXIST).  Where nothing can promise that,
 * a look before the rename has to do. */
bool mf_system_rename_new(int folder, const char *from, const char *to);

/* Both names lead to files, and get each other's, at once.  EINVAL, ENOSYS or
 * EOPNOTSUPP where the system or the file system cannot. */
bool mf_system_exchange(int folder, const char *a, const char *b);

/* A file that no name leads to, or that loses its name at once. */
int mf_system_open_unnamed(const char *folder);

/* ---- files ---- */

/* Of st_dev.  Wine knows no volume of a file that was renamed while it was
 * open: 0, which no volume of Windows has. */
static inline bool mf_system_same_device(uint64_t a, uint64_t b)
{
#if defined(MF_SYSTEM_WINDOWS)
    return a == b || a == 0 || b == 0;
#else
    return a == b;
#endif
}

/* Locks a file that is open to write, for this process alone, until it is
 * closed.  EWOULDBLOCK where another process has the lock.  Without locks: true
 * at once. */
bool mf_system_lock(int fd);

/* The same together with others that call this: meanwhile no process has a lock
 * for itself alone. */
bool mf_system_lock_shared(int fd);

/* Gives an empty file its size, and space on the disk if the file system can
 * promise that. */
bool mf_system_allocate(int fd, uint64_t size);

/* Bytes that can still be written to the file system; UINT64_MAX: unknown. */
uint64_t mf_system_free_space(int fd);

/* Begins to write back to the disk what was written so far, and does not wait.
 */
void mf_system_write_back(int fd);

/* Has the system copy bytes.  How many it copied, which may be fewer; 0 where
 * it cannot. */
size_t mf_system_copy(int from, uint64_t at, int to, uint64_t to_at,
                      size_t size);

/* Makes an empty file share the data of another one, until either is written
 * to.  EOPNOTSUPP, ENOTTY, EINVAL, ENOSYS or EXDEV where that cannot be. */
bool mf_system_clone(int from, int to);

/* Whether all data of two files of one size is in one place of the disk; false
 * where the system does not say so. */
bool mf_system_is_clone(int a, int b);

/* Gives a file one more name, in an open folder; a symbolic link is not
 * followed. */
bool mf_system_link(const char *path, int folder, const char *name);

/* Sets when the file was read and written last to what `old` says. */
bool mf_system_set_times(int fd, const struct stat *old);

/* Access lists, labels and the like, as far as this process may set them. */
void mf_system_copy_attributes(int from, int to);
bool mf_system_has_access_list(int fd);
void mf_system_drop_access_list(int fd);

/* Waits until a pipe can be written to, or a signal comes. */
void mf_system_wait_writable(int fd);

/* ---- libraries ---- */

/* A shared library that is loaded at run time; NULL if it cannot be. */
void *mf_system_load(const char *name);
void *mf_system_symbol(void *library, const char *name);
void mf_system_unload(void *library);

/* ---- for the files of systems (system_common.c) ---- */

/* Renames unless there is a file `to` (EEXIST), which a moment later there may
 * be.  Not on Windows. */
bool mf_system_look_and_rename(int folder, const char *from, const char *to);

/* A new file in the folder, which loses its name at once.  Linux and POSIX. */
int mf_system_open_and_unlink(const char *folder);

#endif
