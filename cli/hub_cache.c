/* SPDX-License-Identifier: MIT
 *
 * hub_cache.c - files that huggingface_hub has fetched
 */
#include "cli/hub_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/walk.h"

#define PREFIX "models--"

/* ---- the environment ---- */

/* As Python's expanduser: "~" is the home. */
static bool put_folder(char out[PATH_MAX], const char *base, const char *rest)
{
    const char *home = getenv("HOME");
    bool expands = *base == '~' && (base[1] == '/' || !base[1]) && home;
    int size = snprintf(out, PATH_MAX, "%s%s%s", expands ? home : "",
                        base + expands, rest);

    return size > 0 && size < PATH_MAX;
}

/* The first variable that is set says where it is. */
static bool first_of(const char *const (*rows)[2], size_t count,
                     char out[PATH_MAX])
{
    for (size_t i = 0; i < count; i++) {
        const char *base = getenv(rows[i][0]);

        if (base && *base)
            return put_folder(out, base, rows[i][1]);
    }
    return false;
}

bool hub_home(char out[PATH_MAX])
{
    static const char *const rows[][2] = {
        { "HF_HOME", "" },
        { "XDG_CACHE_HOME", "/huggingface" },
        { "HOME", "/.cache/huggingface" },
    };

    return first_of(rows, sizeof(rows) / sizeof(*rows), out);
}

bool hub_cache_folder(char out[PATH_MAX])
{
    static const char *const rows[][2] = { { "HF_HUB_CACHE", "" },
                                           { "HUGGINGFACE_HUB_CACHE", "" } };
    char home[PATH_MAX];

    return first_of(rows, sizeof(rows) / sizeof(*rows), out) ||
           (hub_home(home) && walk_join(out, home, "hub"));
}

bool hub_is_set(const char *variable)
{
    static const char *const words[] = { "1", "ON", "YES", "TRUE" };
    const char *value = getenv(variable);

    for (size_t i = 0; value && i < sizeof(words) / sizeof(*words); i++)
        if (strcasecmp(value, words[i]) == 0)
            return true;
    return false;
}

/* ---- one repository ---- */

bool hub_is_commit(const char *text)
{
    return strlen(text) == HUB_COMMIT_DIGITS &&
           strspn(text, "0123456789abcdef") == HUB_COMMIT_DIGITS;
}

/* FOLDER/models--OWNER--NAME/PLACE/A[/B] */
static bool put_path(char out[PATH_MAX], const char *repository,
                     const char *place, const char *a, const char *b)
{
    const char *slash = strchr(repository, '/');
    char folder[PATH_MAX];
    int size;

    if (!slash || !hub_cache_folder(folder))
        return false;
    size = snprintf(out, PATH_MAX, "%s/" PREFIX "%.*s--%s/%s/%s%s%s", folder,
                    (int)(slash - repository), repository, slash + 1, place, a,
                    *b ? "/" : "", b);
    return size > 0 && size < PATH_MAX;
}

bool hub_cache_commit(const char *repository, const char *revision,
                      char out[HUB_COMMIT_DIGITS + 1], time_t *when)
{
    char path[PATH_MAX], text[HUB_COMMIT_DIGITS + 8];
    struct stat status;
    ssize_t got = -1;
    int fd;

    if (!put_path(path, repository, "refs", revision, ""))
        return false;
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    text[strcspn(text, " \r\n")] = 0;
    if (!hub_is_commit(text))
        return false;
    strcpy(out, text);
    *when = status.st_mtime;
    return true;
}

bool hub_cache_find(const char *repository, const char *commit,
                    const char *file, char out[PATH_MAX])
{
    struct stat status;

    return put_path(out, repository, "snapshots", commit, file) &&
           stat(out, &status) == 0 &&
           (*file ? S_ISREG(status.st_mode) : S_ISDIR(status.st_mode));
}

bool hub_cache_lacks(const char *repository, const char *commit,
                     const char *file)
{
    char path[PATH_MAX];
    struct stat status;

    return put_path(path, repository, ".no_exist", commit, file) &&
           stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool hub_cache_list(const char *repository, const char *commit,
                    char out[PATH_MAX])
{
    char name[HUB_COMMIT_DIGITS + 8];

    snprintf(name, sizeof(name), "%.40s.json", commit);
    return put_path(out, repository, "trees", name, "");
}

/* ---- all of them ---- */

struct each {
    struct run *run;
    size_t below; /* where names begin in a path */
    unsigned depth;
    void (*found)(void *user, const char *name);
    void *user;
};

/* Of "models--owner--name"; older repositories have no owner. */
static void take_repository(void *user, const struct walk_entry *entry)
{
    struct each *each = user;
    const char *dashes;
    char name[NAME_MAX + 1];

    if (strncmp(entry->name, PREFIX, strlen(PREFIX)) != 0)
        return;
    dashes = strstr(entry->name + strlen(PREFIX), "--");
    if (!dashes)
        return;
    snprintf(name, sizeof(name), "%.*s/%s",
             (int)(dashes - entry->name - (int)strlen(PREFIX)),
             entry->name + strlen(PREFIX), dashes + 2);
    each->found(each->user, name);
}

void hub_cache_each(struct run *run,
                    void (*found)(void *user, const char *repository),
                    void *user)
{
    struct each each = { .run = run, .found = found, .user = user };
    char folder[PATH_MAX];

    if (hub_cache_folder(folder))
        walk_folder(run, folder, take_repository, &each);
}

#define DEPTH_MAX 8 /* folders in a repository */

static void take_file(void *user, const struct walk_entry *entry)
{
    struct each *each = user;
    struct stat status;

    if (S_ISDIR(entry->status.st_mode) && each->depth < DEPTH_MAX) {
        each->depth++;
        walk_folder(each->run, entry->path, take_file, each);
        each->depth--;
    } else if (stat(entry->path, &status) == 0 && S_ISREG(status.st_mode)) {
        each->found(each->user, entry->path + each->below);
    }
}

void hub_cache_files(struct run *run, const char *repository,
                     const char *commit,
                     void (*found)(void *user, const char *file), void *user)
{
    struct each each = { .run = run, .found = found, .user = user };
    char folder[PATH_MAX];

    if (!hub_cache_find(repository, commit, "", folder))
        return;
    each.below = strlen(folder) + 1;
    walk_folder(run, folder, take_file, &each);
}
