/* SPDX-License-Identifier: MIT
 *
 * sha_x86.c - the blocks of SHA-1 and SHA-256 by the instructions of x86-64
 *
 * Intel's manual says what each instruction computes; the state has the order
 * that they demand.  Four words of the message are a vector.
 */
#include "lib/lanes/sha.h"

#include "lib/lanes/isa.h"

#if defined(MF_X86_64)

#include <immintrin.h>

static __m128i words_at(const void *at)
{
    return _mm_loadu_si128(at);
}

static uint32_t word_of(__m128i words, int lane)
{
    uint32_t all[4];

    _mm_storeu_si128((__m128i *)all, words);
    return all[lane];
}

static __m128i words(uint32_t top, uint32_t third, uint32_t second,
                     uint32_t low)
{
    return _mm_set_epi32((int)top, (int)third, (int)second, (int)low);
}

/* ---- SHA-256 ---- */

/* w[t] of the schedule, from the four vectors before it, which are at
 * t % 4 and on in a ring. */
static __m128i next_256(const __m128i w[4], size_t t)
{
    __m128i last = w[(t + 3) % 4];
    __m128i minus_7 = _mm_alignr_epi8(last, w[(t + 2) % 4], 4);
    __m128i sum =
        _mm_add_epi32(_mm_sha256msg1_epu32(w[t % 4], w[(t + 1) % 4]), minus_7);

    return _mm_sha256msg2_epu32(sum, last);
}

static void compress_256(__m128i *abef, __m128i *cdgh, const uint8_t *block)
{
    /* Words of the message have their highest byte first. */
    const __m128i order =
        _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i w[4], a = *abef, c = *cdgh;

#pragma GCC unroll 16
    for (size_t t = 0; t < 16; t++) {
        __m128i sum;

        w[t % 4] = t < 4 ? _mm_shuffle_epi8(words_at(block + 16 * t), order)
                         : next_256(w, t);
        sum = _mm_add_epi32(w[t % 4], words_at(mf_sha256_constants + 4 * t));
        /* Two rounds make the new a, b, e, f; the old ones are c, d, g, h. */
        c = _mm_sha256rnds2_epu32(c, a, sum);
        a = _mm_sha256rnds2_epu32(a, c, _mm_unpackhi_epi64(sum, sum));
    }
    *abef = _mm_add_epi32(*abef, a);
    *cdgh = _mm_add_epi32(*cdgh, c);
}

void mf_sha256_x86(uint32_t *state, const uint8_t *blocks, size_t count)
{
    __m128i abef = words(state[0], state[1], state[4], state[5]);
    __m128i cdgh = words(state[2], state[3], state[6], state[7]);

    for (size_t i = 0; i < count; i++)
        compress_256(&abef, &cdgh, blocks + i * MF_SHA_BLOCK);
    for (int i = 0; i < 2; i++) {
        state[i] = word_of(abef, 3 - i);
        state[2 + i] = word_of(cdgh, 3 - i);
        state[4 + i] = word_of(abef, 1 - i);
        state[6 + i] = word_of(cdgh, 1 - i);
    }
}

/* ---- SHA-1 ---- */

/* The first word of a vector is the top one. */
static __m128i next_1(const __m128i w[4], size_t t)
{
    __m128i mixed = _mm_xor_si128(_mm_sha1msg1_epu32(w[t % 4], w[(t + 1) % 4]),
                                  w[(t + 2) % 4]);

    return _mm_sha1msg2_epu32(mixed, w[(t + 3) % 4]);
}

/* Which function a round has is part of the instruction. */
static __m128i four_rounds(__m128i abcd, __m128i e, size_t t)
{
    switch (t / 5) {
    case 0:
        return _mm_sha1rnds4_epu32(abcd, e, 0);
    case 1:
        return _mm_sha1rnds4_epu32(abcd, e, 1);
    case 2:
        return _mm_sha1rnds4_epu32(abcd, e, 2);
    default:
        return _mm_sha1rnds4_epu32(abcd, e, 3);
    }
}

static void compress_1(__m128i *abcd, __m128i *e, const uint8_t *block)
{
    const __m128i order =
        _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m128i w[4], now = *abcd, before = now;

#pragma GCC unroll 20
    for (size_t t = 0; t < 20; t++) {
        __m128i sum, old = now;

        w[t % 4] = t < 4 ? _mm_shuffle_epi8(words_at(block + 16 * t), order)
                         : next_1(w, t);
        /* e of these rounds is the turned a of four rounds ago. */
        sum = t == 0 ? _mm_add_epi32(*e, w[0])
                     : _mm_sha1nexte_epu32(before, w[t % 4]);
        now = four_rounds(now, sum, t);
        before = old;
    }
    *e = _mm_sha1nexte_epu32(before, *e);
    *abcd = _mm_add_epi32(*abcd, now);
}

void mf_sha1_x86(uint32_t *state, const uint8_t *blocks, size_t count)
{
    __m128i abcd = words(state[0], state[1], state[2], state[3]);
    __m128i e = words(state[4], 0, 0, 0);

    for (size_t i = 0; i < count; i++)
        compress_1(&abcd, &e, blocks + i * MF_SHA_BLOCK);
    for (int i = 0; i < 4; i++)
        state[i] = word_of(abcd, 3 - i);
    state[4] = word_of(e, 3);
}

#endif
