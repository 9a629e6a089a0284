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
#include <linux/fiemap.h>
#include <linux/fs.h> /* FICLONE, FS_IOC_FIEMAP */
#include <stdio.h>    /* renameat2 */
#include <string.h>
#include <sys/ioctl.h>
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

bool mf_system_clone(int from, int to)
{
    int result;

    MF_AGAIN(result, ioctl(to, FICLONE, from));
    return result == 0;
}

/* Part of the list of a file's extents. */
#define EXTENTS 32
union extents {
    struct fiemap list;
    uint8_t
        room[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
};

/* No place of the disk is known of these, or none that is theirs alone. */
#define PLACELESS                                                              \
    (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC |                          \
     FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL)

static bool read_extents(int fd, uint64_t from, union extents *out)
{
    int result;

    memset(out, 0, sizeof(*out));
    out->list.fm_start = from;
    out->list.fm_length = UINT64_MAX - from;
    out->list.fm_flags = FIEMAP_FLAG_SYNC;
    out->list.fm_extent_count = EXTENTS;
    MF_AGAIN(result, ioctl(fd, FS_IOC_FIEMAP, &out->list));
    return result == 0 && out->list.fm_mapped_extents > 0 &&
           out->list.fm_mapped_extents <= EXTENTS;
}

static bool same_extents(const struct fiemap *a, const struct fiemap *b)
{
    bool same = a->fm_mapped_extents == b->fm_mapped_extents;

    for (uint32_t i = 0; same && i < a->fm_mapped_extents; i++) {
        const struct fiemap_extent *one = &a->fm_extents[i];
        const struct fiemap_extent *other = &b->fm_extents[i];

        same = !((one->fe_flags | other->fe_flags) & PLACELESS) &&
               one->fe_logical == other->fe_logical &&
               one->fe_length == other->fe_length &&
               one->fe_physical == other->fe_physical;
    }
    return same;
}

/* Extents that are equal but were cut elsewhere count as different. */
bool mf_system_is_clone(int a, int b)
{
    union extents of_a, of_b;
    const struct fiemap_extent *last;
    uint64_t from = 0;

    do {
        if (!read_extents(a, from, &of_a) || !read_extents(b, from, &of_b) ||
            !same_extents(&of_a.list, &of_b.list))
            return false;
        last = &of_a.list.fm_extents[of_a.list.fm_mapped_extents - 1];
        from = last->fe_logical + last->fe_length;
    } while (!(last->fe_flags & FIEMAP_EXTENT_LAST) && from > last->fe_logical);
    return last->fe_flags & FIEMAP_EXTENT_LAST;
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
