/* SPDX-License-Identifier: MIT
 *
 * sparse.h - a file of a real header and a hole where the tensor data would be
 *
 * Bytes are put one after the other, numbers little-endian.  Nothing here
 * reports a failure until out_close(), which reports the first one.
 */
#ifndef TESTS_SPARSE_H
#define TESTS_SPARSE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct out {
    FILE *file;       /* NULL where it could not be opened */
    int error;        /* errno of the first failure */
    uint64_t at;      /* bytes put so far */
    uint64_t data;    /* tensor bytes promised so far */
    uint64_t tensors; /* tensors promised so far */
    uint64_t names;   /* bytes of their names */
};

static inline uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static inline void out_open(struct out *out, const char *path)
{
    memset(out, 0, sizeof(*out));
    out->file = fopen(path, "w+b");
    if (!out->file)
        out->error = errno;
}

static inline void out_write(struct out *out, const void *bytes, size_t size)
{
    if (!out->error && fwrite(bytes, 1, size, out->file) != size)
        out->error = errno;
}

static inline void put(struct out *out, const void *bytes, size_t size)
{
    out_write(out, bytes, size);
    out->at += size;
}

static inline void put_text(struct out *out, const char *text)
{
    put(out, text, strlen(text));
}

static inline void encode(uint64_t value, uint8_t bytes[8])
{
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* The lowest size bytes of value. */
static inline void put_int(struct out *out, uint64_t value, size_t size)
{
    uint8_t bytes[8];

    encode(value, bytes);
    put(out, bytes, size);
}

static inline void pad(struct out *out, uint64_t alignment, char with)
{
    while (out->at % alignment)
        put(out, &with, 1);
}

/* Bytes that are zero and take no disk. */
static inline void put_hole(struct out *out, uint64_t size)
{
    out->at += size;
    if (!out->error && fseeko(out->file, (off_t)out->at, SEEK_SET))
        out->error = errno;
}

/* Fills in, at the end, what was not known before: no put may follow. */
static inline void patch_int(struct out *out, long at, uint64_t value,
                             size_t size)
{
    uint8_t bytes[8];

    encode(value, bytes);
    if (!out->error && fseek(out->file, at, SEEK_SET))
        out->error = errno;
    out_write(out, bytes, size);
}

/* Makes the hole: the file grows by the promised data, the disk does not.
 * Zero, or -1 with errno set; a full disk and a file system that has no files
 * of this size are the likely ones. */
static inline int out_close(struct out *out)
{
    off_t size = (off_t)(out->at + out->data);

    if (!out->error &&
        (fflush(out->file) || ftruncate(fileno(out->file), size)))
        out->error = errno;
    if (out->file && fclose(out->file) && !out->error)
        out->error = errno;
    errno = out->error;
    return out->error ? -1 : 0;
}

#endif
