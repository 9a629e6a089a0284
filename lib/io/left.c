/* SPDX-License-Identifier: MIT
 *
 * left.c - files that a process left next to an output when it was killed
 *
 * A temporary file has the number of its process in its name (temporary.c).
 * Where no process has that number any more, the file will never be finished.
 * It is found here, and never removed: on a file system that other machines
 * write to as well, the process may run there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/path.h"
#include "lib/io/worklog.h"

#define HEX "0123456789abcdef"

/* The process that a name like ".NAME.4711.0123abcd.tmp" has, else 0. */
static long process_of(const char *entry, const char *name)
{
    size_t size =
        strlen(name) < MF_TEMPORARY_START ? strlen(name) : MF_TEMPORARY_START;
    const char *at = entry + 1 + size;
    char *end;
    long process;

    if (*entry != '.' || strncmp(entry + 1, name, size) != 0 || *at != '.' ||
        at[1] < '1' || at[1] > '9')
        return 0;
    errno = 0;
    process = strtol(at + 1, &end, 10);
    return errno == 0 && *end == '.' && strspn(end + 1, HEX) == 8 &&
                   strcmp(end + 9, ".tmp") == 0
               ? process
               : 0;
}

static bool is_kept_as(const char *entry, const char *name, const char *suffix)
{
    char kept[NAME_MAX + 1];

    return mf_worklog_name(name, suffix, kept) && strcmp(entry, kept) == 0;
}

static bool is_kept(const char *entry, const char *name)
{
    return is_kept_as(entry, name, MF_PARTIAL_SUFFIX) ||
           is_kept_as(entry, name, MF_MEASURED_SUFFIX);
}

static bool is_file(int folder, const char *name)
{
    struct stat status;

    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode);
}

void mf_left_files(const char *path,
                   void (*found)(void *user, const char *path,
                                 const struct mf_left_file *file),
                   void *user)
{
    char real[PATH_MAX];
    const char *name, *entry;
    struct mf_entries entries;

    if (!mf_follow_links(path, real))
        return;
    name = real + mf_folder_size(real);
    mf_entries_begin(&entries, mf_open_folder(real));
    while ((entry = mf_entries_next(&entries)) != NULL) {
        long process = process_of(entry, name);
        struct mf_quoted shown;

        if ((process == 0 && !is_kept(entry, name)) ||
            !is_file(entries.folder, entry))
            continue;
        shown = mf_quote((struct mf_str){ entry, strlen(entry) });
        found(user, path,
              &(struct mf_left_file){ .name = shown.text, .process = process });
    }
    mf_entries_end(&entries);
}
