/* SPDX-License-Identifier: MIT
 *
 * sha.c - the blocks of SHA-1 and SHA-256 (FIPS 180-4) in plain C
 */
#include "lib/lanes/sha.h"

#include "lib/lanes/isa.h"
#if defined(MF_X86_64)
#include <cpuid.h>
#endif

const uint32_t mf_sha256_constants[64] = {
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

static uint32_t rotate_right(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t rotate_left(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

static void first_words(const uint8_t block[MF_SHA_BLOCK], uint32_t *w)
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
}

/* ---- SHA-256 ---- */

/* The message schedule (6.2.2, step 1). */
static void expand_256(const uint8_t block[MF_SHA_BLOCK], uint32_t w[64])
{
    first_words(block, w);
    for (size_t i = 16; i < 64; i++) {
        uint32_t early = w[i - 15], late = w[i - 2];

        w[i] = (rotate_right(late, 17) ^ rotate_right(late, 19) ^ late >> 10) +
               w[i - 7] +
               (rotate_right(early, 7) ^ rotate_right(early, 18) ^ early >> 3) +
               w[i - 16];
    }
}

/* Steps 2 to 4; the letters are the standard's. */
static void compress_256(uint32_t state[8], const uint8_t block[MF_SHA_BLOCK])
{
    uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3],
                    e = state[4], f = state[5], g = state[6], h = state[7];

    expand_256(block, w);
    for (size_t i = 0; i < 64; i++) {
        uint32_t choose = (e & f) ^ (~e & g);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 =
            h + choose + mf_sha256_constants[i] + w[i] +
            (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25));
        uint32_t t2 = majority + (rotate_right(a, 2) ^ rotate_right(a, 13) ^
                                  rotate_right(a, 22));

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

void mf_sha256_portable(uint32_t *state, const uint8_t *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        compress_256(state, blocks + i * MF_SHA_BLOCK);
}

/* ---- SHA-1 ---- */

/* The function f of round t (4.1.1), and the constant K (4.2.1). */
static uint32_t mixed(size_t t, uint32_t b, uint32_t c, uint32_t d)
{
    switch (t / 20) {
    case 0:
        return ((b & c) ^ (~b & d)) + 0x5a827999;
    case 2:
        return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
    default:
        return (b ^ c ^ d) + (t < 20 + 20 ? 0x6ed9eba1 : 0xca62c1d6);
    }
}

/* Section 6.1.2. */
static void compress_1(uint32_t state[5], const uint8_t block[MF_SHA_BLOCK])
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3],
                    e = state[4];

    first_words(block, w);
    for (size_t t = 16; t < 80; t++)
        w[t] = rotate_left(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (size_t t = 0; t < 80; t++) {
        uint32_t next = rotate_left(a, 5) + mixed(t, b, c, d) + e + w[t];

        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void mf_sha1_portable(uint32_t *state, const uint8_t *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        compress_1(state, blocks + i * MF_SHA_BLOCK);
}

/* ---- the choice ---- */

#if defined(MF_X86_64)

static bool processor_has_sha(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSSE3) &&
           (c & bit_SSE4_1) && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (b & bit_SHA);
}

bool mf_sha_has_instructions(void)
{
    static atomic_int answer;

    return mf_isa_ask(&answer, processor_has_sha);
}

#define BEST(name) (mf_sha_has_instructions() ? name##_x86 : name##_portable)

#else

bool mf_sha_has_instructions(void)
{
    return false;
}

#define BEST(name) name##_portable

#endif

void mf_sha1_blocks(uint32_t *state, const uint8_t *blocks, size_t count)
{
    BEST(mf_sha1)(state, blocks, count);
}

void mf_sha256_blocks(uint32_t *state, const uint8_t *blocks, size_t count)
{
    BEST(mf_sha256)(state, blocks, count);
}
