/* SPDX-License-Identifier: MIT
 *
 * bins.h - how many numbers there are of each sign and exponent
 *
 * Every exponent that numbers of a type can have is counted apart, subnormal
 * ones too, so that nothing has to be known of the numbers before.
 */
#ifndef MF_LIB_BINS_H
#define MF_LIB_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/model/types.h"

/* Numbers as they are measured. */
struct mf_numbers {
    const float *floats;  /* in the order of the processor; NULL: the bytes */
    const uint8_t *bytes; /* of f64 or integers, as a file has them */
    enum mf_type type;
    size_t count;
};

/* Exponents of numbers that are finite and not 0. */
struct mf_exponents {
    int first;
    size_t count;
};

/* Of a type's numbers, as they are measured. */
struct mf_exponents mf_exponents_of(enum mf_type type);

/* Counters of both signs. */
static inline size_t mf_bins_count(struct mf_exponents exponents)
{
    return 2 * exponents.count;
}

/* Adds numbers to mf_bins_count(mf_exponents_of(type)) counters: those below
 * zero come first. */
void mf_bins_add(uint64_t *bins, const struct mf_numbers *numbers);

#endif
