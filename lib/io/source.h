/* SPDX-License-Identifier: MIT
 *
 * source.h - bytes in: a file or memory, read at any offset
 *
 * A source only reads.  Nothing here can reach code that writes, locks or
 * removes files; tests/project/layers.t checks the object for that.  Where an
 * interrupted edit left a file half old and half new, opening a model by its
 * path finds the journal (lib/model/pending.c) and gives the source an overlay:
 * spans whose bytes are read from the journal instead.
 *
 * No mmap: a file that shrinks while it is read must be an error with an
 * offset, never a signal in the program that embeds the library.
 */
#ifndef MF_LIB_SOURCE_H
#define MF_LIB_SOURCE_H

#include "lib/base/heap.h"

struct mf_source;

/* When a file's bytes were written last, in nanoseconds, and when anything of
 * it was changed last: its bytes, mode, owner, names or times.  The first can
 * be set to any time (touch -r), the second cannot. */
struct mf_source_times {
    int64_t written, changed;
};

/* Spans of a file whose bytes are read from another one, which is open as fd.
 * All zero: none. */
#define MF_OVERLAY_MAX 2
struct mf_overlay {
    int fd;
    size_t count;
    struct {
        uint64_t offset, size; /* in the file */
        uint64_t at;           /* where its bytes are in the other one */
    } span[MF_OVERLAY_MAX];
};

/* Offsets from here on are of no file: their bytes are computed, by a source
 * that has `stored` set (lib/model/stored.h). */
#define MF_STORED_BASE ((uint64_t)1 << 62)

/* And with this bit an offset is one of the file, of bytes whose numbers are
 * turned around while they are read, by such a source (lib/model/swap.h). */
#define MF_SWAPPED_BIT ((uint64_t)1 << 63)

struct mf_source_ops {
    /* Reads up to size bytes at offset into buffer; returns how many, 0 at the
     * end, -1 with errno set.  Counts in *io what it takes from a file or from
     * memory: bytes that are computed of others were counted with those. */
    int64_t (*read)(const struct mf_source *source, uint64_t offset,
                    void *buffer, size_t size, struct mf_io_stats *io);
    /* These bytes will be read, one after the other; NULL: makes no difference.
     */
    void (*expect)(const struct mf_source *source, struct mf_span span);
    /* The size and the times now, to compare with those at opening; NULL: they
     * never change. */
    uint64_t (*size_now)(const struct mf_source *source);
    struct mf_source_times (*times_now)(const struct mf_source *source);
    /* NULL: there is nothing to close. */
    void (*close)(struct mf_source *source);
    /* The same without close, for a source that is borrowed; NULL: close is
     * NULL as it is. */
    const struct mf_source_ops *borrowed;
};

struct mf_source {
    const struct mf_source_ops *ops;
    const char *name; /* for messages; owned by the opener */
    uint64_t size;
    struct mf_source_times times; /* when it was opened */
    uint64_t version[2];          /* see mf_byte_source; both 0: unknown */
    int fd;                       /* of a file, else -1 */
    const uint8_t *bytes;         /* of memory */
    uint64_t there;               /* how many of them; size may be more */
    void *user;                   /* for kinds that are defined elsewhere */
    bool stored;                  /* has bytes from MF_STORED_BASE on */
    struct mf_overlay overlay;    /* of a file */
};

/* Whether all bytes of the span can be read. */
static inline bool mf_source_has(const struct mf_source *source,
                                 struct mf_span span)
{
    if (span.offset >= MF_STORED_BASE)
        return source->stored;
    return span.offset <= source->size &&
           span.size <= source->size - span.offset;
}

/* Whether its version tells its bytes from all others. */
static inline bool mf_source_is_known(const struct mf_source *source)
{
    return (source->version[0] | source->version[1]) != 0;
}

/* For a parser that knows how long a part is. */
static inline void mf_source_expect(const struct mf_source *source,
                                    struct mf_span span)
{
    if (source->ops->expect && mf_source_has(source, span))
        source->ops->expect(source, span);
}

/* The same for a list of parts in order: those that continue each other are
 * expected as one.  All zero at first, and mf_expect_end after the last. */
struct mf_expected {
    const struct mf_source *source;
    struct mf_span span;
};

static inline void mf_expect_end(const struct mf_expected *expected)
{
    if (expected->source)
        mf_source_expect(expected->source, expected->span);
}

static inline void mf_expect_add(struct mf_expected *expected,
                                 const struct mf_source *source,
                                 struct mf_span span)
{
    if (source == expected->source &&
        span.offset == expected->span.offset + expected->span.size) {
        expected->span.size += span.size;
        return;
    }
    mf_expect_end(expected);
    *expected = (struct mf_expected){ source, span };
}

/* Opens a regular file for reading.  Anything else is MF_ERR_ARGUMENT; for a
 * folder *is_folder (when not NULL) is set as well. */
enum mf_status mf_source_open_file(struct mf_env *env, const char *path,
                                   struct mf_source *out, bool *is_folder);

/* FILE-LIMIT where the file has more bytes than `most`. */
enum mf_status mf_source_check_size(struct mf_env *env,
                                    const struct mf_source *source,
                                    uint64_t most);

/* MF_ERR_ARGUMENT unless that is a regular file, open for reading. */
enum mf_status mf_source_check_fd(struct mf_env *env, int fd);

/* Bytes from the start on that can be read; of a file whose beginning is in
 * memory not all. */
static inline uint64_t mf_source_there(const struct mf_source *source)
{
    return source->bytes ? source->there : source->size;
}

/* A regular file that is open already; closing the source leaves it open. */
void mf_source_open_fd(const char *path, int fd, struct mf_source *out);

/* A second source for the same bytes; closing it closes nothing. */
struct mf_source mf_source_borrow(const struct mf_source *source);

void mf_source_open_memory(const char *name, const void *bytes, size_t size,
                           struct mf_source *out);

/* The first size bytes of a file of file_size bytes; MF_ERR_ARGUMENT where it
 * has fewer. */
enum mf_status mf_source_open_beginning(struct mf_env *env, const char *name,
                                        const void *bytes, size_t size,
                                        uint64_t file_size,
                                        struct mf_source *out);

/* Also closes the overlay's file.  A source that was never opened (all zero)
 * may be closed, too. */
void mf_source_close(struct mf_source *source);

uint64_t mf_source_size_now(const struct mf_source *source);
struct mf_source_times mf_source_times_now(const struct mf_source *source);

/* Closes it, and leaves a source without bytes. */
void mf_source_shut(struct mf_source *source);

/* Reads all of size bytes; else MF_ERR_IO with the offset where they ended.  Of
 * bytes that are computed: MF_ERR_MEMORY, or MF_ERR_CORRUPT where the file's
 * make no sense. */
enum mf_status mf_source_read(struct mf_env *env,
                              const struct mf_source *source, uint64_t offset,
                              void *buffer, size_t size);

/* The same for a source that others are computed of, which has the bytes of a
 * file: false with errno set, EIO where they end. */
bool mf_source_fill(const struct mf_source *source, uint64_t offset,
                    uint8_t *into, size_t size, struct mf_io_stats *io);

/* MF_ERR_IO if the file has another size than when it was opened, or was
 * written to since, by its time. */
enum mf_status mf_source_unchanged(struct mf_env *env,
                                   const struct mf_source *source);

/* The same.  *touched: true if something else of it was changed, which may be
 * its mode or a name, or its bytes with the time set back; from now on it is
 * compared with what it is now.  The caller has to read again what counts. */
enum mf_status mf_source_steady(struct mf_env *env, struct mf_source *source,
                                bool *touched);

/* What tells a file from all others, whatever path led to it. */
struct mf_source_id {
    uint64_t device, file;
};

/* Equal for two sources of one file; bytes in memory are a file of their own.
 */
struct mf_source_id mf_source_identify(const struct mf_source *source);

/* Reads all of size bytes at offset of an open file; false with errno set, EIO
 * if the file ends before. */
bool mf_fd_read(int fd, uint64_t offset, void *bytes, size_t size);

#endif
