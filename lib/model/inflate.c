/* SPDX-License-Identifier: MIT
 *
 * inflate.c - raw deflate, unpacked by zlib in memory of the env
 */
#include "lib/model/stored_parts.h"

#if !defined(MF_NO_ZLIB)

#include <limits.h>

#include "lib/base/kept.h"

/* Threads that read tensors share the env of the model, and one that gets no
 * memory says so by errno: the caller of the read reports the error. */
static void *resize(struct mf_env *env, void *block, size_t old, size_t size)
{
    struct mf_error before;
    void *moved;

    mf_kept_lock(env);
    before = env->error;
    moved = mf_env_resize(env, block, old, size);
    env->error = before;
    mf_kept_unlock(env);
    return moved;
}

/* zlib does not say how large a block is when it gives it back. */
static void *take(void *user, unsigned count, unsigned size)
{
    struct mf_inflate *own = user;
    size_t bytes = (size_t)count * size;

    for (size_t i = 0; i < MF_INFLATE_BLOCKS; i++)
        if (!own->block[i].at) {
            own->block[i].at = resize(own->env, NULL, 0, bytes);
            own->block[i].size = bytes;
            return own->block[i].at;
        }
    return NULL;
}

static void give(void *user, void *block)
{
    struct mf_inflate *own = user;

    for (size_t i = 0; i < MF_INFLATE_BLOCKS; i++)
        if (block && own->block[i].at == block) {
            resize(own->env, block, own->block[i].size, 0);
            own->block[i].at = NULL;
        }
}

bool mf_inflate_begin(struct mf_inflate *own, struct mf_env *env)
{
    if (own->env)
        return inflateReset(&own->z) == Z_OK;
    *own = (struct mf_inflate){ .env = env };
    own->z.zalloc = take;
    own->z.zfree = give;
    own->z.opaque = own;
    if (inflateInit2(&own->z, -MAX_WBITS) == Z_OK)
        return true;
    own->env = NULL;
    return false;
}

enum mf_inflated mf_inflate_step(struct mf_inflate *own, const uint8_t *in,
                                 size_t *in_size, uint8_t *out,
                                 size_t *out_size)
{
    z_stream *z = &own->z;
    unsigned had = *in_size < UINT_MAX ? (unsigned)*in_size : UINT_MAX;
    unsigned room = *out_size < UINT_MAX ? (unsigned)*out_size : UINT_MAX;
    int result;

    z->next_in = (Bytef *)(uintptr_t)in;
    z->avail_in = had;
    z->next_out = out;
    z->avail_out = room;
    result = inflate(z, Z_SYNC_FLUSH);
    *in_size = had - z->avail_in;
    *out_size = room - z->avail_out;
    if (result == Z_STREAM_END)
        return MF_INFLATE_END;
    if (result == Z_MEM_ERROR)
        return MF_INFLATE_NO_MEMORY;
    return result == Z_OK || result == Z_BUF_ERROR ? MF_INFLATE_MORE
                                                   : MF_INFLATE_BAD;
}

void mf_inflate_end(struct mf_inflate *own)
{
    if (own->env)
        inflateEnd(&own->z);
    own->env = NULL;
}

#else

bool mf_inflate_begin(struct mf_inflate *own, struct mf_env *env)
{
    (void)own, (void)env;
    return false;
}

enum mf_inflated mf_inflate_step(struct mf_inflate *own, const uint8_t *in,
                                 size_t *in_size, uint8_t *out,
                                 size_t *out_size)
{
    (void)own, (void)in, (void)out;
    *in_size = *out_size = 0;
    return MF_INFLATE_BAD;
}

void mf_inflate_end(struct mf_inflate *own)
{
    (void)own;
}

#endif
