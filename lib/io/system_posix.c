/* SPDX-License-Identifier: MIT
 *
 * system_posix.c - systems with POSIX and flock: musl, the BSDs, macOS
 *
 * Nothing here is of one system alone; most of it is in system_common.c.  There
 * is no exchange of names, so an edit that writes its own input again has a gap
 * between comparing and renaming (target_commit.c); and the kernel copies
 * nothing by itself.
 */
#include "lib/io/system.h"

#if defined(MF_SYSTEM_POSIX)

#include "lib/io/path.h"

int mf_system_open_unnamed(const char *folder)
{
    return mf_system_open_and_unlink(folder);
}

/* Not posix_fallocate: where the file system cannot allocate, some C libraries
 * write zeros instead. */
bool mf_system_allocate(int fd, uint64_t size)
{
    int result;

    MF_AGAIN(result, ftruncate(fd, (off_t)size));
    return result == 0;
}

#endif
