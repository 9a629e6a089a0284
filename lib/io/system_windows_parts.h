/* SPDX-License-Identifier: MIT
 *
 * system_windows_parts.h - what the two files for Windows share
 *
 * system_windows.c has calls of POSIX, system_windows_own.c the calls of
 * lib/io/system.h.
 */
#ifndef MF_LIB_SYSTEM_WINDOWS_PARTS_H
#define MF_LIB_SYSTEM_WINDOWS_PARTS_H

#include <wchar.h>
#include <windows.h>

/* -1, with errno for the error that the system reported last. */
int mf_windows_failed(void);

HANDLE mf_windows_handle(int fd);

/* A descriptor for a handle, which is closed with it; -1 with errno set. */
int mf_windows_descriptor(HANDLE handle, int flags);

/* The path in UTF-16, after the folder's unless it is absolute or the folder is
 * AT_FDCWD.  False with errno set. */
bool mf_windows_path(int folder, const char *path, WCHAR out[PATH_MAX]);

/* replace: what has the name `to` goes; else EEXIST. */
bool mf_windows_rename(int folder, const char *from, int to_folder,
                       const char *to, bool replace);

#endif
