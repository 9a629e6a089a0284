/* SPDX-License-Identifier: MIT
 *
 * chunk.c - chunks as large as memory allows
 */
#include "lib/base/chunk.h"

#include <assert.h>

struct mf_chunk_size mf_chunk_size(const struct mf_env *env, size_t least,
                                   size_t most, size_t each, size_t parts)
{
    struct mf_chunk_size size = { .least = least, .most = most };
    size_t share = mf_heap_left(env) / parts / each;

    assert(least > 0 && least <= most && most <= SIZE_MAX / each);
    size.now = share < least ? least : share > most ? most : share;
    return size;
}

bool mf_chunk_refused(struct mf_chunk_size *size)
{
    size_t half = size->now / 2;

    size->fits = 0;
    if (size->now <= size->least)
        return false;
    size->now = half > size->least ? half : size->least;
    return true;
}

bool mf_chunk_fitted(struct mf_chunk_size *size)
{
    if (size->now >= size->most || ++size->fits < MF_CHUNK_FITS)
        return false;
    size->fits = 0;
    size->now = size->now > size->most / 2 ? size->most : size->now * 2;
    return true;
}

void *mf_chunk_alloc(struct mf_env *env, struct mf_chunk_size *size,
                     size_t each)
{
    const struct mf_error before = env->error;

    assert(size->most <= SIZE_MAX / each);
    for (;;) {
        void *block = mf_alloc(env, size->now * each);

        if (block || !mf_chunk_refused(size))
            return block;
        env->error = before;
    }
}

/* Tables list the work; the most of the memory is for the buffers to do it. */
#define TABLE_SHARE 8

void *mf_chunk_table(struct mf_env *env, size_t most, size_t each, size_t *rows)
{
    struct mf_chunk_size size = mf_chunk_size(env, 1, most, each, TABLE_SHARE);
    void *table = mf_chunk_alloc(env, &size, each);

    *rows = table ? size.now : 0;
    return table;
}
