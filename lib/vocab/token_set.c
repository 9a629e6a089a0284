/* SPDX-License-Identifier: MIT
 *
 * token_set.c - which texts are tokens: a set of their hashes
 */
#include "lib/vocab/token_set.h"

#include <assert.h>
#include <string.h>

/* A smaller table would mean thousands of passes. */
#define LEAST_ROOM ((uint64_t)32 * 1024)

/* Enough for four million tokens at once.  A sparse file can have a billion
 * empty ones. */
#define MOST_ROOM ((uint64_t)64 * 1024 * 1024)

/* A share of the hashes is not exactly as large as the others: a deviation is
 * the square root of its tokens. */
#define MARGIN 64

static uint64_t slots_for(uint64_t count)
{
    return count + count / 8 * 7 + MARGIN;
}

enum mf_status mf_token_set_init(struct mf_token_set *set, struct mf_env *env,
                                 uint64_t count, size_t spare)
{
    const struct mf_heap *heap = &env->heap;
    uint64_t room = MOST_ROOM, share = count;

    *set = (struct mf_token_set){ .env = env, .passes = 1 };
    assert(count <= INT32_MAX);
    if (heap->limit) {
        room = heap->limit > heap->live + spare
                   ? heap->limit - heap->live - spare
                   : 0;
        room = room < LEAST_ROOM  ? LEAST_ROOM
               : room > MOST_ROOM ? MOST_ROOM
                                  : room;
    }
    while (slots_for(share) * sizeof(*set->slot) > room) {
        set->passes++;
        share = count / set->passes + MARGIN;
    }
    set->slots = (size_t)slots_for(share);
    set->slot = mf_alloc(env, set->slots * sizeof(*set->slot));
    return set->slot ? MF_OK : env->error.status;
}

void mf_token_set_release(struct mf_token_set *set)
{
    mf_release(set->env, set->slot, set->slots * sizeof(*set->slot));
    set->slot = NULL;
}

void mf_token_set_begin(struct mf_token_set *set, uint32_t pass)
{
    assert(pass < set->passes);
    memset(set->slot, 0, set->slots * sizeof(*set->slot));
    set->pass = pass;
    set->filled = 0;
}

/* The upper half of a hash decides on its pass, the lower one on its slot. */
bool mf_token_set_takes(const struct mf_token_set *set, uint64_t hash)
{
    return (hash >> 32) * set->passes >> 32 == set->pass;
}

static uint64_t *find(const struct mf_token_set *set, uint64_t hash)
{
    size_t at = (size_t)((hash & UINT32_MAX) * set->slots >> 32);

    while (set->slot[at] != 0 && set->slot[at] != hash)
        at = at + 1 < set->slots ? at + 1 : 0;
    return &set->slot[at];
}

/* 0 means free. */
static uint64_t stored(uint64_t hash)
{
    return hash ? hash : 1;
}

bool mf_token_set_add(struct mf_token_set *set, uint64_t hash)
{
    uint64_t *slot = find(set, stored(hash));

    if (*slot != 0)
        return false;
    /* Half of the table is free, or the seed is known: one slot stays free,
     * so that a search ends. */
    if (set->filled + 1 < set->slots) {
        *slot = stored(hash);
        set->filled++;
    }
    return true;
}

bool mf_token_set_has(const struct mf_token_set *set, uint64_t hash)
{
    return *find(set, stored(hash)) != 0;
}
