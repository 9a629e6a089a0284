/* SPDX-License-Identifier: MIT
 *
 * path.h - where a path leads
 */
#ifndef MF_LIB_PATH_H
#define MF_LIB_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "lib/base/heap.h"

/* A signal may end a call before it has done anything. */
#define MF_AGAIN(result, call)                                                 \
    do {                                                                       \
        (result) = (call);                                                     \
    } while ((result) < 0 && errno == EINTR)

/* Bytes of path up to and with its last slash. */
size_t mf_folder_size(const char *path);

/* Whether a file or link was put by somebody else into a folder where everyone
 * may make names: it belongs neither to us nor to the folder's owner.  Linux
 * lets nobody follow or write such ones where fs.protected_symlinks and its
 * like are set; we do not either way. */
bool mf_is_planted(const struct stat *folder, const struct stat *file);

/* Follows symbolic links at the end of path, also one that leads to nothing
 * yet.  False with errno set where that fails: EPERM where a link is planted.
 */
bool mf_follow_links(const char *path, char out[PATH_MAX]);

/* Opens the folder that path lies in; -1 with errno set. */
int mf_open_folder(const char *path);

/* The last component of path. */
const char *mf_base_name(const char *path);

/* The path of another file in the folder of path, in the arena; NULL after
 * mf_fail. */
const char *mf_path_sibling(struct mf_arena *arena, const char *path,
                            struct mf_str name);

/* A name that ends with that suffix, and is more than it. */
bool mf_name_ends(const char *name, const char *suffix);

#endif
