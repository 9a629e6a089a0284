/* SPDX-License-Identifier: MIT
 *
 * huggingface.c - the cache of huggingface_hub
 *
 *     models--OWNER--NAME/blobs/HEX         a file, named by its SHA-256, or by
 *                                           the name that git gives it
 *     models--OWNER--NAME/blobs/X.incomplete    half-fetched, likewise
 *                                           X.downloadInProgress of llama.cpp
 *     models--OWNER--NAME/refs/main         the revision that a name means
 *     models--OWNER--NAME/snapshots/REVISION/FILE  a link to ../../blobs/HEX,
 *                                           or a file where links cannot be
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/store/store.h"
#include "cli/hub_cache.h"

#define PREFIX "models--"

/* llama.cpp keeps models in this layout, too, and in the first folder of all.
 */
bool huggingface_usual(size_t index, char out[PATH_MAX])
{
    const struct scan_base llama = { getenv("LLAMA_CACHE"), "" };

    return index == 0 ? hub_cache_folder(out)
                      : index == 1 && scan_first_base(&llama, 1, out);
}

static bool is_repository(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

bool huggingface_is(const char *folder)
{
    return scan_has_name(folder, is_repository);
}

struct repository {
    struct scan *scan;
    const char *path;
    char name[NAME_MAX + 1]; /* "owner/name" */
    const char *revision;    /* that a name is looked for */
    char ref[64];            /* it; "" until it is found */
    unsigned depth;
};

/* ---- blobs ---- */

static void take_blob(void *user, const struct walk_entry *entry)
{
    struct scan *scan = user;
    size_t digits = strspn(entry->name, "0123456789abcdef");
    bool named = entry->name[digits] == 0 && (digits == 64 || digits == 40);

    if (!S_ISREG(entry->status.st_mode))
        return;
    if (scan_ends(entry->name, ".incomplete") ||
        scan_ends(entry->name, ".downloadInProgress"))
        scan_partial(scan, entry);
    else
        scan_file(scan, entry, named ? entry->name : NULL);
}

/* ---- names of revisions ---- */

#define REF_DEPTH 4 /* refs/pr/1 is a name, too */

static bool is_revision(const char *path, const char *revision)
{
    char text[80];
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    text[got] = 0;
    text[strcspn(text, " \r\n")] = 0;
    return strcmp(text, revision) == 0;
}

static void take_ref(void *user, const struct walk_entry *entry)
{
    struct repository *repository = user;

    if (*repository->ref)
        return;
    if (S_ISREG(entry->status.st_mode) &&
        is_revision(entry->path, repository->revision)) {
        snprintf(repository->ref, sizeof(repository->ref), "%.63s",
                 entry->path + strlen(repository->path) + strlen("/refs/"));
    } else if (S_ISDIR(entry->status.st_mode) &&
               repository->depth < REF_DEPTH) {
        repository->depth++;
        walk_folder(repository->scan->run, entry->path, take_ref, user);
        repository->depth--;
    }
}

/* "owner/name@main", or the beginning of the revision. */
static void name_model(struct repository *repository, const char *revision,
                       char out[2 * NAME_MAX])
{
    char refs[PATH_MAX];

    repository->revision = revision;
    *repository->ref = 0;
    if (walk_join(refs, repository->path, "refs"))
        walk_folder(repository->scan->run, refs, take_ref, repository);
    if (*repository->ref)
        snprintf(out, 2 * NAME_MAX, "%s@%s", repository->name, repository->ref);
    else
        snprintf(out, 2 * NAME_MAX, "%s@%.12s", repository->name, revision);
}

/* ---- snapshots ---- */

/* "../../blobs/NAME", with one more "../" for each folder in the snapshot. */
static bool leads_to_blob(const char *link, unsigned depth)
{
    for (unsigned i = 0; i < depth + 2; i++, link += 3)
        if (strncmp(link, "../", 3) != 0)
            return false;
    return strncmp(link, "blobs/", 6) == 0 && link[6] != '.' &&
           !strchr(link + 6, '/');
}

static void check_link(const struct repository *repository,
                       const struct walk_entry *entry)
{
    char link[PATH_MAX];
    ssize_t size = readlink(entry->path, link, sizeof(link) - 1);
    struct stat status;

    if (size < 0)
        return;
    link[size] = 0;
    if (!leads_to_blob(link, repository->depth))
        scan_problem(repository->scan, TROUBLE_INVALID, entry->path,
                     "leads to '%.300s', which is not a blob of this model",
                     link);
    else if (stat(entry->path, &status) != 0)
        scan_problem(repository->scan, TROUBLE_MISSING, entry->path,
                     "leads to %.100s, which is missing", link);
}

#define SNAPSHOT_DEPTH 8

static void take_file(void *user, const struct walk_entry *entry)
{
    struct repository *repository = user;

    if (S_ISLNK(entry->status.st_mode))
        check_link(repository, entry);
    else if (S_ISREG(entry->status.st_mode))
        scan_file(repository->scan, entry, NULL);
    else if (S_ISDIR(entry->status.st_mode) &&
             repository->depth < SNAPSHOT_DEPTH) {
        repository->depth++;
        walk_folder(repository->scan->run, entry->path, take_file, user);
        repository->depth--;
    }
}

static void take_snapshot(void *user, const struct walk_entry *entry)
{
    struct repository *repository = user;
    char name[2 * NAME_MAX];

    if (!S_ISDIR(entry->status.st_mode))
        return;
    repository->depth = 0;
    walk_folder(repository->scan->run, entry->path, take_file, repository);
    repository->depth = 0;
    name_model(repository, entry->name, name);
    scan_folder_models(repository->scan, name, entry->path,
                       strlen(entry->path) + 1);
}

/* ---- repositories ---- */

/* The first "--" is the slash. */
static void name_repository(const char *name, char out[NAME_MAX + 1])
{
    char *dashes;

    snprintf(out, NAME_MAX + 1, "%s", name + strlen(PREFIX));
    dashes = strstr(out, "--");
    if (dashes) {
        *dashes = '/';
        memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
    }
}

static void take_repository(void *user, const struct walk_entry *entry)
{
    struct scan *scan = user;
    struct repository repository = { .scan = scan, .path = entry->path };
    char path[PATH_MAX];

    if (!S_ISDIR(entry->status.st_mode) ||
        strncmp(entry->name, PREFIX, strlen(PREFIX)) != 0)
        return;
    name_repository(entry->name, repository.name);
    if (walk_join(path, entry->path, "blobs"))
        walk_folder(scan->run, path, take_blob, scan);
    if (walk_join(path, entry->path, "snapshots"))
        walk_folder(scan->run, path, take_snapshot, &repository);
}

void huggingface_scan(struct scan *scan, const char *folder)
{
    walk_folder(scan->run, folder, take_repository, scan);
}
