/* SPDX-License-Identifier: MIT
 *
 * streams.h - reading anywhere in storages that are compressed
 *
 * A stream unpacks one storage from its start on.  A read takes the stream that
 * is nearest before its place and passes over what lies between; otherwise an
 * idle one starts again.  So there are never more streams than reads at one
 * time, and each takes 48 KiB at most: zlib's 40, and 8 of input. Threads that
 * read one storage piece by piece wait for each other: what is unpacked once is
 * not unpacked again, and others work on what it contains. A storage that would
 * begin a third time is unpacked as a whole (unpacked.h): so the work is
 * linear, whatever the order of reads.
 */
#ifndef MF_LIB_STREAMS_H
#define MF_LIB_STREAMS_H

#include <stdatomic.h>

#include "lib/model/stored.h"
#include "lib/model/unpacked.h"

#define MF_STREAMS_MAX 64 /* at one time; further reads wait */

struct mf_stream;

struct mf_streams {
    struct mf_env *env;
    const struct mf_source *file;
    atomic_bool locked;
    struct mf_stream *stream[MF_STREAMS_MAX];
    struct mf_unpacked_table unpacked;
};

/* Reads size bytes of a storage that is compressed, whose row is given to tell
 * it from others.  False with errno: ENOMEM, ENOSPC where it has to be unpacked
 * as a whole and nothing has room, EBADMSG for bytes that are not deflate or
 * end too early, or what reading the file said. */
bool mf_streams_read(struct mf_streams *streams, struct mf_stored *stored,
                     uint32_t row, uint64_t offset, uint8_t *into, size_t size,
                     struct mf_io_stats *io);

void mf_streams_release(struct mf_streams *streams);

#endif
