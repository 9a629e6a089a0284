/* SPDX-License-Identifier: MIT
 *
 * system_ownerless.h - POSIX where there is one user, and no limit is known:
 * for system_wasi.h and system_windows.h
 *
 * Every user is number 0, and what sets an owner or a mode has nothing to do.
 */
#ifndef MF_LIB_SYSTEM_OWNERLESS_H
#define MF_LIB_SYSTEM_OWNERLESS_H

#include <stdint.h>

static inline uid_t mf_system_user_zero(void)
{
    return 0;
}

static inline int mf_system_no_owner(int fd, uid_t user, gid_t group)
{
    (void)fd, (void)user, (void)group;
    return 0;
}

static inline int mf_system_no_mode(int fd, unsigned mode)
{
    (void)fd, (void)mode;
    return 0;
}

#define geteuid mf_system_user_zero
#define getegid mf_system_user_zero
#define fchown  mf_system_no_owner
#define fchmod  mf_system_no_mode

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
