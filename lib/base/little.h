/* SPDX-License-Identifier: MIT
 *
 * little.h - little-endian numbers in bytes that lie anywhere
 *
 * Numbers in files, blocks and logs are little-endian, whatever processor reads
 * them.  Where the processor's are, too, these are plain loads and stores.
 */
#ifndef MF_LIB_LITTLE_H
#define MF_LIB_LITTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MF_HOST_IS_BIG false
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MF_HOST_IS_BIG true
#else
#error "numbers are neither little-endian nor big-endian here"
#endif

/* A number as the processor has it becomes a little-endian one, and back.  For
 * 8 bits, too: macros go over all widths. */
static inline uint8_t mf_order_8(uint8_t value)
{
    return value;
}

static inline uint16_t mf_order_16(uint16_t value)
{
    return MF_HOST_IS_BIG ? __builtin_bswap16(value) : value;
}

static inline uint32_t mf_order_32(uint32_t value)
{
    return MF_HOST_IS_BIG ? __builtin_bswap32(value) : value;
}

static inline uint64_t mf_order_64(uint64_t value)
{
    return MF_HOST_IS_BIG ? __builtin_bswap64(value) : value;
}

static inline uint8_t mf_little_8(const uint8_t *at)
{
    return *at;
}

static inline uint16_t mf_little_16(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return mf_order_16(value);
}

static inline uint32_t mf_little_32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return mf_order_32(value);
}

static inline uint64_t mf_little_64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return mf_order_64(value);
}

static inline float mf_little_float(const uint8_t *at)
{
    uint32_t bits = mf_little_32(at);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline double mf_little_double(const uint8_t *at)
{
    uint64_t bits = mf_little_64(at);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline void mf_put_little_16(uint8_t *at, uint16_t value)
{
    value = mf_order_16(value);
    memcpy(at, &value, sizeof(value));
}

static inline void mf_put_little_32(uint8_t *at, uint32_t value)
{
    value = mf_order_32(value);
    memcpy(at, &value, sizeof(value));
}

static inline void mf_put_little_64(uint8_t *at, uint64_t value)
{
    value = mf_order_64(value);
    memcpy(at, &value, sizeof(value));
}

static inline void mf_put_little_float(uint8_t *at, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    mf_put_little_32(at, bits);
}

/* Floats that were read from a file as they are, or will be written so. */
static inline void mf_order_floats(void *floats, size_t count)
{
    uint8_t *at = floats;

    for (size_t i = 0; MF_HOST_IS_BIG && i < count; i++, at += sizeof(float))
        mf_put_little_32(at, __builtin_bswap32(mf_little_32(at)));
}

#endif
