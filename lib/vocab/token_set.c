/* SPDX-License-Identifier: MIT
 *
 * token_set.c - which texts are tokens: a set of their hashes
 */
#include "lib/vocab/token_set.h"

#include <assert.h>
#include <string.h>

/* A smaller table would mean thousands of passes. */
#define LEAST_SLOTS ((size_t)512)

/* Enough for six million tokens at once.  A sparse file can have a billion
 * empty ones. */
#define MOST_SLOTS ((size_t)8 * 1024 * 1024)

/* A share of the hashes is not exactly as large as the others: a deviation is
 * the square root of its tokens. */
#define MARGIN 64

/* Tokens that leave a fifth of the slots free.  A search looks at a few that
 * are next to each other; a table that is half empty is no faster, for more of
 * it is outside the cache. */
static uint64_t tokens_for(size_t slots)
{
    return (slots - MARGIN) / 5 * 4;
}

static size_t slots_for(uint64_t tokens)
{
    return (size_t)(tokens / 4 * 5 + 5 + MARGIN);
}

enum mf_status mf_token_set_init(struct mf_token_set *set, struct mf_env *env,
                                 uint64_t count, size_t spare)
{
    size_t left = mf_heap_left(env);
    struct mf_chunk_size size = { .least = LEAST_SLOTS, .most = MOST_SLOTS };

    assert(count <= INT32_MAX);
    *set = (struct mf_token_set){ .env = env };
    left = left > spare ? left - spare : 0;
    size.now = left / sizeof(*set->slot);
    size.now = size.now < size.least  ? size.least
               : size.now > size.most ? size.most
                                      : size.now;
    if (size.now > slots_for(count))
        size.now = slots_for(count);
    set->slot = mf_chunk_alloc(env, &size, sizeof(*set->slot));
    set->slots = size.now;
    set->passes = (uint32_t)(count / tokens_for(set->slots)) + 1;
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
    /* A fifth of the table is free, or the seed is known: one slot stays free,
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
