/* SPDX-License-Identifier: MIT
 *
 * integers.h - exact sums of integers of up to 64 bits
 *
 * C11 has no integers of more than 64 bits that every compiler knows, so wide
 * sums are arrays of 64-bit words, the lowest first.  They are exact, and so
 * the order of the numbers does not matter.
 */
#ifndef MF_LIB_INTEGERS_H
#define MF_LIB_INTEGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/model/types.h"

/* Below 2^63 numbers: their sum fits 128 bits, the sum of their squares 192. */
struct mf_integers {
    uint64_t count, zeros;
    uint64_t sum[2]; /* two's complement */
    uint64_t squares[3];
    uint64_t min, max; /* the sign of signed ones inverted, which puts them into
                          the order of uint64_t */
};

/* Adds integers of that type. */
void mf_integers_add(struct mf_integers *sum, enum mf_type type,
                     const uint8_t *bytes, size_t count);
void mf_integers_join(struct mf_integers *sum, const struct mf_integers *more);

/* As mf_integer_at; 0 without numbers. */
uint64_t mf_integers_min(const struct mf_integers *sum, enum mf_type type);
uint64_t mf_integers_max(const struct mf_integers *sum, enum mf_type type);

double mf_integers_mean(const struct mf_integers *sum);
double mf_integers_deviation(const struct mf_integers *sum);
double mf_integers_norm(const struct mf_integers *sum);

#endif
