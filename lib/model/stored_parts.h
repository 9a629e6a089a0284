/* SPDX-License-Identifier: MIT
 *
 * stored_parts.h - between the files that read what an archive has stored
 */
#ifndef MF_LIB_MODEL_STORED_PARTS_H
#define MF_LIB_MODEL_STORED_PARTS_H

#include <stdatomic.h>
#if !defined(MF_NO_ZLIB)
#include <zlib.h>
#endif

#include "lib/base/heap.h"
#include "lib/model/stored.h"

/* ---- raw deflate, unpacked by zlib in memory of the env ---- */

/* zlib asks for its state when it begins and for its window of 32 KiB when a
 * stream goes on over several calls: some 40 KiB, which count and are limited
 * like all others.
 *
 * A build with MF_NO_ZLIB unpacks nothing: members that are compressed are a
 * finding of their archive, and this is never called. */

#define MF_INFLATE_BLOCKS 4 /* zlib needs two */

/* All zero: not begun. */
struct mf_inflate {
    struct mf_env *env;
#if !defined(MF_NO_ZLIB)
    z_stream z;
#endif
    struct {
        void *at;
        size_t size;
    } block[MF_INFLATE_BLOCKS];
};

enum mf_inflated {
    MF_INFLATE_MORE, /* all input is used, or all output is full */
    MF_INFLATE_END,
    MF_INFLATE_BAD,
    MF_INFLATE_NO_MEMORY
};

/* Begins a stream, or another one with the same memory.  False if there is no
 * memory; the env's error is left as it was.  Any thread may call it. */
bool mf_inflate_begin(struct mf_inflate *own, struct mf_env *env);

/* From in[*in_size] to out[*out_size], which get how many were used. */
enum mf_inflated mf_inflate_step(struct mf_inflate *own, const uint8_t *in,
                                 size_t *in_size, uint8_t *out,
                                 size_t *out_size);

void mf_inflate_end(struct mf_inflate *own);

/* ---- storages that are unpacked as a whole, for reads in any order ---- */

/* Inflating goes forward only.  A storage that is begun again and again,
 * because its tensors are read backwards or are transposed, is unpacked once
 * more, and from then on read from here: small ones from memory, others from a
 * file without a name (lib/io/scratch.h), or from memory where there is none.
 */

/* One storage. */
struct mf_unpacked {
    uint32_t key;    /* its row + 1; 0: none */
    bool ready;      /* else a thread is making it */
    bool again;      /* it could not, but may the next time: it is made again
                        by who reads it next */
    int error;       /* errno: it could not be made */
    uint64_t room;   /* of all its bytes */
    uint64_t size;   /* bytes that could be unpacked */
    uint8_t *memory; /* NULL: in the scratch file */
    uint64_t at;     /* there */
};

/* Of one source; all zero: no table.  Callers hold a lock around it. */
struct mf_unpacked_table {
    struct mf_unpacked *row; /* hashed; room is a power of two */
    size_t count, room;
    uint64_t in_memory;
    bool joined; /* the scratch file */
};

/* NULL: not begun. */
struct mf_unpacked *mf_unpacked_find(const struct mf_unpacked_table *table,
                                     uint32_t row);

/* Begins a storage of so many bytes: finds out where they go.  NULL with errno;
 * what it returns may move with the next one. */
struct mf_unpacked *mf_unpacked_begin(struct mf_unpacked_table *table,
                                      struct mf_env *env, uint32_t row,
                                      uint64_t size);

/* ---- without the lock, on a copy ---- */

/* False with errno. */
bool mf_unpacked_put(struct mf_env *env, const struct mf_unpacked *unpacked,
                     uint64_t offset, const uint8_t *bytes, size_t size);
bool mf_unpacked_get(struct mf_env *env, const struct mf_unpacked *unpacked,
                     uint64_t offset, uint8_t *into, size_t size);

/* Gives up its room, as far as that can be. */
void mf_unpacked_drop(struct mf_env *env, const struct mf_unpacked *unpacked);

void mf_unpacked_release(struct mf_unpacked_table *table, struct mf_env *env);

/* ---- reading anywhere in storages that are compressed ---- */

/* A stream unpacks one storage from its start on.  A read takes the stream that
 * is nearest before its place and passes over what lies between; otherwise an
 * idle one starts again.  So there are never more streams than reads at one
 * time, and each takes 48 KiB at most: zlib's 40, and 8 of input. Threads that
 * read one storage piece by piece wait for each other: what is unpacked once is
 * not unpacked again, and others work on what it contains. A storage that would
 * begin a third time is unpacked as a whole (unpacked.c): so the work is
 * linear, whatever the order of reads. */

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

/* ---- elements of a view, in C order ---- */

/* A read asks for elements one after the other; where they lie is a matter of
 * strides.  What was asked for is cut into boxes, and each is copied in the
 * order of the storage, not of the result: so a storage is read forward, which
 * is fast in a file and the only way in a compressed one. */

#define MF_GATHER_WINDOW 8192

struct mf_gather {
    const struct mf_stored_view *view;
    /* Reads size bytes at offset of the storage; false with errno. */
    bool (*read)(void *user, uint64_t offset, uint8_t *into, size_t size);
    void *user;
};

/* Copies the elements from `first` on, with their bytes in little-endian order;
 * false with errno. */
bool mf_gather(const struct mf_gather *gather, uint64_t first, size_t count,
               uint8_t *into);

#endif
