/* SPDX-License-Identifier: MIT
 *
 * reader.h - bounded forward reading of fields in the file's byte order
 *
 * A reader walks a source once through a window of at most MF_WINDOW bytes and
 * never passes its limit.  After the first short or failed read it yields zeros
 * and stays failed, so that a parser reads a whole record, field after field as
 * the specification lists them, and then checks once.
 *
 * Where memory is short the window is smaller; it grows for a field that needs
 * more, and later by itself.  Its size must not show in any result.
 *
 * The limit is the defence against sizes in a header: a section's reader cannot
 * leave it.  Skipping costs nothing: what is beyond the window is never read.
 */
#ifndef MF_LIB_READER_H
#define MF_LIB_READER_H

#include <string.h>

#include "lib/base/chunk.h"
#include "lib/base/little.h"
#include "lib/io/source.h"

/* Small enough for a second-level cache, large enough that system calls do
 * not count: 64 KiB costs a third more time on a warm file, 1 MiB saves a
 * tenth. */
#define MF_WINDOW ((size_t)128 * 1024)

/* What a window shrinks to where memory is short: a page, which on a warm file
 * takes six times as long. */
#define MF_WINDOW_LEAST ((size_t)4 * 1024)

struct mf_reader {
    struct mf_env *env;
    const struct mf_source *source;
    uint8_t *window;
    size_t capacity;           /* of the window, which may grow */
    struct mf_chunk_size size; /* that it should have */
    uint64_t base;             /* offset in the file of window[0] */
    size_t at, filled;   /* next byte and end of the bytes in the window */
    uint64_t limit;      /* no byte from this offset on is read */
    const uint8_t *tail; /* the file's last bytes, or NULL */
    size_t tail_size;
    bool big_endian;
    bool failed; /* a read passed the limit, or the source failed */
};

/* Allocates the window, which release frees.  head: bytes from offset 0 that
 * have been read already (may be NULL, 0). */
enum mf_status mf_reader_init(struct mf_reader *reader, struct mf_env *env,
                              const struct mf_source *source,
                              const uint8_t *head, size_t head_size);

/* The file's last bytes, which have been read already: they are not read again.
 * They must live as long as the reader. */
void mf_reader_tail(struct mf_reader *reader, const uint8_t *tail, size_t size);

/* From a span's start to its end, with a window of at most `window` bytes. */
enum mf_status mf_reader_init_span(struct mf_reader *reader, struct mf_env *env,
                                   const struct mf_source *source,
                                   struct mf_span span, size_t window);
void mf_reader_release(struct mf_reader *reader);

/* The offset of the next byte in the file. */
static inline uint64_t mf_reader_offset(const struct mf_reader *reader)
{
    return reader->base + reader->at;
}

/* Bytes between here and the limit. */
static inline uint64_t mf_reader_left(const struct mf_reader *reader)
{
    return reader->limit - mf_reader_offset(reader);
}

/* Moves to offset (at most the limit, else the reader fails).  Bytes that are
 * in the window are not read again. */
void mf_reader_seek(struct mf_reader *reader, uint64_t offset);

/* Copies bytes from anywhere below the limit, and reads no more than these if
 * they are not in the window or the tail: for small records far apart.  The
 * next byte stays the same.  False, without failing, where the limit is before
 * their end; false and failed where the source fails. */
bool mf_reader_copy(struct mf_reader *reader, uint64_t offset, void *into,
                    size_t size);

/* Sets the limit, at most the size of the source; it must not be before the
 * next byte. */
void mf_reader_limit(struct mf_reader *reader, uint64_t limit);

/* Reads ahead until the window has at least size bytes (at most MF_WINDOW);
 * false, and failed, if that is not possible. */
bool mf_reader_fill(struct mf_reader *reader, size_t size);

/* Makes the window large enough for all that is left, up to `most` bytes, so
 * that one read gets it.  Where memory is short it stays as it is. */
void mf_reader_widen(struct mf_reader *reader, size_t most);

/* Fills the window as far as the limit allows and returns a second reader whose
 * limit is the end of the window: it never reads from the source, is valid
 * until the first is used again, and must not be released. */
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
    uint16_t value = bytes ? mf_little_16(bytes) : 0;

    return reader->big_endian ? __builtin_bswap16(value) : value;
}

static inline uint32_t mf_take_u32(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 4);
    uint32_t value = bytes ? mf_little_32(bytes) : 0;

    return reader->big_endian ? __builtin_bswap32(value) : value;
}

static inline uint64_t mf_take_u64(struct mf_reader *reader)
{
    const uint8_t *bytes = mf_take(reader, 8);
    uint64_t value = bytes ? mf_little_64(bytes) : 0;

    return reader->big_endian ? __builtin_bswap64(value) : value;
}

/* Skips size bytes; those beyond the window are not read. */
static inline void mf_skip(struct mf_reader *reader, uint64_t size)
{
    if (size <= reader->filled - reader->at)
        reader->at += (size_t)size;
    else if (size <= mf_reader_left(reader))
        mf_reader_seek(reader, mf_reader_offset(reader) + size);
    else
        mf_reader_seek(reader, UINT64_MAX);
}

/* Copies size bytes; zeros and false once failed. */
bool mf_take_bytes(struct mf_reader *reader, void *into, size_t size);

/* The next byte, which stays the next; -1 at the limit, without failing, or
 * once failed. */
static inline int mf_peek(struct mf_reader *reader)
{
    if (reader->at == reader->filled &&
        (mf_reader_left(reader) == 0 || !mf_reader_fill(reader, 1)))
        return -1;
    return reader->window[reader->at];
}

/* After a record: MF_OK, or an error that says what was being read ("the tensor
 * list") and where the file or section ended. */
enum mf_status mf_reader_check(struct mf_reader *reader, const char *what);

/* Skips size bytes of text, which may be more than a window; false if they are
 * not UTF-8. */
bool mf_pass_text(struct mf_reader *reader, uint64_t size, bool *has_nul);

#endif
