/* SPDX-License-Identifier: MIT
 *
 * system_wasi.h - what WASI lacks of POSIX, under the names of POSIX
 *
 * There is one user and one process, and files have no permissions: whoever is
 * asked for is number 0, and what sets an owner or a mode has nothing to do.
 */
#ifndef MF_LIB_SYSTEM_WASI_H
#define MF_LIB_SYSTEM_WASI_H

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

#if !defined(ENODATA)
#define ENODATA 1024 /* WASI numbers its errors from 0 to 76 */
#endif

#if !defined(F_DUPFD_CLOEXEC)
#define F_DUPFD_CLOEXEC 1024 /* fcntl answers EINVAL */
#endif

#if !defined(S_ISVTX)
#define S_ISVTX 01000
#endif

static inline uid_t mf_wasi_user(void)
{
    return 0;
}

static inline int mf_wasi_chown(int fd, uid_t user, gid_t group)
{
    (void)fd, (void)user, (void)group;
    return 0;
}

static inline int mf_wasi_chmod(int fd, mode_t mode)
{
    (void)fd, (void)mode;
    return 0;
}

#define geteuid mf_wasi_user
#define getegid mf_wasi_user
#define getpid  mf_wasi_user
#define fchown  mf_wasi_chown
#define fchmod  mf_wasi_chmod

/* ---- limits of the process: none is known ---- */

struct rlimit {
    uint64_t rlim_cur;
};

#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_DATA   0
#define RLIMIT_AS     1
#define RLIMIT_NOFILE 2
#define RLIMIT_NPROC  3

static inline int getrlimit(int resource, struct rlimit *out)
{
    (void)resource, (void)out;
    return -1;
}

#endif
