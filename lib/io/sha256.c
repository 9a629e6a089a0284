/* SPDX-License-Identifier: MIT
 *
 * sha256.c - SHA-256 (FIPS 180-4) without libcrypto
 */
#include <assert.h>
#include <string.h>

#include "lib/program.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes (section 4.2.2), and of the square roots of the first 8 (5.3.3). */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t first_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

/* The message schedule (6.2.2, step 1). */
static void expand(const uint8_t block[64], uint32_t w[64])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t early = w[i - 15], late = w[i - 2];

        w[i] = (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10) + w[i - 7] +
               (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + w[i - 16];
    }
}

/* Steps 2 to 4; the letters are the standard's. */
static void compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3],
                    e = state[4], f = state[5], g = state[6], h = state[7];

    expand(block, w);
    for (size_t i = 0; i < 64; i++) {
        uint32_t choose = (e & f) ^ (~e & g);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                      choose + constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void mf_sha256_begin(struct mf_sha256 *sha)
{
    memcpy(sha->state, first_state, sizeof(sha->state));
    sha->size = 0;
}

void mf_sha256_add(struct mf_sha256 *sha, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        size_t filled = (size_t)(sha->size % sizeof(sha->block));
        size_t room = sizeof(sha->block) - filled;
        size_t part = size < room ? size : room;

        memcpy(sha->block + filled, from, part);
        sha->size += part;
        from += part;
        size -= part;
        if (part == room)
            compress(sha->state, sha->block);
    }
}

void mf_sha256_end(const struct mf_sha256 *sha, uint8_t out[32])
{
    static const uint8_t padding[64] = { 0x80 };
    struct mf_sha256 last = *sha;
    uint64_t bits = sha->size * 8;
    uint8_t length[8];

    for (size_t i = 0; i < sizeof(length); i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    /* A 1 bit, zeros up to 8 bytes before the end of a block, the length. */
    mf_sha256_add(&last, padding, 1 + (119 - sha->size % 64) % 64);
    mf_sha256_add(&last, length, sizeof(length));
    assert(last.size % sizeof(last.block) == 0);
    for (size_t i = 0; i < 32; i++)
        out[i] = (uint8_t)(last.state[i / 4] >> (24 - 8 * (i % 4)));
}
