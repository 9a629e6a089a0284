/* SPDX-License-Identifier: MIT
 *
 * guard.c - no page replaces what it is made from
 *
 * lib/write/output_guard.c knows the files of the models.  These are the ones
 * that options name; they are opened after the page, so they are compared by
 * their paths' device and inode.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/report/document.h"

static bool is_file(const struct stat *file, const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_dev == file->st_dev &&
           status.st_ino == file->st_ino;
}

/* A name that is too long leads to no file. */
static bool is_below(const struct stat *file, const char *folder,
                     const char *name)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s/%s", folder, name);

    return size > 0 && (size_t)size < sizeof(path) && is_file(file, path);
}

static bool is_in(const struct stat *file, const char *folder, const char *sub)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s/%s", folder, sub);
    struct mf_entries entries;
    const char *name;
    bool found = false;

    if (size <= 0 || (size_t)size >= sizeof(path))
        return false;
    mf_entries_begin(&entries, mf_open_directory(path));
    while (!found && (name = mf_entries_next(&entries)) != NULL)
        found = is_below(file, path, name);
    mf_entries_end(&entries);
    return found;
}

/* Whether it is a file that a record can have: see recorded_sums.c. */
static bool is_of_record(const struct stat *file, const char *folder)
{
    static const char *const names[] = { "run.json",    "memory.csv",
                                         "latency.csv", "results.csv",
                                         "SHA256SUMS",  "baseline.csv" };
    static const char *const below[] = { "csv", "figs", "witness" };
    bool found = is_file(file, folder);

    for (size_t i = 0; !found && i < sizeof(names) / sizeof(*names); i++)
        found = is_below(file, folder, names[i]);
    for (size_t i = 0; !found && i < sizeof(below) / sizeof(*below); i++)
        found = is_in(file, folder, below[i]);
    return found;
}

enum mf_status mf_report_guard(struct mf_env *env, const char *path,
                               const struct mf_report_options *options)
{
    bool dash = strcmp(path, "-") == 0;
    const char *what = NULL;
    struct stat file;

    if ((dash ? fstat(STDOUT_FILENO, &file) : stat(path, &file)) != 0 ||
        !S_ISREG(file.st_mode))
        return MF_OK;
    if (options->imatrix && is_file(&file, options->imatrix))
        what = "the importance matrix";
    else if (options->recorded && is_of_record(&file, options->recorded))
        what = "a file of the recorded run";
    if (!what)
        return MF_OK;
    return mf_decline(env, MF_REASON_OUTPUT_IS_INPUT, MF_NO_OFFSET,
                      "'%s' is %s: choose another name",
                      mf_quote((struct mf_str){ path, strlen(path) }).text,
                      what);
}
