/* SPDX-License-Identifier: MIT
 *
 * scan.h - finding NaN, infinite and extreme values in the bytes of a tensor
 */
#ifndef MF_LIB_SCAN_H
#define MF_LIB_SCAN_H

#include "lib/lanes/isa.h"
#include "lib/model/types.h"

#define MF_SCAN_CLEAN SIZE_MAX

/* The distance in bytes from one value that is checked to the next; what is
 * scanned must be a multiple of it.  1 for types that have no such values. */
size_t mf_scan_stride(enum mf_type type);

/* The index, in strides, of the first bad value in size bytes, a multiple of
 * the stride: NaN, infinite, or a bool other than 0 and 1.  MF_SCAN_CLEAN if
 * there is no bad value.  *count: how many there are. */
size_t mf_scan(const struct mf_isa *isa, enum mf_type type, bool big_endian,
               const uint8_t *bytes, size_t size, uint64_t *count);

/* What is wrong with the values in some bytes of a tensor. */
struct mf_scan_found {
    uint64_t bad, first_bad; /* NaN, infinite, no bool; the first in strides */
    uint64_t high, first_high; /* finite, but too large to compute with */
    uint64_t low;              /* scales of too few bits, but not zero */
};

/* The same and more. */
void mf_scan_all(const struct mf_isa *isa, enum mf_type type, bool big_endian,
                 const uint8_t *bytes, size_t size, struct mf_scan_found *out);

/* Whether values of the type are weights: floats, or blocks with a scale; not
 * integers, bools and exponents. */
bool mf_scan_is_weight(enum mf_type type);

/* The bound of values that are not high, for a message: "2^64". */
const char *mf_scan_bound(enum mf_type type);

/* What mf_scan finds in a type, for a message: "1 <one>, the first at <unit> 7"
 * or "3 <many>, the first at <unit> 7". */
struct mf_scan_kind {
    enum mf_rule rule;
    const char *unit, *one, *many;
};
struct mf_scan_kind mf_scan_kind(enum mf_type type);

/* True if any byte is not zero. */
bool mf_scan_any(const uint8_t *bytes, size_t size);

#endif
