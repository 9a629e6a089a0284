/* SPDX-License-Identifier: MIT
 *
 * known.h - the kinds and ranges of values in known.def
 */
#ifndef MF_APR_KNOWN_H
#define MF_APR_KNOWN_H

#include <stdint.h>

enum kind {
    TEXT = 1,
    COUNT = 2,
    REAL = 4,
    OBJECT = 8,
    OR_NULL = 16,
    FLAG = 32,
    TEXT_OR_NULL = TEXT | OR_NULL,
    COUNT_OR_NULL = COUNT | OR_NULL,
    REAL_OR_NULL = REAL | OR_NULL,
    OBJECT_OR_NULL = OBJECT | OR_NULL
};

enum range { NONE, U8, U32, U64, F32 };

/* The largest integer of a range. */
static inline uint64_t range_max(enum range range)
{
    return range == U8 ? UINT8_MAX : range == U32 ? UINT32_MAX : UINT64_MAX;
}

static inline const char *range_name(enum range range)
{
    return range == U8 ? "u8" : range == U32 ? "u32" : "f32";
}

#endif
