/* SPDX-License-Identifier: MIT
 *
 * digest.c - checksums and content digests, fed piece by piece
 */
#include "lib/digest.h"

#include <stdalign.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/heap.h"

struct mf_digest {
    union {
        uint32_t crc;
        XXH64_state_t xxh64;
        XXH3_state_t xxh3; /* wants to be aligned to 64 bytes */
    } state;
    enum mf_digest_kind kind;
    struct mf_env *env;
    void *block; /* as the heap gave it */
};

/* The heap aligns for any number, no further; the rest is on us. */
#define BLOCK_SIZE (sizeof(struct mf_digest) + alignof(struct mf_digest) - 1)

uint32_t mf_crc32(uint32_t crc, const void *bytes, size_t size)
{
    /* zlib takes a null pointer for "start again", whatever the size. */
    return size > 0 ? (uint32_t)crc32_z(crc, bytes, size) : crc;
}

uint32_t mf_crc32_join(uint32_t first, uint32_t second, size_t size)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)size);
}

static void start(struct mf_digest *digest)
{
    switch (digest->kind) {
    case MF_CRC32:
        digest->state.crc = 0;
        break;
    case MF_XXH64:
        XXH64_reset(&digest->state.xxh64, 0);
        break;
    case MF_XXH3_64:
        XXH3_64bits_reset(&digest->state.xxh3);
        break;
    case MF_XXH3_128:
        XXH3_128bits_reset(&digest->state.xxh3);
        break;
    }
}

struct mf_digest *mf_digest_new(struct mf_env *env, enum mf_digest_kind kind)
{
    struct mf_digest *digest;
    uintptr_t over;
    char *block;

    mf_clear_error(env);
    if ((unsigned)kind > MF_XXH3_128) {
        mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "there is no digest of kind %d", (int)kind);
        return NULL;
    }
    block = mf_alloc(env, BLOCK_SIZE);
    if (!block)
        return NULL;
    over = (uintptr_t)block % alignof(struct mf_digest);
    digest = (void *)(block + (over ? alignof(struct mf_digest) - over : 0));
    digest->kind = kind;
    digest->env = env;
    digest->block = block;
    start(digest);
    return digest;
}

void mf_digest_add(struct mf_digest *digest, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    switch (digest->kind) {
    case MF_CRC32:
        digest->state.crc = mf_crc32(digest->state.crc, bytes, size);
        break;
    case MF_XXH64:
        XXH64_update(&digest->state.xxh64, bytes, size);
        break;
    case MF_XXH3_64:
        XXH3_64bits_update(&digest->state.xxh3, bytes, size);
        break;
    case MF_XXH3_128:
        XXH3_128bits_update(&digest->state.xxh3, bytes, size);
        break;
    }
}

/* The size lowest bytes of value, the highest of them first. */
static size_t put(uint64_t value, size_t size, uint8_t *out)
{
    for (size_t i = size; i-- > 0; value >>= 8)
        out[i] = (uint8_t)value;
    return size;
}

size_t mf_digest_finish(const struct mf_digest *digest, uint8_t out[16])
{
    XXH128_hash_t wide;

    switch (digest->kind) {
    case MF_CRC32:
        return put(digest->state.crc, 4, out);
    case MF_XXH64:
        return put(XXH64_digest(&digest->state.xxh64), 8, out);
    case MF_XXH3_64:
        return put(XXH3_64bits_digest(&digest->state.xxh3), 8, out);
    case MF_XXH3_128:
        wide = XXH3_128bits_digest(&digest->state.xxh3);
        return put(wide.high64, 8, out) + put(wide.low64, 8, out + 8);
    }
    return 0;
}

void mf_digest_free(struct mf_digest *digest)
{
    if (digest)
        mf_release(digest->env, digest->block, BLOCK_SIZE);
}
