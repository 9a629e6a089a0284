/* SPDX-License-Identifier: MIT
 *
 * target.h - an output file that cannot be lost
 *
 * Bytes go to a temporary file in the target's folder, which takes the target's
 * place when it is whole and on the disk: at every instant the target's name
 * shows what was there before or all of the new file.  Until it is whole only
 * its owner may read it.  A pipe or a device is written directly, in order.
 */
#ifndef MF_LIB_TARGET_H
#define MF_LIB_TARGET_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "lib/io/source.h"
#include "lib/io/temporary.h"

/* Not to be moved while it is open. */
struct mf_target {
    struct mf_env *env;
    const char *path; /* as the caller named it */
    char *real;       /* behind symbolic links */
    size_t real_size; /* of the block that holds it */
    struct mf_temporary temporary;
    int folder, fd;    /* -1: none */
    uint64_t size;     /* what will be written */
    uint64_t streamed; /* of a stream: so many bytes have gone */
    uint32_t crc;      /* of a stream: theirs */
    bool stream, replace;
    bool is_new;     /* nothing stands there that could be replaced */
    mode_t mode;     /* that it will have; of a new file */
    struct stat old; /* else what stands there */
    const struct stat *replaces;  /* the only file that may be; NULL: any */
    atomic_uint_fast64_t written; /* not of a stream: by all threads */
};

/* For size bytes, whose room is taken now.  replace: something may stand there
 * already; its mode, owner and extended attributes pass to the new file as far
 * as the system allows.  "-" is standard output. */
enum mf_status mf_target_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out);

/* Whether the file system of this one has room for as many bytes more, which
 * other files will take. */
enum mf_status mf_target_check_more(const struct mf_target *target,
                                    uint64_t size);

/* Any thread, with an env of its own; a stream takes bytes only in order. */
enum mf_status mf_target_write(struct mf_env *env, struct mf_target *target,
                               uint64_t offset, const void *bytes, size_t size);

/* The same with bytes of a file, which the kernel may copy on its own.  Moves
 * as many as it can and says how many: 0 where it cannot. */
size_t mf_target_copy(struct mf_env *env, struct mf_target *target,
                      uint64_t offset, const struct mf_source *source,
                      uint64_t from, size_t size);

/* What was written, read back; not from a stream. */
enum mf_status mf_target_read(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              void *bytes, size_t size);

/* On the disk, whole, all that was written; the target still shows what was
 * there before. */
enum mf_status mf_target_sync(struct mf_target *target);

/* The new file takes its place; the target is closed, whatever happens. */
enum mf_status mf_target_commit(struct mf_target *target);

/* Forgets what was written.  May follow any of the above, or none (all zero,
 * fd and folder -1). */
void mf_target_abort(struct mf_target *target);

#define MF_TARGET_NONE                                                         \
    {                                                                          \
        .folder = -1, .fd = -1                                                 \
    }

#endif
