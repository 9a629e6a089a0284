/* SPDX-License-Identifier: MIT
 *
 * scan.h - finding NaN and infinite values in the bytes of a tensor
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
