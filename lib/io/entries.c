/* SPDX-License-Identifier: MIT
 *
 * entries.c - the names in a folder, one after the other
 */
#if defined(__linux__)
#define _GNU_SOURCE /* getdents64 */
#endif
#include "lib/program.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)

#include <dirent.h>

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

#else

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
