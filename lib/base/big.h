/* SPDX-License-Identifier: MIT
 *
 * big.h - whole numbers of up to 1792 bits, as far as decimal.c needs them
 *
 * The largest: 5^394 has 915 bits, its dividend 64 more; the
 * largest double has 1024, and 40 digits times 5^310 have 853.
 */
#ifndef MF_LIB_BIG_H
#define MF_LIB_BIG_H

#include <stdbool.h>
#include <stdint.h>

#define MF_BIG_LIMBS 56

struct mf_big {
    uint32_t limb[MF_BIG_LIMBS]; /* the least first */
    int count;                   /* the last one is not 0 */
};

static inline void mf_big_set(struct mf_big *big, uint64_t value)
{
    big->limb[0] = (uint32_t)value;
    big->limb[1] = (uint32_t)(value >> 32);
    big->count = big->limb[1] ? 2 : big->limb[0] ? 1 : 0;
}

/* big * factor + more */
static inline void mf_big_scale(struct mf_big *big, uint32_t factor,
                                uint32_t more)
{
    uint64_t carry = more;

    for (int i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        big->limb[big->count++] = (uint32_t)carry;
}

/* big * 5^power */
static inline void mf_big_scale_5(struct mf_big *big, int power)
{
    static const uint32_t powers[] = { 1,        5,       25,      125,
                                       625,      3125,    15625,   78125,
                                       390625,   1953125, 9765625, 48828125,
                                       244140625 };

    for (; power > 12; power -= 13)
        mf_big_scale(big, 1220703125, 0);
    if (power > 0)
        mf_big_scale(big, powers[power], 0);
}

static inline int mf_bits_of(uint32_t limb)
{
    int bits = 0;

    for (; limb; limb >>= 1)
        bits++;
    return bits;
}

static inline int mf_big_bits(const struct mf_big *big)
{
    return big->count == 0
               ? 0
               : 32 * (big->count - 1) + mf_bits_of(big->limb[big->count - 1]);
}

static inline void mf_big_shift(struct mf_big *big, int bits)
{
    int limbs = bits / 32, rest = bits % 32, count = big->count + limbs;
    uint64_t two;

    if (big->count == 0 || bits == 0)
        return;
    big->limb[count] = 0;
    for (int i = count - 1; i >= 0; i--) {
        two = i >= limbs ? (uint64_t)big->limb[i - limbs] << rest : 0;
        big->limb[i + 1] |= (uint32_t)(two >> 32);
        big->limb[i] = (uint32_t)two;
    }
    big->count = count + (big->limb[count] != 0);
}

/* Takes factor * small * 2^(32 at) from big, whose limb above is `top`;
 * returns that limb, below zero if it was too much. */
static inline int64_t mf_big_take(struct mf_big *big, int at,
                                  const struct mf_big *small, uint32_t factor,
                                  uint32_t top)
{
    uint64_t carry = 0;
    int64_t borrow = 0;

    for (int i = 0; i < small->count; i++) {
        carry += (uint64_t)small->limb[i] * factor;
        borrow += (int64_t)big->limb[at + i] - (int64_t)(uint32_t)carry;
        big->limb[at + i] = (uint32_t)borrow;
        borrow >>= 32;
        carry >>= 32;
    }
    return (int64_t)top - (int64_t)carry + borrow;
}

static inline int64_t mf_big_give_back(struct mf_big *big, int at,
                                       const struct mf_big *small, int64_t top)
{
    uint64_t carry = 0;

    for (int i = 0; i < small->count; i++) {
        carry += (uint64_t)big->limb[at + i] + small->limb[i];
        big->limb[at + i] = (uint32_t)carry;
        carry >>= 32;
    }
    return top + (int64_t)carry;
}

/* The quotient, below 2^64; *rest: there is a remainder.  Schoolbook division:
 * by the first limb of a divisor whose first bit is set, a limb of the quotient
 * is guessed at most two too high. */
static inline uint64_t mf_big_divide(struct mf_big *big, struct mf_big *by,
                                     bool *rest)
{
    int up = 32 - mf_bits_of(by->limb[by->count - 1]);
    uint64_t quotient = 0;
    int n = by->count;

    mf_big_shift(by, up);
    mf_big_shift(big, up);
    for (int at = big->count - n; at >= 0; at--) {
        uint32_t top = at + n < big->count ? big->limb[at + n] : 0;
        uint64_t two = (uint64_t)top << 32 | big->limb[at + n - 1];
        uint64_t guess = two / by->limb[n - 1];
        uint32_t digit = guess > UINT32_MAX ? UINT32_MAX : (uint32_t)guess;
        int64_t above = mf_big_take(big, at, by, digit, top);

        for (; above < 0; digit--)
            above = mf_big_give_back(big, at, by, above);
        if (at + n < big->count)
            big->limb[at + n] = 0;
        quotient = quotient << 32 | digit;
    }
    *rest = false;
    for (int i = 0; i < big->count; i++)
        *rest = *rest || big->limb[i] != 0;
    return quotient;
}

#endif
