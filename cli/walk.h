/* SPDX-License-Identifier: MIT
 *
 * walk.h - what is in a folder, in the order of names
 */
#ifndef MF_CLI_WALK_H
#define MF_CLI_WALK_H

#include <limits.h>
#include <sys/stat.h>

#include "cli/cli.h"

struct walk_entry {
    const char *path, *name; /* valid during the call */
    struct stat status;      /* of a symbolic link itself */
};

typedef void walk_found(void *user, const struct walk_entry *entry);

/* Calls found for each entry of a folder but "." and "..".  False if it cannot
 * be read, or is too long a path; the errno says why. */
bool walk_folder(struct run *run, const char *folder, walk_found *found,
                 void *user);

/* FOLDER/NAME; false if that is too long. */
bool walk_join(char out[PATH_MAX], const char *folder, const char *name);

#endif
