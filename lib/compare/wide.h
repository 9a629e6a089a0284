/* SPDX-License-Identifier: MIT
 *
 * wide.h - numbers that floats of 32 bits cannot hold
 *
 * They are compared as pairs of doubles.  A pair holds every integer of 64 bits
 * exactly, and the difference of two numbers is rounded once, if at all: it is
 * 0 only where they are equal.
 */
#ifndef MF_LIB_WIDE_H
#define MF_LIB_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/compare/diff.h"
#include "lib/model/types.h"

/* The number is high + low; low is 0 for all but large integers. */
struct mf_wide {
    double high, low;
};

/* Whether numbers of the type do not all fit floats; bools count, since they
 * are never decoded to floats. */
bool mf_type_is_wide(enum mf_type type);

/* How a tensor of a known type is read; false after mf_fail where its numbers
 * cannot be decoded. */
bool mf_numbers_recoding(const struct mf_model *model, const struct mf_isa *isa,
                         const struct mf_record *record,
                         struct mf_recoding *out);

/* Bytes that a decoded number takes. */
static inline size_t mf_decoded_size(bool wide)
{
    return wide ? sizeof(struct mf_wide) : sizeof(float);
}

/* Decodes numbers of a type at `bytes`, which the codec's prefix is part of, to
 * floats, or pairs if wide.  codec may be NULL for a wide type. */
void mf_decode_numbers(const struct mf_codec *codec, enum mf_type type,
                       bool wide, const uint8_t *bytes, void *out,
                       size_t count);

/* mf_apart_add for what that decoded.  Wide numbers come in multiples of
 * MF_WIDE_GROUP, but for the last ones of a part: a group has one exponent, and
 * no result may depend on the sizes of buffers. */
#define MF_WIDE_GROUP 256
void mf_apart_add_numbers(struct mf_apart *apart, bool wide, const void *a,
                          const void *b, size_t count);

/* ---- exact sums of integers of up to 64 bits ---- */

/* C11 has no integers of more than 64 bits that every compiler knows, so wide
 * sums are arrays of 64-bit words, the lowest first.  They are exact, and so
 * the order of the numbers does not matter. */

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
