/* SPDX-License-Identifier: MIT
 *
 * system_wasi.h - what WASI lacks of POSIX, under the names of POSIX
 *
 * There is one user and one process, and files have no permissions: every user
 * is number 0, and what sets an owner or a mode has nothing to do.
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

#include "lib/io/system_ownerless.h"

#define getpid mf_system_user_zero

#endif
