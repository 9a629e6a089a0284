/* SPDX-License-Identifier: MIT
 *
 * source.h - where bytes come from: a file or memory
 *
 * No mmap: a file that shrinks under us must be an error with a place, never
 * a signal in the program that embeds the library.
 */
#ifndef MF_LIB_SOURCE_H
#define MF_LIB_SOURCE_H

#include "lib/base/heap.h"

struct mf_source;

struct mf_source_ops {
    /* Up to size bytes at offset into buffer: how many, 0 at the end, -1 with
     * errno set. */
    int64_t (*read)(const struct mf_source *source, uint64_t offset,
                    void *buffer, size_t size);
    /* What the size is now; the same number while nothing changes. */
    uint64_t (*size_now)(const struct mf_source *source);
    /* When it was changed last; NULL: it never is. */
    int64_t (*time_now)(const struct mf_source *source);
    void (*close)(struct mf_source *source);
};

struct mf_source {
    const struct mf_source_ops *ops;
    const char *name; /* for messages; owned by whoever opened the source */
    uint64_t size;
    int64_t time; /* of the last change, when it was opened */
    int fd;
    const uint8_t *bytes;
    void *user;                 /* for other kinds than the two below */
    struct mf_journal *journal; /* to read through; NULL: none */
    struct mf_env *env;         /* whose heap it lies on */
};

/* A regular file, read-only; anything else is refused by its name, except
 * that a folder sets *is_folder (when not NULL) beside MF_ERR_ARGUMENT. */
enum mf_status mf_source_open_file(struct mf_env *env, const char *path,
                                   struct mf_source *out, bool *is_folder);

/* A regular file that is open already, and stays open when the source is
 * closed. */
void mf_source_open_fd(struct mf_env *env, const char *path, int fd,
                       struct mf_source *out);

/* The same source once more: closing it closes nothing. */
struct mf_source mf_source_borrow(const struct mf_source *source);

void mf_source_open_memory(const char *name, const void *bytes, size_t size,
                           struct mf_source *out);

/* A source that was never opened (all zero) may be closed, too. */
void mf_source_close(struct mf_source *source);

/* All of size bytes, or MF_ERR_IO with the offset where they ended. */
enum mf_status mf_source_read(struct mf_env *env,
                              const struct mf_source *source, uint64_t offset,
                              void *buffer, size_t size);

/* MF_ERR_IO where the file was changed since it was opened. */
enum mf_status mf_source_unchanged(struct mf_env *env,
                                   const struct mf_source *source);

#endif
