/* SPDX-License-Identifier: MIT
 *
 * unpacked.h - storages that are unpacked as a whole, for reads in any order
 *
 * Inflating goes forward only.  A storage that is begun again and again,
 * because its tensors are read backwards or are transposed, is unpacked once
 * more, and from then on read from here: small ones from memory, others from a
 * file without a name (lib/io/scratch.h), or from memory where there is none.
 */
#ifndef MF_LIB_UNPACKED_H
#define MF_LIB_UNPACKED_H

#include "lib/base/heap.h"

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

#endif
