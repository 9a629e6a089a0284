/* SPDX-License-Identifier: MIT
 *
 * system_linux.c - Linux with the C library of GNU
 */
#define _GNU_SOURCE  /* renameat2, fallocate, O_TMPFILE, getdents64 and others \
                      */
#include "lib/io/system.h"

#if defined(MF_SYSTEM_LINUX)

#include <dirent.h> /* getdents64 */
#include <errno.h>
#include <stdio.h> /* renameat2 */
#include <string.h>
#include <sys/xattr.h>

#include "lib/io/path.h"
#include "lib/program.h"

/* ---- names in a folder ---- */

static bool is_unknown(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

bool mf_system_rename_new(int folder, const char *from, const char *to)
{
    int result;

    MF_AGAIN(result, renameat2(folder, from, folder, to, RENAME_NOREPLACE));
    if (result == 0 || !is_unknown(errno))
        return result == 0;
    return mf_system_look_and_rename(folder, from, to);
}

bool mf_system_exchange(int folder, const char *a, const char *b)
{
    int result;

    MF_AGAIN(result, renameat2(folder, a, folder, b, RENAME_EXCHANGE));
    return result == 0;
}

/* Where the file system has no files without a name, it loses its own at once.
 */
int mf_system_open_unnamed(const char *folder)
{
    int fd;

    MF_AGAIN(fd, open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    return mf_system_open_and_unlink(folder);
}

/* As the kernel writes it: see getdents(2). */
struct record {
    uint64_t inode;
    int64_t next;
    uint16_t size; /* of all of it */
    uint8_t type;
    char name[];
};

#define NAME_OFFSET offsetof(struct record, name)

void mf_entries_begin(struct mf_entries *entries, int folder)
{
    entries->folder = folder;
    entries->at = entries->filled = 0;
}

void mf_entries_end(struct mf_entries *entries)
{
    if (entries->folder >= 0)
        close(entries->folder);
    entries->folder = -1;
}

/* False at the end, or with errno set. */
static bool refill(struct mf_entries *entries)
{
    ssize_t got = getdents64(entries->folder, entries->list.bytes,
                             sizeof(entries->list.bytes));

    if (got == 0)
        errno = 0;
    entries->at = 0;
    entries->filled = got > 0 ? (size_t)got : 0;
    return got > 0;
}

const char *mf_entries_next(struct mf_entries *entries)
{
    const uint8_t *at;
    size_t left;
    uint16_t size;

    if (entries->at == entries->filled && !refill(entries))
        return NULL;
    at = entries->list.bytes + entries->at;
    left = entries->filled - entries->at;
    memcpy(&size, at + offsetof(struct record, size), sizeof(size));
    if (left <= NAME_OFFSET || size <= NAME_OFFSET || size > left ||
        !memchr(at + NAME_OFFSET, 0, size - NAME_OFFSET)) {
        errno = EIO; /* not as documented */
        return NULL;
    }
    entries->at += size;
    return (const char *)at + NAME_OFFSET;
}

/* ---- files ---- */

bool mf_system_allocate(int fd, uint64_t size)
{
    int result;

    MF_AGAIN(result, fallocate(fd, 0, 0, (off_t)size));
    if (result == 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return result == 0;
    MF_AGAIN(result, ftruncate(fd, (off_t)size));
    return result == 0;
}

void mf_system_write_back(int fd)
{
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

size_t mf_system_copy(int from, uint64_t at, int to, uint64_t to_at,
                      size_t size)
{
    off_t in = (off_t)at, out = (off_t)to_at;
    ssize_t moved;

    MF_AGAIN(moved, copy_file_range(from, &in, to, &out, size, 0));
    return moved > 0 ? (size_t)moved : 0;
}

/* Access lists and security labels are extended attributes.  One that we may
 * not set was not ours to pass on. */
void mf_system_copy_attributes(int from, int to)
{
    char names[4096], value[4096];
    ssize_t size = flistxattr(from, names, sizeof(names));

    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        ssize_t bytes = fgetxattr(from, names + at, value, sizeof(value));

        if (bytes >= 0)
            (void)fsetxattr(to, names + at, value, (size_t)bytes, 0);
    }
}

#define ACCESS_LIST "system.posix_acl_access"

bool mf_system_has_access_list(int fd)
{
    return fgetxattr(fd, ACCESS_LIST, NULL, 0) > 0;
}

void mf_system_drop_access_list(int fd)
{
    (void)fremovexattr(fd, ACCESS_LIST);
}

#endif
