/* SPDX-License-Identifier: MIT
 *
 * table.c - tables that grow, and finding a row by what it contains
 */
#include "lib/profile/table.h"

#include <assert.h>
#include <string.h>

#define ROOM_FIRST 64

bool mf_table_grow(struct mf_env *env, void **table, size_t *room, size_t count,
                   size_t row_size)
{
    size_t more = *room ? 2 * *room : ROOM_FIRST;
    void *moved;

    if (count < *room)
        return true;
    moved = mf_env_resize(env, *table, *room * row_size, more * row_size);
    if (!moved)
        return false;
    *table = moved;
    *room = more;
    return true;
}

uint64_t mf_profile_ids_mix(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = size, word = 0;

    for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    for (; size > 0; size--)
        hash = (hash ^ *at++) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

uint32_t *mf_profile_ids_find(const struct mf_profile_ids *ids,
                              const void *table, const void *key, uint64_t hash,
                              mf_profile_ids_equal *equal)
{
    size_t mask = ids->room - 1;

    assert(ids->count < ids->room);
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask)
        if (ids->slot[i] == 0 || equal(table, ids->slot[i] - 1, key))
            return &ids->slot[i];
}

bool mf_profile_ids_grow(struct mf_env *env, struct mf_profile_ids *ids,
                         const void *table, mf_profile_ids_hash *hash_of)
{
    size_t room = ids->room ? 2 * ids->room : ROOM_FIRST;
    uint32_t *slot;

    if (ids->count + 1 < ids->room / 4 * 3)
        return true;
    slot = mf_alloc(env, room * sizeof(*slot));
    if (!slot)
        return false;
    memset(slot, 0, room * sizeof(*slot));
    for (size_t i = 0; i < ids->room; i++)
        if (ids->slot[i] != 0) {
            size_t at = (size_t)hash_of(table, ids->slot[i] - 1) & (room - 1);

            while (slot[at] != 0)
                at = (at + 1) & (room - 1);
            slot[at] = ids->slot[i];
        }
    mf_release(env, ids->slot, ids->room * sizeof(*slot));
    ids->slot = slot;
    ids->room = room;
    return true;
}

void mf_profile_ids_release(struct mf_env *env, struct mf_profile_ids *ids)
{
    mf_release(env, ids->slot, ids->room * sizeof(*ids->slot));
    *ids = (struct mf_profile_ids){ 0 };
}
