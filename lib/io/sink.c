/* SPDX-License-Identifier: MIT
 *
 * sink.c - writing fields one after the other in the file's byte order
 */
#include "lib/io/sink.h"

void mf_sink_init(struct mf_sink *sink, struct mf_env *env)
{
    /* Not the buffer: no byte of it is written that was not put. */
    sink->env = env;
    sink->write = NULL;
    sink->span = NULL;
    sink->user = NULL;
    sink->offset = sink->end = 0;
    sink->filled = 0;
    sink->big_endian = false;
    sink->status = MF_OK;
}

/* Only where nothing has failed before. */
static void keep(struct mf_sink *sink, enum mf_status status)
{
    sink->status = status;
    if (status != MF_OK)
        sink->error = sink->env->error;
}

static void flush(struct mf_sink *sink)
{
    if (sink->write && sink->filled > 0 && sink->status == MF_OK)
        keep(sink, sink->write(sink->user, sink->offset - sink->filled,
                               sink->buffer, sink->filled));
    sink->filled = 0;
}

void mf_put(struct mf_sink *sink, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    sink->offset += size;
    if (!sink->write)
        return;
    while (size > 0) {
        size_t room = sizeof(sink->buffer) - sink->filled;
        size_t some = size < room ? size : room;

        memcpy(sink->buffer + sink->filled, from, some);
        sink->filled += some;
        from += some;
        size -= some;
        if (sink->filled == sizeof(sink->buffer)) {
            sink->offset -= size; /* as far as the buffer goes */
            flush(sink);
            sink->offset += size;
        }
    }
}

void mf_put_filler(struct mf_sink *sink, uint8_t byte, uint64_t size)
{
    uint8_t some[256];

    if (!sink->write) {
        sink->offset += size;
        return;
    }
    memset(some, byte, sizeof(some));
    for (; size > sizeof(some); size -= sizeof(some))
        mf_put(sink, some, sizeof(some));
    mf_put(sink, some, (size_t)size);
}

void mf_put_span(struct mf_sink *sink, const struct mf_source *source,
                 struct mf_span span)
{
    uint8_t some[4096];

    if (!sink->write) {
        sink->offset += span.size;
        return;
    }
    if (sink->span) {
        flush(sink);
        if (sink->status == MF_OK)
            keep(sink, sink->span(sink->user, sink->offset, source, span));
        sink->offset += span.size;
        return;
    }
    while (span.size > 0 && sink->status == MF_OK) {
        size_t size =
            span.size < sizeof(some) ? (size_t)span.size : sizeof(some);

        keep(sink, mf_source_read(sink->env, source, span.offset, some, size));
        if (sink->status == MF_OK)
            mf_put(sink, some, size);
        span.offset += size;
        span.size -= size;
    }
}

void mf_put_zeros(struct mf_sink *sink, uint64_t size)
{
    mf_put_filler(sink, 0, size);
}

/* The size lowest bytes of value in the file's order. */
static void put_number(struct mf_sink *sink, uint64_t value, size_t size)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[sink->big_endian ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    mf_put(sink, bytes, size);
}

void mf_put_u8(struct mf_sink *sink, uint8_t value)
{
    put_number(sink, value, 1);
}

void mf_put_u16(struct mf_sink *sink, uint16_t value)
{
    put_number(sink, value, 2);
}

void mf_put_u32(struct mf_sink *sink, uint32_t value)
{
    put_number(sink, value, 4);
}

void mf_put_u64(struct mf_sink *sink, uint64_t value)
{
    put_number(sink, value, 8);
}

enum mf_status mf_sink_finish(struct mf_sink *sink)
{
    flush(sink);
    if (sink->status != MF_OK)
        sink->env->error = sink->error;
    return sink->status;
}
