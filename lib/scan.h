/* SPDX-License-Identifier: MIT
 *
 * scan.h - looking through the bytes of tensors, whatever their type
 */
#ifndef MF_LIB_SCAN_H
#define MF_LIB_SCAN_H

#include "lib/isa.h"
#include "lib/types.h"

#define MF_SCAN_CLEAN SIZE_MAX

/* Bytes after which the numbers that are looked at repeat: a buffer holds a
 * multiple of it.  1 for types without such numbers. */
size_t mf_scan_stride(enum mf_type type);

/* The index, in strides, of the first number in size bytes (a multiple of the
 * stride) that is infinite or not a number; MF_SCAN_CLEAN where there is none.
 * *count gets how many there are. */
size_t mf_scan(const struct mf_isa *isa, enum mf_type type, bool big_endian,
               const uint8_t *bytes, size_t size, uint64_t *count);

/* True where a byte is not zero. */
bool mf_scan_any(const uint8_t *bytes, size_t size);

#endif
