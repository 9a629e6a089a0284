/* SPDX-License-Identifier: MIT
 *
 * record_folder.c - the folder of a record, and the files in it
 */
#include "cli/record_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
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

/* Its own descriptor, which closedir closes. */
static DIR *list_of(int fd)
{
    int copy = record_open_below(fd, ".");
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;

    if (!list && copy >= 0)
        close(copy);
    return list;
}

static enum record_found fail(struct record_folder *folder, const char *name)
{
    if (folder->error == 0) {
        folder->error = errno ? errno : EIO;
        snprintf(folder->failed, sizeof(folder->failed), "%s", name);
    }
    return RECORD_FAILED;
}

/* Sets failed to the first name that is not ours. */
static enum record_found look(struct record_folder *folder)
{
    enum record_found found = RECORD_READY;
    const struct dirent *entry;
    DIR *list = list_of(folder->fd);

    if (!list)
        return fail(folder, "");
    while (found != RECORD_OTHER && (entry = readdir(list)) != NULL) {
        if (is_dots(entry->d_name))
            continue;
        found = is_ours(entry->d_name) ? RECORD_OLD : RECORD_OTHER;
        snprintf(folder->failed, sizeof(folder->failed), "%.*s",
                 RECORD_NAME - 1, entry->d_name);
    }
    closedir(list);
    return found;
}

enum record_found record_folder_open(struct record_folder *folder,
                                     const char *path)
{
    *folder = (struct record_folder){ .path = path, .fd = -1 };
    folder->made = mkdir(path, 0777) == 0;
    if (!folder->made && errno != EEXIST)
        return fail(folder, "");
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return fail(folder, "");
    return look(folder);
}

/* ---- removing ---- */

static void clear_below(int above, const char *name, const char *suffix)
{
    int fd = record_open_below(above, name);
    DIR *list = fd >= 0 ? list_of(fd) : NULL;
    const struct dirent *entry;

    while (list && (entry = readdir(list)) != NULL)
        if (ends_with(entry->d_name, suffix))
            unlinkat(fd, entry->d_name, 0);
    if (list)
        closedir(list);
    if (fd >= 0)
        close(fd);
    if (unlinkat(above, name, AT_REMOVEDIR) != 0)
        unlinkat(above, name, 0); /* a link, or a file */
}

void record_folder_clear(struct record_folder *folder)
{
    for (size_t i = 0; i < FILES; i++)
        unlinkat(folder->fd, files[i], 0);
    for (size_t i = 0; i < FOLDERS; i++)
        clear_below(folder->fd, folders[i].name, folders[i].suffix);
}

/* ---- files ---- */

static void digest(void *user)
{
    struct record_file *file = user;

    mf_sha256_add(&file->sha, file->out.buffer, file->out.filled);
}

/* Opens the folder that a name begins with, and makes it if it is missing. */
static int open_folder_of(int fd, const char *name)
{
    const char *slash = strchr(name, '/');
    char below[RECORD_NAME];

    if (!slash)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    snprintf(below, sizeof(below), "%.*s", (int)(slash - name), name);
    if (mkdirat(fd, below, 0777) != 0 && errno != EEXIST)
        return -1;
    return record_open_below(fd, below);
}

static int create(int fd, const char *name)
{
    const char *slash = strchr(name, '/');
    int folder = open_folder_of(fd, name), file = -1;

    if (folder < 0)
        return -1;
    do
        file =
            openat(folder, slash ? slash + 1 : name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (file < 0 && errno == EINTR);
    close(folder);
    return file;
}

void record_file_open(struct record_folder *folder, struct record_file *file,
                      const char *name)
{
    int fd = folder->error ? -1 : create(folder->fd, name);

    snprintf(file->name, sizeof(file->name), "%s", name);
    mf_sha256_begin(&file->sha);
    if (fd < 0 && !folder->error)
        fail(folder, name);
    out_init(&file->out, fd);
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
        record_folder_clear(folder);
        if (folder->made)
            rmdir(folder->path);
    }
    close(folder->fd);
    folder->fd = -1;
    return seal;
}
