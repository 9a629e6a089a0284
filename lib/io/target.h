/* SPDX-License-Identifier: MIT
 *
 * target.h - an output file that replaces its predecessor all at once
 *
 * Bytes go to a temporary file in the target's folder.  Only when all of them
 * are on the disk is it renamed over the target's name: at any instant, power
 * failures included, the name leads to what was there before or to the whole
 * new file.  Until then only its owner can read the file.  A pipe or a device
 * cannot be replaced and is written directly, in order.
 *
 * Callers go through open, write (from any thread), sync, commit; abort undoes
 * whatever was done so far.  Sync and commit are separate so that several files
 * can all be on the disk before the first of them takes its name.
 *
 * A program may take the bytes itself (struct mf_output_ops): target_given.c.
 *
 * Where stopped work is to go on, the temporary file is a partial file instead:
 * with a name that the next process finds, and abort leaves it once it is kept.
 */
#ifndef MF_LIB_TARGET_H
#define MF_LIB_TARGET_H

#include <stdatomic.h>

#include "lib/io/source.h"
#include "lib/io/system.h"
#include "lib/io/temporary.h"

/* How a file that is not whole yet is called, and what becomes of one that is
 * there already. */
enum mf_partial {
    MF_PARTIAL_NONE,   /* a temporary file, with an unpredictable name */
    MF_PARTIAL_NEW,    /* a partial file; one that we left is removed first */
    MF_PARTIAL_FORCED, /* likewise, but whatever has its name is removed */
    MF_PARTIAL_KEPT,   /* the one that was kept goes on */
    MF_PARTIAL_NAMING, /* likewise; it may have got its mode and owner already
                        */
    MF_PARTIAL_SHARED, /* the common one of all parts; see shared.h */
    MF_PARTIAL_JOINED  /* the same when it is to get its name */
};

/* Must not move while it is open: the env's list of temporary files points
 * into it. */
struct mf_target {
    struct mf_env *env;
    const char *path; /* as the caller named it */
    char *real;       /* the same with symbolic links at its end followed */
    size_t real_size; /* of the allocation */
    struct mf_temporary temporary;
    int folder, fd;    /* -1: not open */
    uint64_t size;     /* of the whole file */
    uint64_t streamed; /* bytes written so far, of a stream */
    uint32_t crc;      /* of those bytes */
    bool stream;       /* a pipe or a device, or a program that takes bytes in
                          order */
    const struct mf_output_ops
        *given;       /* the program's functions that take the bytes, or NULL */
    void *given_file; /* that it calls them by */
    bool replace;     /* a file that exists may be replaced */
    bool is_new;      /* no file exists at the path */
    enum mf_partial partial;
    uint64_t inode;  /* of the partial file that is looked for */
    bool kept;       /* abort leaves the partial file */
    bool created;    /* of a common partial file: by this process */
    bool complete;   /* the file has its name already: what is written is only
                        compared with it */
    bool follows;    /* rank 0 has created the file, and names it */
    mode_t mode;     /* of a new file: what the system would give it */
    struct stat old; /* else the file that is replaced */
    const struct stat *expected;  /* the only file that may be replaced when
                                     the target is committed; NULL: any */
    atomic_uint_fast64_t written; /* bytes written by all threads; not of a
                                     stream */
};

/* Creates the temporary file with space for size bytes.  replace: a file may
 * exist at the path; its mode, owner and extended attributes pass to the new
 * one as far as the system allows. */
enum mf_status mf_target_open(struct mf_env *env, const char *path,
                              uint64_t size, bool replace,
                              struct mf_target *out);

/* Whether the path is standard output: see mf_env_use_dash. */
bool mf_target_is_dash(const struct mf_env *env, const char *path);

/* The same where a program may take the bytes: given, which must live as long,
 * has a function `write` then. */
enum mf_status mf_target_open_for(struct mf_env *env, const char *path,
                                  uint64_t size, bool replace,
                                  const struct mf_output_ops *given,
                                  struct mf_target *out);

/* MF_ERR_ARGUMENT where the struct of a program cannot be used; else a copy of
 * it, as this library knows it. */
enum mf_status mf_target_check_given(struct mf_env *env,
                                     const struct mf_output_ops *given,
                                     struct mf_output_ops *out);

/* The same with a partial file.  inode: the number of the only one that
 * MF_PARTIAL_NAMING takes. */
enum mf_status mf_target_open_partial(struct mf_env *env, const char *path,
                                      uint64_t size, bool replace,
                                      enum mf_partial partial, uint64_t inode,
                                      struct mf_target *out);

/* Where the file at path has that size and, unless it is 0, that inode number:
 * opens it as one that is complete, and *found is true. */
enum mf_status mf_target_open_complete(struct mf_env *env, const char *path,
                                       uint64_t size, uint64_t inode,
                                       struct mf_target *out, bool *found);

/* From here on neither abort nor mf_env_abandon removes the partial file. */
void mf_target_keep(struct mf_target *target);

/* The partial file was to get its name, and goes on instead: it is its owner's
 * only again. */
void mf_target_go_back(const struct mf_target *target);

/* What was written is on the disk after this. */
enum mf_status mf_target_flush(struct mf_env *env,
                               const struct mf_target *target);

/* Fails where the target's file system has no space for that many bytes more,
 * which other outputs need. */
enum mf_status mf_target_check_space(const struct mf_target *target,
                                     uint64_t size);

/* The file will have so many bytes at least: for a file that began with a size
 * of 0 because its size is known only at the end. */
void mf_target_grow(struct mf_target *target, uint64_t size);

/* From any thread, with that thread's env; a stream only in order. */
enum mf_status mf_target_write(struct mf_env *env, struct mf_target *target,
                               uint64_t offset, const void *bytes, size_t size);

/* Has the kernel copy bytes from a file.  Returns how many it copied, which
 * may be fewer; 0 where it cannot, and they have to be written. */
size_t mf_target_copy(struct mf_env *env, struct mf_target *target,
                      uint64_t offset, const struct mf_source *source,
                      uint64_t from, size_t size);

/* Reads back what was written; not from a stream. */
enum mf_status mf_target_read(struct mf_env *env,
                              const struct mf_target *target, uint64_t offset,
                              void *bytes, size_t size);

/* All bytes, the mode and the owner are on the disk after this; the target's
 * name still leads to the old file. */
enum mf_status mf_target_sync(struct mf_target *target);

/* Gives the new file its name.  Closes the target, successful or not. */
enum mf_status mf_target_commit(struct mf_target *target);

/* Discards what was written.  May follow any of the above, also on a target
 * that was never opened (MF_TARGET_NONE). */
void mf_target_abort(struct mf_target *target);

/* Syncs and commits a target whose bytes are written, if status is MF_OK, and
 * discards it after any failure.  Returns the first one. */
enum mf_status mf_target_finish(struct mf_target *target,
                                enum mf_status status);

#define MF_TARGET_NONE                                                         \
    {                                                                          \
        .folder = -1, .fd = -1                                                 \
    }

#endif
