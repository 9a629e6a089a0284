/* SPDX-License-Identifier: MIT
 *
 * hub_open.c - models of the Hub: the parser's side
 */
#include "cli/remote/hub_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/remote/asking.h"
#include "cli/remote/hub_listing.h"
#include "cli/remote/hub_serve.h"
#include "cli/report.h"
#include "cli/room.h"

#define PAGES_MAX 200 /* of 1000 files, as a rule */

struct repository;

/* A file that was opened; it is remembered until the end of the run. */
struct hub_file {
    struct hub_file *next;
    struct repository *repository;
    char path[HUB_PATH_SIZE];
    bool cached;     /* it is in the cache, else on the Hub */
    int fd;          /* of the cache; -1: it is closed */
    unsigned users;  /* of the descriptor */
    uint32_t number; /* the helper's */
    uint64_t size;
    bool has_digest, checked;
    uint8_t digest[32];
    struct mf_sha256 sha; /* of the first sha.size bytes */
};

struct repository {
    const char *operand;
    struct hub_name name;
    char commit[HUB_COMMIT_DIGITS + 1]; /* "" until it is known */
    struct listing *listing;            /* NULL until it is known */
    struct listing own;
    struct hub_file *file;
};

static struct {
    struct run *run;
    struct repository *repository;
    const char **names; /* theirs, for the helper */
    size_t count;
    bool offline;
    struct hub_cost cost;
} hub;

/* ---- the command line ---- */

bool hub_begin(struct run *run, const char *const *operand, size_t count)
{
    const char *why = NULL;

    const char *set = getenv("HF_HUB_OFFLINE");

    hub.run = run;
    hub.offline =
        hub_is_set(set && *set ? "HF_HUB_OFFLINE" : "TRANSFORMERS_OFFLINE");
    hub.repository = room_take(count * sizeof(*hub.repository));
    hub.names = room_take(count * sizeof(*hub.names));
    if (!hub.repository || !hub.names) {
        report_no_room(run);
        return false;
    }
    for (; hub.count < count && !why; hub.count++) {
        struct repository *repository = &hub.repository[hub.count];

        repository->operand = operand[hub.count];
        why = hub_parse(repository->operand, &repository->name);
        hub.names[hub.count] = repository->name.repository;
        if (why)
            report_usage(run, "'%.200s': %s", repository->operand, why);
    }
    return !why;
}

bool hub_is_online(void)
{
    return !hub.offline;
}

const char *const *hub_repositories(void)
{
    return hub.names;
}

static uint32_t number_of(const struct repository *repository)
{
    return (uint32_t)(repository - hub.repository);
}

static struct repository *find_repository(const char *operand)
{
    for (size_t i = 0; i < hub.count; i++)
        if (strcmp(hub.repository[i].operand, operand) == 0)
            return &hub.repository[i];
    return NULL;
}

/* ---- answers of the Hub's API ---- */

struct page {
    char *bytes;
    size_t size, room;
    uint32_t number; /* the helper's */
};

static void release_page(struct page *page)
{
    if (page->bytes)
        mf_env_resize(hub.run->env, page->bytes, page->room, 0);
    *page = (struct page){ NULL, 0, 0, page->number };
}

static int read_bytes(struct page *page, size_t size)
{
    while (size > 0) {
        int64_t got = asking_read(page->number, page->size, page->bytes +
                                  page->size, size);

        if (got < 0)
            return (int)-got;
        page->size += (size_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static int read_page(const struct wire_ask *ask, const char *name,
                     struct page *page)
{
    struct wire_answer answer;
    int reason = asking_open(ask, name, &answer);

    if (reason != 0)
        return reason;
    if (answer.total > HUB_DOCUMENT_MAX)
        return asking_failed(EIO, "the Hub's answer is too long");
    page->number = answer.file;
    page->room = (size_t)answer.total + 1;
    page->bytes = mf_env_resize(hub.run->env, NULL, 0, page->room);
    return page->bytes ? read_bytes(page, (size_t)answer.total) : ENOMEM;
}

/* An object around an array. */
static int add_page(struct listing *listing, struct page *page)
{
    static const char before[] = LISTING_BEFORE, after[] = LISTING_AFTER;
    size_t room = page->size + sizeof(before) + sizeof(after);
    char *whole = mf_env_resize(hub.run->env, NULL, 0, room);
    struct listing_why why;
    int reason;

    if (!whole)
        return ENOMEM;
    memcpy(whole, before, sizeof(before) - 1);
    memcpy(whole + sizeof(before) - 1, page->bytes, page->size);
    memcpy(whole + sizeof(before) - 1 + page->size, after, sizeof(after));
    release_page(page);
    reason = listing_add(listing, whole, room - 2, &why);
    mf_env_resize(hub.run->env, whole, room, 0);
    return reason != 0 ? asking_failed(reason, why.text) : 0;
}

static int add_pages(struct repository *repository, struct listing *listing)
{
    struct wire_ask ask = { WIRE_LIST, number_of(repository), 0,
                            strlen(repository->commit) };
    const char *name = repository->commit;
    struct page page = { NULL, 0, 0, 0 };
    int reason = 0;

    for (unsigned i = 0; reason == 0; i++) {
        reason = i < PAGES_MAX
                     ? read_page(&ask, name, &page)
                     : asking_failed(EIO, "the Hub's list of files has more "
                                          "than 200 pages");
        if (reason == 0)
            reason = add_page(listing, &page);
        release_page(&page);
        ask = (struct wire_ask){ WIRE_NEXT, page.number, 0, 0 };
        name = NULL;
    }
    return reason == ENODATA ? 0 : reason;
}

struct adding {
    struct listing *listing;
    bool done;
};

static void add_name(void *user, const char *file)
{
    struct adding *adding = user;

    if (hub_is_path(file) && strlen(file) < HUB_PATH_SIZE)
        adding->done = adding->done && listing_put(adding->listing, file);
}

/* Without the Hub, a commit has the files that the cache has of it. */
static int add_cached(const struct repository *repository,
                      struct listing *listing)
{
    struct adding adding = { listing, true };

    hub_cache_files(hub.run, repository->name.repository, repository->commit,
                    add_name, &adding);
    if (adding.done && listing->count == 0)
        return asking_failed(ENOENT, "the cache has nothing of it, and "
                                     "HF_HUB_OFFLINE is set");
    return adding.done ? 0 : ENOMEM;
}

#define KEPT_MAX ((off_t)16 * 1024 * 1024)

/* Reads a file of the cache to its end; NULL if it cannot be had. */
static char *read_kept(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    ssize_t got = -1;
    char *bytes = NULL;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0 && status.st_size <= KEPT_MAX) {
        *size = (size_t)status.st_size;
        bytes = mf_env_resize(hub.run->env, NULL, 0, *size);
        got = bytes ? pread(fd, bytes, *size, 0) : -1;
    }
    if (fd >= 0)
        close(fd);
    if (!bytes || (size_t)got == *size)
        return bytes;
    mf_env_resize(hub.run->env, bytes, *size, 0);
    return NULL;
}

/* The list that the cache has of a commit; false if the Hub has to be asked. */
static bool add_kept(const struct repository *repository,
                     struct listing *listing)
{
    char path[PATH_MAX];
    size_t size = 0;
    char *bytes = NULL;
    bool added;

    if (hub_cache_list(repository->name.repository, repository->commit, path))
        bytes = read_kept(path, &size);
    added = bytes && listing_add_kept(listing, bytes, size) == 0;
    if (bytes)
        mf_env_resize(hub.run->env, bytes, size, 0);
    if (!added)
        listing_release(listing);
    return added;
}

/* Two names may be of one commit. */
static struct listing *find_listing(const struct repository *repository)
{
    for (size_t i = 0; i < hub.count; i++) {
        const struct repository *other = &hub.repository[i];

        if (other->listing &&
            strcmp(other->commit, repository->commit) == 0 &&
            strcmp(other->name.repository, repository->name.repository) == 0)
            return other->listing;
    }
    return NULL;
}

/* A source of bytes cannot be asked for the names in a folder. */
static void remark_templates(const struct repository *repository)
{
    static const char folder[] = "additional_chat_templates/";
    const struct listing *listing = repository->listing;

    for (size_t i = 0; i < listing->count; i++)
        if (strstr(listing_path(listing, &listing->file[i]), folder)) {
            report_remark(hub.run, repository->operand,
                          "chat templates in additional_chat_templates are "
                          "not read");
            return;
        }
}

/* Finds out which files the commit has. */
static int list(struct repository *repository)
{
    struct listing_why why = { "" };
    int reason;

    if (!repository->listing)
        repository->listing = find_listing(repository);
    if (repository->listing)
        return 0;
    repository->own = (struct listing){ .env = hub.run->env };
    reason = hub.offline ? add_cached(repository, &repository->own)
             : add_kept(repository, &repository->own)
                 ? 0
                 : add_pages(repository, &repository->own);
    if (reason == 0)
        reason = listing_end(&repository->own, &why);
    if (*why.text)
        asking_failed(reason, why.text);
    if (reason != 0) {
        listing_release(&repository->own);
        return reason;
    }
    repository->listing = &repository->own;
    remark_templates(repository);
    return 0;
}

static int ask_commit(struct repository *repository)
{
    struct wire_ask ask = { WIRE_COMMIT, number_of(repository), 0,
                            strlen(repository->name.revision) };
    struct page page = { NULL, 0, 0, 0 };
    int reason = read_page(&ask, repository->name.revision, &page);

    if (reason == 0 && !listing_commit(hub.run->env, page.bytes, page.size,
                                       repository->commit)) {
        *repository->commit = 0;
        reason = asking_failed(EIO, "the Hub's answer about the revision names "
                                    "no commit");
    }
    release_page(&page);
    return reason;
}

/* A name that the cache knows keeps its meaning. */
static void note_cached(const struct repository *repository, time_t when)
{
    char text[400], day[16];
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(day, sizeof(day), "%Y-%m-%d", &parts);
    snprintf(text, sizeof(text),
             "'%.200s' is commit %s, as the cache has it since %s",
             repository->name.revision, repository->commit, day);
    report_note(hub.run, repository->operand, text);
}

/* The commit that is read for the whole run. */
static int resolve(struct repository *repository)
{
    const struct hub_name *name = &repository->name;
    time_t when;

    if (*repository->commit)
        return 0;
    if (hub_is_commit(name->revision)) {
        strcpy(repository->commit, name->revision);
        return 0;
    }
    if (hub_cache_commit(name->repository, name->revision, repository->commit,
                         &when)) {
        note_cached(repository, when);
        return 0;
    }
    if (hub.offline)
        return asking_failed(ENOENT, "the cache does not have that revision, "
                                     "and HF_HUB_OFFLINE is set");
    return ask_commit(repository);
}

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
    hub.cost.cached += (uint64_t)got;
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
    hub.cost.checked++;
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

        reason = got < 0 ? (int)-got
                         : add_bytes(file, from, bytes, (size_t)got);
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

static int no_such_file(void)
{
    return asking_failed(ENOENT, hub.offline
                                     ? "the cache does not have it, and "
                                       "HF_HUB_OFFLINE is set"
                                     : "the commit has no such file");
}

static int find_listed(struct repository *repository, const char *path,
                       const struct listed_file **out)
{
    int reason = list(repository);

    *out = reason == 0 ? listing_find(repository->listing, path) : NULL;
    if (reason == 0 && !*out)
        return no_such_file();
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
        out[i / 2] = (uint8_t)(out[i / 2] << 4 |
                               (strchr(digits, name[i]) - digits));
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
                            .file = number_of(file->repository) };
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
    if (hub.offline ||
        hub_cache_lacks(name, repository->commit, file->path))
        return no_such_file();
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
    return 0;
}

/* The name that the library has for files of a repository, without the
 * revision: a model is called after its folder. */
static int put_name(const struct repository *repository, const char *path,
                    char *out, size_t room)
{
    return snprintf(out, room, HUB_PREFIX "%s/%s", repository->name.repository,
                    path);
}

static int open_named(void *user, const char *name, struct mf_byte_source *out);

static int open_path(struct repository *repository, const char *path,
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
    return 0;
}

static int open_named(void *user, const char *name, struct mf_byte_source *out)
{
    struct repository *repository = ((struct hub_file *)user)->repository;
    char before[HUB_REPOSITORY_SIZE + 16];
    size_t size = (size_t)put_name(repository, "", before, sizeof(before));

    if (strncmp(name, before, size) != 0 || !hub_is_path(name + size) ||
        strlen(name + size) >= HUB_PATH_SIZE)
        return ENOENT;
    return open_path(repository, name + size, out);
}

/* ---- which file ---- */

/* Names of a listing that are in a folder. */
struct names {
    const char **at;
    size_t count, room;
};

static bool is_in(const char *path, const char *folder, bool below)
{
    size_t size = strlen(folder);

    if (size > 0 && (strncmp(path, folder, size) != 0 || path[size] != '/'))
        return false;
    path += size > 0 ? size + 1 : 0;
    return below || !strchr(path, '/');
}

/* below: those in its folders, too. */
static int collect(const struct repository *repository, bool below,
                   struct names *out)
{
    const struct listing *listing = repository->listing;

    *out = (struct names){ .room = listing->count + 1 };
    out->at = mf_env_resize(hub.run->env, NULL, 0,
                            out->room * sizeof(*out->at));
    if (!out->at)
        return ENOMEM;
    for (size_t i = 0; i < listing->count; i++) {
        const char *path =
            listing_path(listing, &listing->file[listing->order[i]]);

        if (is_in(path, repository->name.path, below))
            out->at[out->count++] = path;
    }
    return 0;
}

static void release(struct names *names)
{
    if (names->at)
        mf_env_resize(hub.run->env, names->at,
                      names->room * sizeof(*names->at), 0);
}

struct choice {
    char path[HUB_PATH_SIZE + 32]; /* a listed one is shorter */
    enum mf_shards shards;
};

/* A folder without a model, but with config.json: that, for a plan. */
static bool choose_bare(const struct repository *repository,
                        struct choice *choice)
{
    const char *folder = repository->name.path;

    snprintf(choice->path, sizeof(choice->path), "%s%sconfig.json", folder,
             *folder ? "/" : "");
    choice->shards = MF_SHARDS_ALONE;
    return hub.run->may_be_bare &&
           listing_find(repository->listing, choice->path);
}

/* The model in the folder, else in the folders below: of several, the error
 * lists them.  A name as of the folder is what the library ranks. */
static enum mf_status choose_of(const struct repository *repository, bool below,
                                struct choice *choice, size_t *count)
{
    struct mf_env *env = hub.run->env;
    size_t size = strlen(repository->name.path);
    enum mf_status status = MF_ERR_MEMORY;
    struct names names;

    if (collect(repository, below, &names) == 0) {
        *count = names.count;
        for (size_t i = 0; i < names.count; i++)
            names.at[i] += size > 0 ? size + 1 : 0;
        status = mf_names_choose(env, names.at, names.count,
                                 choice->path + size + (size > 0),
                                 sizeof(choice->path) - size - 1,
                                 &choice->shards);
        memcpy(choice->path, repository->name.path, size);
        if (size > 0)
            choice->path[size] = '/';
    }
    release(&names);
    return status;
}

/* A name of the command line is a file, or a folder.  *reason: a number of
 * errno where it is not the library that has failed. */
static enum mf_status choose(struct repository *repository,
                             struct choice *choice, int *reason)
{
    enum mf_status status;
    size_t count = 0;

    *choice = (struct choice){ .shards = MF_SHARDS_AUTO };
    strcpy(choice->path, repository->name.path);
    if (*choice->path &&
        hub_cache_find(repository->name.repository, repository->commit,
                       choice->path, (char[PATH_MAX]){ "" }))
        return MF_OK;
    *reason = list(repository);
    if (*reason != 0 || (*choice->path &&
                         listing_find(repository->listing, choice->path)))
        return MF_OK;
    status = choose_of(repository, false, choice, &count);
    if (status == MF_ERR_FORMAT && choose_bare(repository, choice))
        return MF_OK;
    if (status == MF_ERR_FORMAT)
        status = choose_of(repository, true, choice, &count);
    if (status == MF_ERR_FORMAT && count == 0 && *repository->name.path) {
        *reason = no_such_file();
        return MF_OK;
    }
    return status;
}

enum mf_status hub_open(struct run *run, const char *operand,
                        const struct mf_open_options *options,
                        struct mf_model **out)
{
    struct repository *repository = find_repository(operand);
    char name[HUB_REPOSITORY_SIZE + HUB_PATH_SIZE + 64];
    struct mf_open_options known = *options;
    struct mf_byte_source source;
    struct choice choice;
    enum mf_status status = MF_OK;
    int reason = repository
                     ? resolve(repository)
                     : asking_failed(EIO, "name the model on the command line");

    if (reason == 0)
        status = choose(repository, &choice, &reason);
    if (status != MF_OK)
        return status;
    if (reason == 0)
        reason = open_path(repository, choice.path, &source);
    if (reason != 0)
        return asking_open_failed(run, operand, options, out);
    put_name(repository, choice.path, name, sizeof(name));
    source.name = name;
    if (known.shards == MF_SHARDS_AUTO)
        known.shards = choice.shards;
    return mf_model_open_source(run->env, &source, &known, out);
}

/* ---- the end ---- */

#define PIECE ((size_t)256 * 1024)

/* Reads what has not passed in order. */
static int read_rest(struct hub_file *file, uint8_t *bytes)
{
    int reason = 0;

    expect_file(file, file->sha.size, file->size - file->sha.size);
    while (reason == 0 && !file->checked) {
        uint64_t from = file->sha.size, left = file->size - from;
        int64_t got =
            read_raw(file, from, bytes, left < PIECE ? (size_t)left : PIECE);

        reason = got < 0 ? (int)-got
                         : add_bytes(file, from, bytes, (size_t)got);
        if (reason == 0 && progress_signal() != 0)
            reason = ECANCELED;
    }
    return reason;
}

static int check_file(const struct repository *repository, const char *name)
{
    char before[HUB_REPOSITORY_SIZE + 16];
    size_t size = (size_t)put_name(repository, "", before, sizeof(before));
    struct hub_file *file = strncmp(name, before, size) == 0
                                ? find_file(repository, name + size)
                                : NULL;
    uint8_t *bytes;
    int reason;

    if (!file || !file->has_digest || file->checked)
        return 0;
    bytes = mf_env_resize(hub.run->env, NULL, 0, PIECE);
    if (!bytes)
        return ENOMEM;
    reason = read_rest(file, bytes);
    mf_env_resize(hub.run->env, bytes, PIECE, 0);
    return reason;
}

int hub_check(const struct mf_model *model, const char *operand)
{
    const struct repository *repository = find_repository(operand);
    struct mf_shard shard = { NULL, 0, 0, 0, { 0 } };
    int reason = 0;

    for (size_t i = 0; reason == 0 && mf_shard_at(model, i, &shard); i++)
        reason = check_file(repository, shard.path);
    return reason;
}

const struct hub_cost *hub_cost(void)
{
    hub.cost.unchecked = 0;
    for (size_t i = 0; i < hub.count; i++)
        for (const struct hub_file *file = hub.repository[i].file; file;
             file = file->next)
            hub.cost.unchecked += file->has_digest && !file->checked;
    return hub.count > 0 ? &hub.cost : NULL;
}

bool hub_commit_at(size_t index, struct hub_commit *out)
{
    const struct repository *repository;

    if (index >= hub.count)
        return false;
    repository = &hub.repository[index];
    *out = (struct hub_commit){ repository->name.repository,
                                repository->name.revision, repository->commit };
    return true;
}

void hub_end(void)
{
    for (size_t i = 0; i < hub.count; i++)
        if (hub.repository[i].listing)
            listing_release(&hub.repository[i].own);
}
