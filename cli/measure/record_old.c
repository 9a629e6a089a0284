/* SPDX-License-Identifier: MIT
 *
 * record_old.c - opening the folder of a record, and the one it has already
 *
 * It may be overwritten only if it is whole and as it was written: every file
 * has the digest that SHA256SUMS names, SHA256SUMS has its seal, and nothing
 * else is there.  So a file that another program put in its place is not taken
 * for a file of a record and removed.
 *
 * The record of a run that was killed has no digests: there it is the inode
 * that shows which files are that run's.
 */
#include "cli/measure/record_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGEST ((size_t)64)

/* A digest, two spaces, a name, a newline. */
#define LINE_MOST (DIGEST + 2 + RECORD_NAME)

struct old {
    struct record_folder *folder;
    size_t listed[RECORD_FOLDERS]; /* files in each subfolder */
};

/* ---- files ---- */

int record_open_file(int fd, const char *name)
{
    const char *slash = strchr(name, '/');
    struct stat status;
    char below[RECORD_NAME];
    int folder = fd, file;

    if (slash) {
        snprintf(below, sizeof(below), "%.*s", (int)(slash - name), name);
        folder = record_open_below(fd, below);
        if (folder < 0)
            return -1;
        name = slash + 1;
    }
    file = openat(folder, name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (slash)
        close(folder);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(file);
        errno = EINVAL;
        return -1;
    }
    return file;
}

bool record_digest(int fd, struct sha256_text *out)
{
    char piece[16384];
    struct mf_sha256 sha;
    ssize_t got;

    mf_sha256_begin(&sha);
    do {
        got = read(fd, piece, sizeof(piece));
        if (got > 0)
            mf_sha256_add(&sha, piece, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    *out = sha256_end(&sha);
    return got == 0;
}

/* ---- SHA256SUMS ---- */

/* The size with the newline; 0 at the end, or for a line that is too long. */
static size_t next_line(int sums, off_t *at, char line[LINE_MOST])
{
    ssize_t got;
    char *end;

    do
        got = pread(sums, line, LINE_MOST, *at);
    while (got < 0 && errno == EINTR);
    end = got > 0 ? memchr(line, '\n', (size_t)got) : NULL;
    if (!end)
        return 0;
    *end = 0;
    *at += end + 1 - line;
    return (size_t)(end + 1 - line);
}

typedef bool each_file(struct old *old, const char *name, const char *digest);

static bool is_seal(int sums, off_t at, const struct mf_sha256 *sha,
                    const char *line)
{
    char more[LINE_MOST];

    return strcmp(line + strlen(RECORD_SEAL), sha256_end(sha).at) == 0 &&
           pread(sums, more, 1, at) == 0;
}

/* Calls each for every file that is listed.  False if that is false, or if the
 * list is not one of a record that ended. */
static bool for_each(struct old *old, each_file *each)
{
    int sums = record_open_file(old->folder->fd, RECORD_SUMS);
    bool sealed = false, good = sums >= 0;
    char line[LINE_MOST];
    struct mf_sha256 sha;
    off_t at = 0;
    size_t size;

    mf_sha256_begin(&sha);
    while (good && !sealed && (size = next_line(sums, &at, line)) > 0) {
        if (strncmp(line, RECORD_SEAL, strlen(RECORD_SEAL)) == 0) {
            sealed = good = is_seal(sums, at, &sha, line);
            continue;
        }
        mf_sha256_add(&sha, line, size - 1);
        mf_sha256_add(&sha, "\n", 1);
        good = size > DIGEST + 3 && line[DIGEST] == ' ' &&
               line[DIGEST + 1] == ' ' &&
               record_can_have(line + DIGEST + 2, NULL) &&
               each(old, line + DIGEST + 2, line);
    }
    if (sums >= 0)
        close(sums);
    return sealed;
}

/* ---- is it whole ---- */

static bool is_unchanged(struct old *old, const char *name, const char *digest)
{
    int file = record_open_file(old->folder->fd, name);
    struct sha256_text sum = { "" };
    bool same = file >= 0 && record_digest(file, &sum) &&
                memcmp(sum.at, digest, DIGEST) == 0;
    size_t below = 0;

    if (file >= 0)
        close(file);
    if (!same)
        snprintf(old->folder->failed, RECORD_NAME, "%s", name);
    record_can_have(name, &below);
    old->listed[below] += strchr(name, '/') ? 1 : 0;
    return same;
}

/* Whether a subfolder has only files that are listed. */
static bool has_no_more(struct old *old, size_t index)
{
    const char *name = record_subfolder(index);
    int fd = record_open_below(old->folder->fd, name);
    struct mf_entries entries;
    const char *entry;
    size_t count = 0;

    if (fd < 0)
        return errno == ENOENT;
    mf_entries_begin(&entries, fd);
    while ((entry = mf_entries_next(&entries)) != NULL)
        count += strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0;
    mf_entries_end(&entries);
    if (count != old->listed[index])
        snprintf(old->folder->failed, RECORD_NAME, "%s", name);
    return count == old->listed[index];
}

/* Else folder->failed is a file that is not as it was written. */
static bool is_whole(struct record_folder *folder)
{
    struct old old = { .folder = folder };
    bool whole;

    snprintf(folder->failed, RECORD_NAME, "%s", RECORD_SUMS);
    whole = for_each(&old, is_unchanged);
    for (size_t i = 0; i < RECORD_FOLDERS && whole; i++)
        whole = has_no_more(&old, i);
    if (whole)
        *folder->failed = 0;
    return whole;
}

/* ---- what a run left that was killed ---- */

/* Reads the list of what it made.  Other people's files must not get onto it,
 * so it must be ours alone. */
static bool read_made(struct record_folder *folder)
{
    int file = record_open_file(folder->fd, RECORD_MADE);
    char piece[4096];
    uint64_t inode = 0;
    struct stat status;
    bool good = file >= 0 && fstat(file, &status) == 0 &&
                status.st_uid == geteuid() && status.st_nlink == 1 &&
                (status.st_mode & 07777 & ~(mode_t)0600) == 0;
    ssize_t got = 0;

    do {
        for (ssize_t i = 0; i < got && good; i++) {
            good = (piece[i] >= '0' && piece[i] <= '9') ||
                   (piece[i] == '\n' && folder->files < RECORD_FILES);
            if (good && piece[i] == '\n') {
                folder->inode[folder->files++] = inode;
                inode = 0;
            } else {
                inode = inode * 10 + (uint64_t)(piece[i] - '0');
            }
        }
        got = good ? read(file, piece, sizeof(piece)) : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (file >= 0)
        close(file);
    return good && got == 0;
}

/* One without a line is empty: the run was killed before it wrote the line. */
static bool is_left(struct record_folder *folder, int fd, const char *name)
{
    struct stat status;
    bool left = fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(status.st_mode) &&
                (record_made(folder, status.st_ino) ||
                 (status.st_size == 0 && status.st_uid == geteuid() &&
                  folder->files < RECORD_FILES));

    if (left && !record_made(folder, status.st_ino))
        folder->inode[folder->files++] = status.st_ino;
    return left;
}

/* below: the index of a subfolder, or SIZE_MAX. */
static bool all_left(struct record_folder *folder, size_t below)
{
    const char *in = below < SIZE_MAX ? record_subfolder(below) : ".";
    int fd = record_open_below(folder->fd, in);
    bool missing = below < SIZE_MAX && fd < 0 && errno == ENOENT;
    struct mf_entries entries;
    bool good = missing || fd >= 0;
    const char *name;

    mf_entries_begin(&entries, fd);
    while (good && (name = mf_entries_next(&entries)) != NULL) {
        bool is_folder = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                         strcmp(name, RECORD_MADE) == 0;

        for (size_t i = 0; i < RECORD_FOLDERS && below == SIZE_MAX; i++)
            is_folder |= strcmp(name, record_subfolder(i)) == 0;
        good = is_folder || is_left(folder, entries.folder, name);
        if (!good)
            snprintf(folder->failed, RECORD_NAME, "%.*s", RECORD_NAME - 1,
                     below < SIZE_MAX ? in : name);
    }
    mf_entries_end(&entries);
    return good;
}

/* Whether all that is there was made by a run that did not end. */
static bool is_broken(struct record_folder *folder)
{
    bool broken = read_made(folder) && all_left(folder, SIZE_MAX);

    for (size_t i = 0; i < RECORD_FOLDERS && broken; i++)
        broken = all_left(folder, i);
    return broken;
}

/* ---- opening the folder ---- */

/* Another user may have put a link or a folder there for us to fill. */
static bool is_planted(int fd, const char *path)
{
    int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat own, above, link;
    bool planted = false;

    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        planted = link.st_uid != geteuid() && link.st_uid != 0;
    if (parent >= 0 && fstat(fd, &own) == 0 && fstat(parent, &above) == 0)
        planted = planted || mf_is_planted(&above, &own);
    if (parent >= 0)
        close(parent);
    return planted;
}

static bool is_of_record(const char *name)
{
    bool is = strcmp(name, RECORD_SUMS) == 0 || record_can_have(name, NULL);

    for (size_t i = 0; i < RECORD_FOLDERS && !is; i++)
        is = strcmp(name, record_subfolder(i)) == 0;
    return is;
}

/* Sets failed to the first name that is not of a record. */
static enum record_found look(struct record_folder *folder)
{
    bool is_empty = true, has_others = false;
    struct mf_entries entries;
    struct stat status;
    const char *name;

    if (fstatat(folder->fd, RECORD_MADE, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        snprintf(folder->failed, RECORD_NAME, "%s", RECORD_MADE);
        return is_broken(folder) ? RECORD_BROKEN : RECORD_OTHER;
    }

    mf_entries_begin(&entries, record_open_below(folder->fd, "."));
    while (!has_others && (name = mf_entries_next(&entries)) != NULL) {
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        is_empty = false;
        has_others = !is_of_record(name);
        if (has_others)
            snprintf(folder->failed, RECORD_NAME, "%.*s", RECORD_NAME - 1,
                     name);
    }
    mf_entries_end(&entries);
    if (is_empty)
        return RECORD_READY;
    return !has_others && is_whole(folder) ? RECORD_OLD : RECORD_OTHER;
}

static enum record_found cannot_open(struct record_folder *folder)
{
    folder->error = errno;
    return RECORD_FAILED;
}

enum record_found record_folder_open(struct record_folder *folder,
                                     const char *path)
{
    *folder = (struct record_folder){ .path = path, .fd = -1, .made_fd = -1 };
    folder->made = mkdir(path, 0777) == 0;
    if (!folder->made && errno != EEXIST)
        return cannot_open(folder);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return cannot_open(folder);
    if (is_planted(folder->fd, path))
        return RECORD_PLANTED;
    if (flock(folder->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return RECORD_BUSY;
    return look(folder);
}

/* ---- removing it ---- */

static bool remove_listed(struct old *old, const char *name, const char *digest)
{
    const char *slash = strchr(name, '/');
    char below[RECORD_NAME];
    int folder = old->folder->fd;

    (void)digest;
    snprintf(below, sizeof(below), "%.*s", slash ? (int)(slash - name) : 0,
             name);
    if (slash)
        folder = record_open_below(old->folder->fd, below);
    if (folder >= 0)
        unlinkat(folder, slash ? slash + 1 : name, 0);
    if (slash && folder >= 0)
        close(folder);
    return true;
}

/* The list goes last: a kill meanwhile leaves a folder that can be removed
 * again. */
void record_remove(struct record_folder *folder)
{
    struct old old = { .folder = folder };

    if (folder->files > 0)
        record_clear(folder);
    else
        for_each(&old, remove_listed);
    unlinkat(folder->fd, RECORD_SUMS, 0);
    for (size_t i = 0; i < RECORD_FOLDERS; i++)
        unlinkat(folder->fd, record_subfolder(i), AT_REMOVEDIR);
    unlinkat(folder->fd, RECORD_MADE, 0);
}
