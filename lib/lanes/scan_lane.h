/* SPDX-License-Identifier: MIT
 *
 * scan_lane.h - loops over numbers, one copy for each instruction set
 *
 * Included by scan_portable.c, scan_avx2.c and scan_avx512.c, which differ in
 * their LANE and in what the compiler may use for it.
 */
#include <string.h>

#include "lib/lanes/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

/* Numbers that one loop counts: the count fits their narrowest type, and a loop
 * of fixed length becomes straight vector code. */
#define TOGETHER 128

/* For each width: how many of count numbers, stride bytes apart, have those
 * bits.  Inline, so that a stride that is the width is a constant to
 * the compiler. */
#define COUNT(width)                                                           \
    static inline uint64_t some_##width(const uint8_t *bytes, size_t count,    \
                                        size_t stride, struct mf_bits bits)    \
    {                                                                          \
        const uint##width##_t mask = (uint##width##_t)bits.mask;               \
        const uint##width##_t wanted = (uint##width##_t)bits.value;            \
        uint##width##_t some = 0;                                              \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            uint##width##_t value;                                             \
                                                                               \
            memcpy(&value, bytes + i * stride, sizeof(value));                 \
            some = (uint##width##_t)(some + ((value & mask) == wanted));       \
        }                                                                      \
        return some;                                                           \
    }                                                                          \
                                                                               \
    static inline uint64_t all_##width(const uint8_t *bytes, size_t count,     \
                                       size_t stride, struct mf_bits bits)     \
    {                                                                          \
        uint64_t found = 0;                                                    \
                                                                               \
        for (; count >= TOGETHER; count -= TOGETHER) {                         \
            found += some_##width(bytes, TOGETHER, stride, bits);              \
            bytes += TOGETHER * stride;                                        \
        }                                                                      \
        return found + some_##width(bytes, count, stride, bits);               \
    }                                                                          \
                                                                               \
    static uint64_t count_##width(const uint8_t *bytes, size_t count,          \
                                  size_t stride, struct mf_bits bits)          \
    {                                                                          \
        return stride == (width) / 8                                           \
                   ? all_##width(bytes, count, (width) / 8, bits)              \
                   : all_##width(bytes, count, stride, bits);                  \
    }

COUNT(8)
COUNT(16)
COUNT(32)
COUNT(64)

uint64_t JOIN(mf_count_, LANE)(const uint8_t *bytes, size_t count,
                               size_t stride, uint8_t width,
                               struct mf_bits bits)
{
    switch (width) {
    case 1:
        return count_8(bytes, count, stride, bits);
    case 2:
        return count_16(bytes, count, stride, bits);
    case 4:
        return count_32(bytes, count, stride, bits);
    default:
        return count_64(bytes, count, stride, bits);
    }
}
