/* SPDX-License-Identifier: MIT
 *
 * lmstudio.c - the folder of LM Studio
 *
 *     ~/.lmstudio-home-pointer     a file: where the program has its home
 *     HOME/models                  the folder, unless its settings name another
 *     PUBLISHER/REPOSITORY/FILE    any files, often links to other caches
 *     X.part                       half-fetched
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/store/store.h"
#include "cli/inputs.h"

/* The folder in the home that the pointer names; else the usual one. */
static bool pointed(const char *home, char out[PATH_MAX])
{
    char path[PATH_MAX], text[PATH_MAX];
    int fd = walk_join(path, home, ".lmstudio-home-pointer")
                 ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                 : -1;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    text[strcspn(text, "\r\n")] = 0;
    return *text == '/' ? walk_join(out, text, "models")
                        : walk_join(out, home, ".lmstudio/models");
}

bool lmstudio_usual(size_t index, char out[PATH_MAX])
{
    const char *home = getenv("HOME");

    if (!home || index > 2)
        return false;
    if (index == 0)
        return pointed(home, out);
    return walk_join(
        out, home, index == 1 ? ".lmstudio/models" : ".cache/lm-studio/models");
}

/* Whether one of the folders in a folder passes. */
static bool has_folder(const char *folder, bool (*passes)(const char *path))
{
    struct mf_entries entries;
    char path[PATH_MAX];
    const char *name;
    bool found = false;

    mf_entries_begin(&entries,
                     open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (!found && (name = mf_entries_next(&entries)) != NULL)
        found = *name != '.' && walk_join(path, folder, name) && passes(path);
    mf_entries_end(&entries);
    return found;
}

static bool has_folders(const char *path)
{
    return has_folder(path, inputs_is_folder);
}

/* PUBLISHER/REPOSITORY */
bool lmstudio_is(const char *folder)
{
    return has_folder(folder, has_folders);
}

struct store {
    struct scan *scan;
    const char *folder;
    unsigned depth;
};

#define REPOSITORY 2 /* depth of the files of a repository */
#define DEPTH_MAX  8

static void take_entry(void *user, const struct walk_entry *entry);

static void take_folder(struct store *store, const char *path)
{
    if (store->depth == DEPTH_MAX)
        return;
    store->depth++;
    walk_folder(store->scan->run, path, take_entry, store);
    if (store->depth == REPOSITORY)
        scan_folder_models(store->scan, path + strlen(store->folder) + 1, path,
                           strlen(path) + 1);
    store->depth--;
}

static void take_entry(void *user, const struct walk_entry *entry)
{
    struct store *store = user;
    struct stat status;

    if (*entry->name == '.')
        return;
    if (S_ISDIR(entry->status.st_mode))
        take_folder(store, entry->path);
    else if (store->depth < REPOSITORY)
        ; /* not of a model */
    else if (S_ISLNK(entry->status.st_mode)) {
        if (stat(entry->path, &status) != 0)
            scan_problem(store->scan, TROUBLE_MISSING, entry->path,
                         "is a link to a file that is missing");
    } else if (S_ISREG(entry->status.st_mode)) {
        if (scan_ends(entry->name, ".part"))
            scan_partial(store->scan, entry);
        else
            scan_file(store->scan, entry, NULL);
    }
}

void lmstudio_scan(struct scan *scan, const char *folder)
{
    struct store store = { .scan = scan, .folder = folder };

    walk_folder(scan->run, folder, take_entry, &store);
}
