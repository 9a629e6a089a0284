/* SPDX-License-Identifier: MIT
 *
 * hub_file.c - files of a commit: in the cache, or on the Hub
 */
#include "cli/remote/hub_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/remote/asking.h"
#include "cli/room.h"

/* ---- digests ---- */

/* What a command leaves out between two reads, such as padding, is read for the
 * digest's sake. */
#define GAP_MAX ((uint64_t)64 * 1024)

static int64_t read_raw(struct hub_file *file, uint64_t offset, void *buffer,
                        size_t count)
{
    ssize_t got;

    if (!file->cached)
        return asking_read(file->number, offset, buffer, count);
    got = pread(file->fd, buffer, count, (off_t)offset);
    if (got == 0)
        return -asking_failed(EIO, "the file in the cache has become shorter");
    if (got < 0)
        return -asking_failed(errno, "in the cache");
    the_hub.cost.cached += (uint64_t)got;
    return got;
}

static int compare_digest(struct hub_file *file)
{
    uint8_t found[32];

    mf_sha256_end(&file->sha, found);
    if (memcmp(found, file->digest, sizeof(found)) != 0)
        return asking_failed(EIO, "its SHA-256 is not the one that the Hub "
                                  "lists");
    file->checked = true;
    the_hub.cost.checked++;
    the_hub.cost.unchecked--;
    return 0;
}

/* Adds bytes that follow those that were added before; others are left out. */
static int add_bytes(struct hub_file *file, uint64_t offset,
                     const uint8_t *bytes, size_t count)
{
    uint64_t known = file->sha.size;

    if (!file->has_digest || file->checked || offset > known ||
        known - offset >= count)
        return 0;
    bytes += known - offset;
    mf_sha256_add(&file->sha, bytes, count - (size_t)(known - offset));
    return file->sha.size == file->size ? compare_digest(file) : 0;
}

static int add_gap(struct hub_file *file, uint64_t end)
{
    uint8_t bytes[4096];
    int reason = 0;

    while (reason == 0 && file->sha.size < end) {
        uint64_t from = file->sha.size, left = end - from;
        int64_t got =
            read_raw(file, from, bytes,
                     left < sizeof(bytes) ? (size_t)left : sizeof(bytes));

        reason =
            got < 0 ? (int)-got : add_bytes(file, from, bytes, (size_t)got);
    }
    return reason;
}

/* ---- a source ---- */

static int64_t read_file(void *user, uint64_t offset, void *buffer,
                         size_t count)
{
    struct hub_file *file = user;
    uint64_t known = file->sha.size;
    int reason = 0;
    int64_t got;

    if (file->has_digest && !file->checked && offset > known &&
        offset - known <= GAP_MAX)
        reason = add_gap(file, offset);
    if (reason != 0)
        return -reason;
    got = read_raw(file, offset, buffer, count);
    if (got > 0)
        reason = add_bytes(file, offset, buffer, (size_t)got);
    return reason != 0 ? -reason : got;
}

static void expect_file(void *user, uint64_t offset, uint64_t size)
{
    const struct hub_file *file = user;

    if (!file->cached)
        asking_expect(file->number, offset, size);
}

static void close_file(void *user)
{
    struct hub_file *file = user;

    if (--file->users > 0 || file->fd < 0)
        return;
    close(file->fd);
    file->fd = -1;
}

/* ---- files ---- */

static struct hub_file *find_file(const struct repository *repository,
                                  const char *path)
{
    struct hub_file *file = repository->file;

    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    return file;
}

int hub_no_such_file(void)
{
    return asking_failed(ENOENT, the_hub.offline
                                     ? "the cache does not have it, and "
                                       "HF_HUB_OFFLINE is set"
                                     : "the commit has no such file");
}

static int find_listed(struct repository *repository, const char *path,
                       const struct listed_file **out)
{
    int reason = hub_list(repository);

    *out = reason == 0 ? listing_find(repository->listing, path) : NULL;
    if (reason == 0 && !*out)
        return hub_no_such_file();
    return reason;
}

/* Blobs are named by their SHA-256, as links say that lead to them. */
static bool digest_of_link(const char *path, uint8_t out[32])
{
    static const char digits[] = "0123456789abcdef";
    char link[PATH_MAX];
    ssize_t size = readlink(path, link, sizeof(link) - 1);
    const char *name;

    if (size < 0)
        return false;
    link[size] = 0;
    name = strrchr(link, '/');
    if (!name || strlen(++name) != 64 || strspn(name, digits) != 64)
        return false;
    for (size_t i = 0; i < 64; i++)
        out[i / 2] =
            (uint8_t)(out[i / 2] << 4 | (strchr(digits, name[i]) - digits));
    return true;
}

static int open_cached(struct hub_file *file, const char *path)
{
    struct stat status;

    if (file->fd < 0)
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        return asking_failed(errno, "in the cache");
    file->cached = true;
    file->size = (uint64_t)status.st_size;
    file->has_digest = file->size > 0 && digest_of_link(path, file->digest);
    return 0;
}

static int open_listed(struct hub_file *file, const struct listed_file *listed)
{
    struct wire_ask ask = { .op = WIRE_FILE,
                            .file = hub_number(file->repository) };
    char name[HUB_COMMIT_DIGITS + 1 + HUB_PATH_SIZE];
    struct wire_answer answer;
    int reason;

    snprintf(name, sizeof(name), "%s/%s", file->repository->commit, file->path);
    ask.size = strlen(name);
    reason = asking_open(&ask, name, &answer);
    if (reason != 0)
        return reason;
    file->number = answer.file;
    file->size = answer.total;
    file->has_digest = listed->has_digest && file->size > 0;
    memcpy(file->digest, listed->digest, sizeof(file->digest));
    if (file->size != listed->size)
        return asking_failed(EIO, "its size is not the one that the Hub lists");
    return 0;
}

/* In the cache, or on the Hub; ENOENT without a question where it is known that
 * there is no such file. */
static int open_new(struct hub_file *file)
{
    struct repository *repository = file->repository;
    const char *name = repository->name.repository;
    const struct listed_file *listed;
    char path[PATH_MAX];
    int reason;

    if (hub_cache_find(name, repository->commit, file->path, path))
        return open_cached(file, path);
    if (the_hub.offline ||
        hub_cache_lacks(name, repository->commit, file->path))
        return hub_no_such_file();
    reason = find_listed(repository, file->path, &listed);
    return reason == 0 ? open_listed(file, listed) : reason;
}

static int reopen(struct hub_file *file)
{
    uint64_t size = file->size;
    char path[PATH_MAX];
    int reason;

    if (!file->cached || file->fd >= 0)
        return 0;
    if (!hub_cache_find(file->repository->name.repository,
                        file->repository->commit, file->path, path))
        return asking_failed(ENOENT, "it has gone from the cache");
    reason = open_cached(file, path);
    if (reason == 0 && file->size != size)
        return asking_failed(EIO, "the file in the cache has changed");
    return reason;
}

static int make_file(struct repository *repository, const char *path,
                     struct hub_file **out)
{
    struct hub_file file = { .next = repository->file,
                             .repository = repository,
                             .fd = -1 };
    int reason;

    strcpy(file.path, path);
    mf_sha256_begin(&file.sha);
    reason = open_new(&file);
    if (reason != 0)
        return reason;
    *out = room_take(sizeof(**out));
    if (!*out)
        return ENOMEM;
    **out = file;
    repository->file = *out;
    the_hub.cost.unchecked += file.has_digest;
    return 0;
}

int hub_put_name(const struct repository *repository, const char *path,
                 char *out, size_t room)
{
    return snprintf(out, room, HUB_PREFIX "%s/%s", repository->name.repository,
                    path);
}

/* A file of a commit stays the same, wherever it is read. */
static void put_version(const struct hub_file *file, uint64_t out[2])
{
    const char *commit = file->repository->commit;
    struct mf_sha256 sha;
    uint8_t digest[32];

    /* What the cache has under a plain name can be anything. */
    if (file->cached && !file->has_digest)
        return;
    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, commit, strlen(commit) + 1);
    mf_sha256_add(&sha, file->path, strlen(file->path) + 1);
    if (file->has_digest)
        mf_sha256_add(&sha, file->digest, sizeof(file->digest));
    mf_sha256_end(&sha, digest);
    memcpy(out, digest, 2 * sizeof(*out));
}

static int open_named(void *user, const char *name, struct mf_byte_source *out);

int hub_open_path(struct repository *repository, const char *path,
                  struct mf_byte_source *out)
{
    struct hub_file *file = find_file(repository, path);
    int reason;

    if (strlen(path) >= sizeof(file->path))
        return asking_failed(ENOENT, "no file of the Hub has that name");
    reason = file ? reopen(file) : make_file(repository, path, &file);
    if (reason != 0)
        return reason;
    file->users++;
    *out = (struct mf_byte_source){ .size = sizeof(*out),
                                    .bytes = file->size,
                                    .read = read_file,
                                    .user = file,
                                    .open = open_named,
                                    .close = close_file,
                                    .expect = expect_file,
                                    .one_at_a_time = true };
    put_version(file, out->version);
    return 0;
}

static int open_named(void *user, const char *name, struct mf_byte_source *out)
{
    struct repository *repository = ((struct hub_file *)user)->repository;
    char before[HUB_REPOSITORY_SIZE + 16];
    size_t size = (size_t)hub_put_name(repository, "", before, sizeof(before));

    if (strncmp(name, before, size) != 0 || !hub_is_path(name + size) ||
        strlen(name + size) >= HUB_PATH_SIZE)
        return ENOENT;
    return hub_open_path(repository, name + size, out);
}

struct hub_file *hub_find_named(const struct repository *repository,
                                const char *name)
{
    char before[HUB_REPOSITORY_SIZE + 16];
    size_t size = (size_t)hub_put_name(repository, "", before, sizeof(before));

    return strncmp(name, before, size) == 0 ? find_file(repository, name + size)
                                            : NULL;
}

/* Reads what has not passed in order. */
int hub_read_rest(struct hub_file *file, uint8_t *bytes)
{
    int reason = 0;

    expect_file(file, file->sha.size, file->size - file->sha.size);
    while (reason == 0 && !file->checked) {
        uint64_t from = file->sha.size, left = file->size - from;
        int64_t got = read_raw(file, from, bytes,
                               left < HUB_PIECE ? (size_t)left : HUB_PIECE);

        reason =
            got < 0 ? (int)-got : add_bytes(file, from, bytes, (size_t)got);
        if (reason == 0 && progress_signal() != 0)
            reason = ECANCELED;
    }
    return reason;
}
