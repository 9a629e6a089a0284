/* SPDX-License-Identifier: MIT
 *
 * table.h - tables that grow, and finding a row by what it contains
 *
 * A set of row numbers, by hash.  The table is the caller's: so one set serves
 * addresses and stacks.
 */
#ifndef MF_LIB_PROFILE_TABLE_H
#define MF_LIB_PROFILE_TABLE_H

#include "lib/base/heap.h"

/* Room for one row more in a table; false without memory. */
bool mf_table_grow(struct mf_env *env, void **table, size_t *room, size_t count,
                   size_t row_size);

/* All zero: empty. */
struct mf_profile_ids {
    uint32_t *slot; /* 0: free, else a row + 1 */
    size_t room;    /* slots: 0 or a power of two */
    size_t count;   /* of them in use */
};

/* Whether the row has the key; what else the hash is made from. */
typedef bool mf_profile_ids_equal(const void *table, uint32_t row,
                                  const void *key);
typedef uint64_t mf_profile_ids_hash(const void *table, uint32_t row);

/* The slot that has the row with this key and hash, or a free one where it
 * belongs.  There must be a free one: see mf_profile_ids_grow. */
uint32_t *mf_profile_ids_find(const struct mf_profile_ids *ids,
                              const void *table, const void *key, uint64_t hash,
                              mf_profile_ids_equal *equal);

/* Room for one row more; false, with the env's error set, without memory. */
bool mf_profile_ids_grow(struct mf_env *env, struct mf_profile_ids *ids,
                         const void *table, mf_profile_ids_hash *hash_of);

void mf_profile_ids_release(struct mf_env *env, struct mf_profile_ids *ids);

/* A hash of size bytes, for keys that no attacker chooses. */
uint64_t mf_profile_ids_mix(const void *bytes, size_t size);

#endif
