/* SPDX-License-Identifier: MIT
 *
 * reader.h - bounded forward reading of fields in the file's byte order
 *
 * A reader walks a source once through a window of at most MF_WINDOW bytes.
 * It never passes its limit.  After the first short or failed read it yields
 * zeros and stays failed, so a parser reads a whole record and then asks once.
 */
#ifndef MF_LIB_READER_H
#define MF_LIB_READER_H

#include <string.h>

#include "lib/io/source.h"

/* Small enough for a second-level cache, large enough that system calls do
 * not count: 64 KiB costs a third more time on a warm file, 1 MiB saves a
 * tenth. */
#define MF_WINDOW ((size_t)128 * 1024)

struct mf_reader {
    struct mf_env *env;
    const struct mf_source *source;
    uint8_t *window;
    size_t capacity;
    uint64_t base;     /* offset in the file of window[0] */
    size_t at, filled; /* next byte and end of the bytes in the window */
    uint64_t limit;    /* no byte at or behind this offset is read */
    bool big_endian;
    bool failed; /* at the limit, or where reading failed */
};

/* The window is taken from the heap here and given back by release.  head:
 * bytes from offset 0 that have been read already (may be NULL, 0). */
enum mf_status mf_reader_init(struct mf_reader *reader, struct mf_env *env,
                              const struct mf_source *source,
                              const uint8_t *head, size_t head_size);

/* Stands at span's start, ends at its end, with a window of at most `window`
 * bytes: for values that are read when asked for. */
enum mf_status mf_reader_init_span(struct mf_reader *reader, struct mf_env *env,
                                   const struct mf_source *source,
                                   struct mf_span span, size_t window);
void mf_reader_release(struct mf_reader *reader);

/* Where the next byte stands in the file. */
static inline uint64_t mf_reader_offset(const struct mf_reader *reader)
{
    return reader->base + reader->at;
}

/* Bytes between here and the limit. */
static inline uint64_t mf_reader_left(const struct mf_reader *reader)
{
    return reader->limit - mf_reader_offset(reader);
}

/* Moves to offset (at most the limit, else the reader fails).  Bytes that
 * stand in the window already are not read again. */
void mf_reader_seek(struct mf_reader *reader, uint64_t offset);

/* Sets the limit (cut to the size of the source); it must not lie before
 * bytes that were taken. */
void mf_reader_limit(struct mf_reader *reader, uint64_t limit);

/* Brings at least size bytes (at most the window) into the window; false and
 * failed where that is not possible. */
bool mf_reader_fill(struct mf_reader *reader, size_t size);

/* A look ahead: fills the window as far as the limit allows and gives a second
 * reader over the bytes in it, which ends where they end.  It reads nothing,
 * is valid until the first is used again, and must not be released. */
struct mf_reader mf_reader_ahead(struct mf_reader *reader);

/* size bytes, valid until the next call; NULL once failed.  size at most
 * MF_WINDOW. */
static inline const uint8_t *mf_take(struct mf_reader *reader, size_t size)
{
    const uint8_t *bytes;

    if (reader->filled - reader->at < size && !mf_reader_fill(reader, size))
        return NULL;
    bytes = reader->window + reader->at;
    reader->at += size;
    return bytes;
}

static inline uint8_t mf_take_u8(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 1);

    return bytes ? *bytes : 0;
}

static inline uint16_t mf_take_u16(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 2);
    uint16_t value = 0;

    if (bytes)
        memcpy(&value, bytes, 2);
    return reader->big_endian ? __builtin_bswap16(value) : value;
}

static inline uint32_t mf_take_u32(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 4);
    uint32_t value = 0;

    if (bytes)
        memcpy(&value, bytes, 4);
    return reader->big_endian ? __builtin_bswap32(value) : value;
}

static inline uint64_t mf_take_u64(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 8);
    uint64_t value = 0;

    if (bytes)
        memcpy(&value, bytes, 8);
    return reader->big_endian ? __builtin_bswap64(value) : value;
}

/* Passes over size bytes; what lies beyond the window is not read. */
static inline void mf_skip(struct mf_reader *reader, uint64_t size)
{
    if (size <= reader->filled - reader->at)
        reader->at += (size_t)size;
    else if (size <= mf_reader_left(reader))
        mf_reader_seek(reader, mf_reader_offset(reader) + size);
    else
        mf_reader_seek(reader, UINT64_MAX);
}

/* Copies size bytes out; zeros and false once failed. */
bool mf_take_bytes(struct mf_reader *reader, void *into, size_t size);

/* The next byte without taking it; -1 at the limit (the reader does not fail
 * by that) or once failed. */
static inline int mf_peek(struct mf_reader *reader)
{
    if (reader->at == reader->filled &&
        (mf_reader_left(reader) == 0 || !mf_reader_fill(reader, 1)))
        return -1;
    return reader->window[reader->at];
}

/* For after a record: MF_OK, or the failure put into words: what was being
 * read ("the tensor list") and where the file ended. */
enum mf_status mf_reader_check(struct mf_reader *reader, const char *what);

/* Passes over size bytes of text, which may be more than a window; false where
 * they are not UTF-8. */
bool mf_pass_text(struct mf_reader *reader, uint64_t size, bool *has_nul);

#endif
