/* SPDX-License-Identifier: MIT
 *
 * scan.c - loops over numbers, one copy for each instruction set
 *
 * It is compiled for each, with its name as MF_ISA.
 */
#include "lib/base/little.h"
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
        const uint##width##_t mask =                                           \
            mf_order_##width((uint##width##_t)bits.mask);                      \
        const uint##width##_t wanted =                                         \
            mf_order_##width((uint##width##_t)bits.value);                     \
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

uint64_t JOIN(mf_count_, MF_ISA)(const uint8_t *bytes, size_t count,
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

/* Numbers in the other order than the processor has are reversed first. */
#define REVERSED_8(value)  (value)
#define REVERSED_16(value) __builtin_bswap16(value)
#define REVERSED_32(value) __builtin_bswap32(value)
#define REVERSED_64(value) __builtin_bswap64(value)

/* For each width: how many magnitudes are high, and how many low.  Numbers
 * without space between them have no low bound, and their magnitude leaves the
 * top bit free: adding what is missing from high to that bit sets it.  The
 * vectorizer makes more of this than of a comparison.  Of numbers further apart
 * those out of bounds are separated only if there are some. */
#define RANGE(width)                                                           \
    static inline uint##width##_t magnitude_##width(                           \
        const uint8_t *bytes, bool reverse, uint##width##_t mask)              \
    {                                                                          \
        uint##width##_t value;                                                 \
                                                                               \
        memcpy(&value, bytes, sizeof(value));                                  \
        return (reverse ? REVERSED_##width(value) : value) & mask;             \
    }                                                                          \
                                                                               \
    static inline uint64_t some_high_##width(const uint8_t *bytes,             \
                                             size_t count, bool reverse,       \
                                             struct mf_bounds bounds)          \
    {                                                                          \
        const uint##width##_t mask = (uint##width##_t)bounds.mask;             \
        const uint##width##_t rest =                                           \
            (uint##width##_t)((UINT64_C(1) << (width - 1)) - bounds.high);     \
        uint##width##_t some = 0;                                              \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            uint##width##_t value =                                            \
                magnitude_##width(bytes + i * (width / 8), reverse, mask);     \
                                                                               \
            value = (uint##width##_t)(value + rest);                           \
            some = (uint##width##_t)(some + (value >> (width - 1)));           \
        }                                                                      \
        return some;                                                           \
    }                                                                          \
                                                                               \
    static inline struct mf_outside dense_##width(const uint8_t *bytes,        \
                                                  size_t count, bool reverse,  \
                                                  struct mf_bounds bounds)     \
    {                                                                          \
        struct mf_outside found = { 0, 0 };                                    \
                                                                               \
        for (; count >= TOGETHER; count -= TOGETHER) {                         \
            found.high += some_high_##width(bytes, TOGETHER, reverse, bounds); \
            bytes += TOGETHER * (width / 8);                                   \
        }                                                                      \
        found.high += some_high_##width(bytes, count, reverse, bounds);        \
        return found;                                                          \
    }                                                                          \
                                                                               \
    /* Counts zeros as well, and whatever has the top bit. */                  \
    static inline uint64_t some_out_##width(                                   \
        const uint8_t *bytes, size_t count, size_t stride, bool reverse,       \
        struct mf_bounds bounds)                                               \
    {                                                                          \
        const uint##width##_t mask = (uint##width##_t)bounds.mask;             \
        const uint##width##_t low = (uint##width##_t)bounds.low;               \
        const uint##width##_t rest =                                           \
            (uint##width##_t)((UINT64_C(1) << (width - 1)) - bounds.high);     \
        uint##width##_t some = 0;                                              \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            uint##width##_t value =                                            \
                magnitude_##width(bytes + i * stride, reverse, mask);          \
                                                                               \
            value = (uint##width##_t)((value + rest) | (value - low));         \
            some = (uint##width##_t)(some + (value >> (width - 1)));           \
        }                                                                      \
        return some;                                                           \
    }                                                                          \
                                                                               \
    static inline void count_out_##width(                                      \
        const uint8_t *bytes, size_t count, size_t stride, bool reverse,       \
        struct mf_bounds bounds, struct mf_outside *found)                     \
    {                                                                          \
        const uint##width##_t mask = (uint##width##_t)bounds.mask;             \
                                                                               \
        for (size_t i = 0; i < count; i++) {                                   \
            uint##width##_t value =                                            \
                magnitude_##width(bytes + i * stride, reverse, mask);          \
                                                                               \
            found->high += value >= bounds.high;                               \
            found->low += value != 0 && value < bounds.low;                    \
        }                                                                      \
    }                                                                          \
                                                                               \
    static inline struct mf_outside sparse_##width(                            \
        const uint8_t *bytes, size_t count, size_t stride, bool reverse,       \
        struct mf_bounds bounds)                                               \
    {                                                                          \
        struct mf_outside found = { 0, 0 };                                    \
                                                                               \
        while (count > 0) {                                                    \
            size_t some = count < TOGETHER ? count : TOGETHER;                 \
                                                                               \
            if (some_out_##width(bytes, some, stride, reverse, bounds) > 0)    \
                count_out_##width(bytes, some, stride, reverse, bounds,        \
                                  &found);                                     \
            bytes += some * stride;                                            \
            count -= some;                                                     \
        }                                                                      \
        return found;                                                          \
    }                                                                          \
                                                                               \
    static struct mf_outside range_##width(const uint8_t *bytes, size_t count, \
                                           size_t stride, bool reverse,        \
                                           struct mf_bounds bounds)            \
    {                                                                          \
        if (stride == (width) / 8 && bounds.low == 0)                          \
            return reverse ? dense_##width(bytes, count, true, bounds)         \
                           : dense_##width(bytes, count, false, bounds);       \
        return reverse ? sparse_##width(bytes, count, stride, true, bounds)    \
                       : sparse_##width(bytes, count, stride, false, bounds);  \
    }

RANGE(8)
RANGE(16)
RANGE(32)
RANGE(64)

struct mf_outside JOIN(mf_range_, MF_ISA)(const uint8_t *bytes, size_t count,
                                          size_t stride, uint8_t width,
                                          bool reverse, struct mf_bounds bounds)
{
    reverse = reverse != MF_HOST_IS_BIG;
    switch (width) {
    case 1:
        return range_8(bytes, count, stride, reverse, bounds);
    case 2:
        return range_16(bytes, count, stride, reverse, bounds);
    case 4:
        return range_32(bytes, count, stride, reverse, bounds);
    default:
        return range_64(bytes, count, stride, reverse, bounds);
    }
}
