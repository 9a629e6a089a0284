/* SPDX-License-Identifier: MIT
 *
 * scan_lane.h - the loops over numbers, for each instruction set a copy
 *
 * Included by scan_portable.c, scan_avx2.c and scan_avx512.c, which differ in
 * their LANE and in what the compiler may use for it.
 */
#include <string.h>

#include "lib/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* Numbers that are looked at together: their count fits the narrowest of them,
 * and a loop of fixed length becomes straight vector code. */
#define TOGETHER 128

/* For each width: how many of count numbers, stride bytes from one to the next,
 * have all of mask.  Inline, so that a stride that is the width is a constant
 * to the compiler. */
#define COUNT(bits)                                                            \
    static inline uint64_t some_##bits(const uint8_t *bytes, size_t count,     \
                                       size_t stride, uint##bits##_t mask)     \
    {                                                                          \
        uint##bits##_t some = 0;                                               \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            uint##bits##_t value;                                              \
                                                                               \
            memcpy(&value, bytes + i * stride, sizeof(value));                 \
            some = (uint##bits##_t)(some + ((value & mask) == mask));          \
        }                                                                      \
        return some;                                                           \
    }                                                                          \
                                                                               \
    static inline uint64_t all_##bits(const uint8_t *bytes, size_t count,      \
                                      size_t stride, uint##bits##_t mask)      \
    {                                                                          \
        uint64_t found = 0;                                                    \
                                                                               \
        for (; count >= TOGETHER; count -= TOGETHER) {                         \
            found += some_##bits(bytes, TOGETHER, stride, mask);               \
            bytes += TOGETHER * stride;                                        \
        }                                                                      \
        return found + some_##bits(bytes, count, stride, mask);                \
    }                                                                          \
                                                                               \
    static uint64_t count_##bits(const uint8_t *bytes, size_t count,           \
                                 size_t stride, uint##bits##_t mask)           \
    {                                                                          \
        return stride == sizeof(mask)                                          \
                   ? all_##bits(bytes, count, sizeof(mask), mask)              \
                   : all_##bits(bytes, count, stride, mask);                   \
    }

COUNT(8)
COUNT(16)
COUNT(32)
COUNT(64)

uint64_t JOIN(mf_count_, LANE)(const uint8_t *bytes, size_t count,
                               size_t stride, uint8_t width, uint64_t mask)
{
    switch (width) {
    case 1:
        return count_8(bytes, count, stride, (uint8_t)mask);
    case 2:
        return count_16(bytes, count, stride, (uint16_t)mask);
    case 4:
        return count_32(bytes, count, stride, (uint32_t)mask);
    default:
        return count_64(bytes, count, stride, mask);
    }
}
