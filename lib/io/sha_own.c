/* SPDX-License-Identifier: MIT
 *
 * sha_own.c - SHA-1 and SHA-256 (FIPS 180-4) without libcrypto
 */
#include "lib/io/sha_own.h"

#include <assert.h>
#include <string.h>

#include "lib/lanes/sha.h"

/* Section 5.3.1, which is also where SHA-1's words come from. */
static const uint32_t first_1[5] = { 0x67452301, 0xefcdab89, 0x98badcfe,
                                     0x10325476, 0xc3d2e1f0 };
/* The first 32 bits of the fractional parts of the square roots of the first 8
 * primes (5.3.3). */
static const uint32_t first_256[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static void add(struct mf_sha256 *sha, mf_sha_blocks *blocks,
                const uint8_t *from, size_t size)
{
    size_t filled = (size_t)(sha->size % MF_SHA_BLOCK), whole;

    sha->size += size;
    if (filled > 0) {
        size_t room = MF_SHA_BLOCK - filled, part = size < room ? size : room;

        memcpy(sha->block + filled, from, part);
        if (part < room)
            return;
        blocks(sha->state, sha->block, 1);
        from += part;
        size -= part;
    }
    whole = size / MF_SHA_BLOCK;
    blocks(sha->state, from, whole);
    memcpy(sha->block, from + whole * MF_SHA_BLOCK, size % MF_SHA_BLOCK);
}

static void end(const struct mf_sha256 *sha, mf_sha_blocks *blocks,
                uint8_t *out, size_t size)
{
    static const uint8_t padding[MF_SHA_BLOCK] = { 0x80 };
    struct mf_sha256 last = *sha;
    uint64_t bits = sha->size * 8;
    uint8_t length[8];

    for (size_t i = 0; i < sizeof(length); i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    /* A 1 bit, zeros up to 8 bytes before the end of a block, the length. */
    add(&last, blocks, padding, 1 + (119 - sha->size % 64) % 64);
    add(&last, blocks, length, sizeof(length));
    assert(last.size % MF_SHA_BLOCK == 0);
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(last.state[i / 4] >> (24 - 8 * (i % 4)));
}

void mf_sha256_begin(struct mf_sha256 *sha)
{
    memcpy(sha->state, first_256, sizeof(first_256));
    sha->size = 0;
}

void mf_sha256_add(struct mf_sha256 *sha, const void *bytes, size_t size)
{
    add(sha, mf_sha256_blocks, bytes, size);
}

void mf_sha256_end(const struct mf_sha256 *sha, uint8_t out[32])
{
    end(sha, mf_sha256_blocks, out, 32);
}

void mf_sha1_begin(struct mf_sha1 *sha)
{
    memcpy(sha->parts.state, first_1, sizeof(first_1));
    sha->parts.size = 0;
}

void mf_sha1_add(struct mf_sha1 *sha, const void *bytes, size_t size)
{
    add(&sha->parts, mf_sha1_blocks, bytes, size);
}

void mf_sha1_end(const struct mf_sha1 *sha, uint8_t out[20])
{
    end(&sha->parts, mf_sha1_blocks, out, 20);
}
