/* SPDX-License-Identifier: MIT
 *
 * lock.h - a file that this process alone may edit
 *
 * Editors take an exclusive flock of the file before they read it and keep it
 * until the edit is on the disk, whether it was made in place or by another
 * file that took the name.  Readers take no lock.
 */
#ifndef MF_LIB_LOCK_H
#define MF_LIB_LOCK_H

#include <limits.h>
#include <sys/stat.h>

#include "lib/base/heap.h"

/* Where a file lies: its folder and its name there, which is no link. */
struct mf_place {
    int folder; /* -1: not known */
    char name[NAME_MAX + 1];
};

/* Finds the place of the file that is open as fd and was opened by that path;
 * false with errno set where the path leads to another file by now (ESTALE), or
 * where it cannot be followed. */
bool mf_place_find(const char *path, int fd, struct mf_place *out);
void mf_place_close(struct mf_place *place);

/* Whether two files are one. */
static inline bool mf_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

struct mf_lock {
    int fd; /* -1: none; open to read and write */
    struct mf_place place;
    struct stat status; /* the file's, when it was locked */
};

#define MF_LOCK_NONE                                                           \
    {                                                                          \
        .fd = -1, .place = {.folder = -1 }                                     \
    }

/* Opens the file at path and locks it.  While another process has it, asks the
 * env's progress function whether to go on, for at most MF_LOCK_SECONDS; then
 * MF_ERR_OUTPUT.  When this returns MF_OK, path leads to the locked file: one
 * that took the name meanwhile is locked instead. */
enum mf_status mf_lock_open(struct mf_env *env, const char *path,
                            struct mf_lock *out);
void mf_lock_close(struct mf_lock *lock);

#define MF_LOCK_SECONDS 10

/* MF_ERR_OUTPUT where another file stands at the name of the locked one. */
enum mf_status mf_lock_check(struct mf_env *env, const struct mf_lock *lock);

#endif
