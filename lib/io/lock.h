/* SPDX-License-Identifier: MIT
 *
 * lock.h - a file that only this process may edit
 *
 * An editor takes an exclusive flock of the file before it reads the header and
 * keeps it until the edit is on the disk, whether in place or by a new file
 * that was renamed over it.  Two editors that read first and locked later have
 * corrupted a file: the second wrote a header that it had computed from bytes
 * that the first had changed since.  Readers take no lock: they never see half
 * an edit anyway (journal.h).
 */
#ifndef MF_LIB_LOCK_H
#define MF_LIB_LOCK_H

#include <limits.h>

#include "lib/base/heap.h"
#include "lib/io/system.h"

/* A file's folder and its name there, which is not a symbolic link. */
struct mf_place {
    int folder; /* -1: unknown */
    char name[NAME_MAX + 1];
};

/* Finds the place of a file that was opened by that path as fd.  False with
 * errno set where the path cannot be followed, or leads to another file by now
 * (ESTALE). */
bool mf_place_find(const char *path, int fd, struct mf_place *out);
void mf_place_close(struct mf_place *place);

/* Whether both are the same file. */
static inline bool mf_same_file(const struct stat *a, const struct stat *b)
{
    return mf_system_same_device(a->st_dev, b->st_dev) &&
           a->st_ino == b->st_ino;
}

struct mf_lock {
    int fd; /* open to read and write; -1: not locked */
    struct mf_place place;
    struct stat status; /* of the file, when it was locked */
};

#define MF_LOCK_NONE                                                           \
    {                                                                          \
        .fd = -1, .place = {.folder = -1 }                                     \
    }

/* Opens the file at path and locks it.  While another process has the lock,
 * waits at most MF_LOCK_SECONDS and asks the env's progress function meanwhile
 * whether to go on; then MF_ERR_OUTPUT.  When this returns MF_OK, path leads to
 * the locked file. */
enum mf_status mf_lock_open(struct mf_env *env, const char *path,
                            struct mf_lock *out);
void mf_lock_close(struct mf_lock *lock);

#define MF_LOCK_SECONDS 10

/* MF_ERR_OUTPUT where another file has the locked one's name by now. */
enum mf_status mf_lock_check(struct mf_env *env, const struct mf_lock *lock);

#endif
