/* SPDX-License-Identifier: MIT
 *
 * left.c - files that a process left next to an output when it was killed
 *
 * A temporary file has the number of its process in its name (temporary.c).
 * Where no process has that number any more, nobody will ever finish the file.
 * It is found here, and never removed: on a file system that other machines
 * write to as well, the process may run there.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* fdopendir */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_kept(const char *entry, const char *name)
{
    char partial[NAME_MAX + 1];

    return mf_worklog_name(name, MF_PARTIAL_SUFFIX, partial) &&
           strcmp(entry, partial) == 0;
}

static bool is_file(DIR *folder, const char *name)
{
    struct stat status;

    return fstatat(dirfd(folder), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode);
}

void mf_left_files(const char *path,
                   void (*found)(void *user, const char *path,
                                 const struct mf_left_file *file),
                   void *user)
{
    char real[PATH_MAX];
    const char *name;
    DIR *folder;
    int fd;

    if (!mf_follow_links(path, real))
        return;
    name = real + mf_folder_size(real);
    fd = mf_open_folder(real);
    folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        long process = process_of(entry->d_name, name);
        struct mf_quoted shown;

        if ((process == 0 && !is_kept(entry->d_name, name)) ||
            !is_file(folder, entry->d_name))
            continue;
        shown =
            mf_quote((struct mf_str){ entry->d_name, strlen(entry->d_name) });
        found(user, path,
              &(struct mf_left_file){ .name = shown.text, .process = process });
    }
    if (folder)
        closedir(folder);
}
