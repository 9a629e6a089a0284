/* SPDX-License-Identifier: MIT
 *
 * path.h - paths, folders and symbolic links
 */
#ifndef MF_LIB_PATH_H
#define MF_LIB_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/heap.h"
#include "lib/io/system.h"

/* Repeats a call that a signal interrupted before it did anything. */
#define MF_AGAIN(result, call)                                                 \
    do {                                                                       \
        (result) = (call);                                                     \
    } while ((result) < 0 && errno == EINTR)

/* Whether a path is divided there: on Windows also after C: and by a
 * backslash. */
static inline bool mf_is_separator(char c)
{
#if defined(MF_SYSTEM_WINDOWS)
    return c == '/' || c == '\\' || c == ':';
#else
    return c == '/';
#endif
}

/* Bytes of path up to and with its last separator. */
size_t mf_folder_size(const char *path);

/* Follows symbolic links at the end of path, also one that leads to a file that
 * does not exist.  False with errno set: EPERM where a link is planted. */
bool mf_follow_links(const char *path, char out[PATH_MAX]);

/* Opens the folder that path lies in, or is; -1 with errno set. */
int mf_open_folder(const char *path);
int mf_open_directory(const char *path);

/* The last component of path. */
const char *mf_base_name(const char *path);

/* The path of another file in the folder of path, in the arena; NULL after
 * mf_fail. */
const char *mf_path_sibling(struct mf_arena *arena, const char *path,
                            struct mf_str name);

/* Whether a name ends with that suffix and is longer. */
bool mf_name_ends(const char *name, const char *suffix);

#endif
