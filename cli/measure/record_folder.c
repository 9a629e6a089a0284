/* SPDX-License-Identifier: MIT
 *
 * record_folder.c - the folder of a record, and the files in it
 */
#include "cli/measure/record_folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = { "latency.csv", "memory.csv",
                                     "results.csv", "baseline.csv",
                                     "run.json",    RECORD_SUMS };
static const struct {
    const char *name, *suffix;
} folders[] = {
    { "csv", ".csv" },
    { "figs", ".svg" },
    { "witness", ".jsonl" },
};

#define FILES   (sizeof(files) / sizeof(*files))
#define FOLDERS (sizeof(folders) / sizeof(*folders))
_Static_assert(FOLDERS == RECORD_FOLDERS, "all subfolders are counted");

const char *record_subfolder(size_t index)
{
    return index < FOLDERS ? folders[index].name : NULL;
}

/* ---- what is there ---- */

int record_open_below(int fd, const char *name)
{
    int below;

    do
        below =
            openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (below < 0 && errno == EINTR);
    return below;
}

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < FILES; i++)
        if (strcmp(name, files[i]) == 0)
            return true;
    for (size_t i = 0; i < FOLDERS; i++)
        if (strcmp(name, folders[i].name) == 0)
            return true;
    return false;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t size = strlen(name), end = strlen(suffix);

    return size > end && strcmp(name + size - end, suffix) == 0;
}

bool record_can_have(const char *name, size_t *folder)
{
    const char *slash = strchr(name, '/');

    if (!slash)
        return is_ours(name) && strcmp(name, RECORD_SUMS) != 0;
    for (size_t i = 0; i < FOLDERS; i++)
        if (strlen(folders[i].name) == (size_t)(slash - name) &&
            strncmp(folders[i].name, name, (size_t)(slash - name)) == 0) {
            if (folder)
                *folder = i;
            return slash[1] != '.' && !strchr(slash + 1, '/') &&
                   ends_with(slash + 1, folders[i].suffix);
        }
    return false;
}

static void fail(struct record_folder *folder, const char *name)
{
    if (folder->error == 0) {
        folder->error = errno ? errno : EIO;
        snprintf(folder->failed, sizeof(folder->failed), "%s", name);
    }
}

/* ---- removing what was made ---- */

bool record_made(const struct record_folder *folder, uint64_t inode)
{
    for (size_t i = 0; i < folder->files; i++)
        if (folder->inode[i] == inode)
            return true;
    return false;
}

static bool was_made(const struct record_folder *folder, int fd,
                     const char *name)
{
    struct stat status;

    return fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && record_made(folder, status.st_ino);
}

/* name: of a subfolder, or "." */
static void clear(const struct record_folder *folder, const char *name)
{
    struct mf_entries entries;
    const char *entry;

    mf_entries_begin(&entries, record_open_below(folder->fd, name));
    while ((entry = mf_entries_next(&entries)) != NULL)
        if (was_made(folder, entries.folder, entry))
            unlinkat(entries.folder, entry, 0);
    mf_entries_end(&entries);
}

void record_clear(const struct record_folder *folder)
{
    clear(folder, ".");
    for (size_t i = 0; i < FOLDERS; i++) {
        clear(folder, folders[i].name);
        if (folder->made_below[i])
            unlinkat(folder->fd, folders[i].name, AT_REMOVEDIR);
    }
}

void record_folder_drop(struct record_folder *folder)
{
    errno = ECANCELED;
    fail(folder, "");
}

/* ---- files ---- */

static void digest(void *user)
{
    struct record_file *file = user;

    mf_sha256_add(&file->sha, file->out.buffer, file->out.filled);
}

/* Opens the folder that a name begins with, and makes it if it is missing. */
static int open_folder_of(struct record_folder *record, const char *name)
{
    size_t index = 0;

    if (!strchr(name, '/'))
        return fcntl(record->fd, F_DUPFD_CLOEXEC, 0);
    if (!record_can_have(name, &index)) {
        errno = EINVAL;
        return -1;
    }
    if (mkdirat(record->fd, folders[index].name, 0777) == 0)
        record->made_below[index] = true;
    else if (errno != EEXIST)
        return -1;
    return record_open_below(record->fd, folders[index].name);
}

/* Counts a file as made, for a later run, too. */
static bool note_made(struct record_folder *record, int file)
{
    char line[24];
    struct stat status;
    ssize_t wrote;
    int size;

    if (fstat(file, &status) != 0 || record->files == RECORD_FILES)
        return false;
    record->inode[record->files++] = status.st_ino;
    size =
        snprintf(line, sizeof(line), "%" PRIu64 "\n", (uint64_t)status.st_ino);
    do
        wrote = write(record->made_fd, line, (size_t)size);
    while (wrote < 0 && errno == EINTR);
    if (wrote >= 0 && wrote < size)
        errno = ENOSPC;
    return wrote == size;
}

static int create(struct record_folder *record, const char *name)
{
    const char *slash = strchr(name, '/');
    int folder = open_folder_of(record, name), file = -1;

    if (folder < 0)
        return -1;
    do
        file =
            openat(folder, slash ? slash + 1 : name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (file < 0 && errno == EINTR);
    close(folder);
    if (file < 0 || note_made(record, file))
        return file;
    close(file);
    return -1;
}

void record_file_open(struct record_folder *folder, struct record_file *file,
                      const char *name)
{
    int fd = folder->error ? -1 : create(folder, name);

    if (!file->out.buffer) {
        assert(folder->buffers_used < RECORD_BUFFERS);
        file->out.buffer =
            folder->buffers + OUT_BUFFER * folder->buffers_used++;
    }
    snprintf(file->name, sizeof(file->name), "%s", name);
    mf_sha256_begin(&file->sha);
    if (fd < 0 && !folder->error)
        fail(folder, name);
    out_init(&file->out, fd, file->out.buffer);
    file->out.closed = fd < 0;
    file->out.before = digest;
    file->out.user = file;
}

/* What every file ends with; its digest. */
static struct sha256_text close_file(struct record_folder *folder,
                                     struct record_file *file)
{
    out_flush(&file->out);
    if (file->out.fd >= 0 && close(file->out.fd) != 0 && errno != EINTR &&
        !file->out.error)
        file->out.error = errno;
    file->out.fd = -1;
    errno = file->out.error;
    if (errno)
        fail(folder, file->name);
    return sha256_end(&file->sha);
}

struct sha256_text record_file_close(struct record_folder *folder,
                                     struct record_file *file)
{
    struct sha256_text sum = close_file(folder, file);

    out_format(&folder->sums->out, "%s  %s\n", sum.at, file->name);
    return sum;
}

void record_folder_begin(struct record_folder *folder, struct record_file *sums)
{
    folder->sums = sums;
    folder->files = 0;
    folder->made_fd = openat(folder->fd, RECORD_MADE,
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (folder->made_fd < 0)
        fail(folder, RECORD_MADE);
    record_file_open(folder, sums, RECORD_SUMS);
}

struct sha256_text record_folder_end(struct record_folder *folder)
{
    struct sha256_text seal = { "" };

    if (folder->error == 0) {
        out_flush(&folder->sums->out);
        seal = sha256_end(&folder->sums->sha);
        out_format(&folder->sums->out, RECORD_SEAL "%s\n", seal.at);
    }
    close_file(folder, folder->sums);
    if (folder->error) {
        seal = (struct sha256_text){ "" };
        record_clear(folder);
    }
    if (folder->made_fd >= 0) {
        unlinkat(folder->fd, RECORD_MADE, 0);
        close(folder->made_fd);
    }
    if (folder->error && folder->made)
        rmdir(folder->path);
    close(folder->fd);
    folder->fd = -1;
    return seal;
}
