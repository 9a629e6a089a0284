/* SPDX-License-Identifier: MIT
 *
 * sink.h - writing fields one after the other in the file's byte order
 *
 * A sink counts bytes, and where it has a function it passes them on in large
 * pieces: the same code computes how long a header will be and writes it. After
 * the first failure it only counts, and keeps the error: its callers read
 * values from files in between, and each such read clears the env's error.
 */
#ifndef MF_LIB_SINK_H
#define MF_LIB_SINK_H

#include <string.h>

#include "lib/io/source.h"

struct mf_sink {
    struct mf_env *env;
    /* NULL: the bytes are only counted */
    enum mf_status (*write)(void *user, uint64_t offset, const void *bytes,
                            size_t size);
    /* If set, gets a span of a file instead of its bytes. */
    enum mf_status (*span)(void *user, uint64_t offset,
                           const struct mf_source *source, struct mf_span span);
    void *user;
    uint64_t offset;    /* of the next byte */
    uint64_t end;       /* of the header, before its padding */
    uint64_t part_size; /* of what the header states the size of */
    size_t filled;
    bool big_endian;
    enum mf_status status; /* of the first failure */
    struct mf_error error; /* the env's error then */
    uint8_t buffer[16 * 1024];
};

/* Only counts, from 0, until a function is set. */
void mf_sink_init(struct mf_sink *sink, struct mf_env *env);

void mf_put(struct mf_sink *sink, const void *bytes, size_t size);
/* Bytes of a file; only counted where nothing is written. */
void mf_put_span(struct mf_sink *sink, const struct mf_source *source,
                 struct mf_span span);
void mf_put_zeros(struct mf_sink *sink, uint64_t size);
void mf_put_filler(struct mf_sink *sink, uint8_t byte, uint64_t size);
void mf_put_u8(struct mf_sink *sink, uint8_t value);
void mf_put_u16(struct mf_sink *sink, uint16_t value);
void mf_put_u32(struct mf_sink *sink, uint32_t value);
void mf_put_u64(struct mf_sink *sink, uint64_t value);

/* Passes on what is left.  Returns the first failure and restores its error. */
enum mf_status mf_sink_finish(struct mf_sink *sink);

#endif
