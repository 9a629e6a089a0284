/* SPDX-License-Identifier: MIT
 *
 * crc32.c - the checksum of zip, zlib and APR version 1
 *
 * zlib computes it some ten times as fast; without zlib it is computed here, so
 * that only what is compressed cannot be read.
 */
#include "lib/io/digest.h"

#if !defined(MF_NO_ZLIB)

#include <zlib.h>

uint32_t mf_crc32(uint32_t crc, const void *bytes, size_t size)
{
    /* zlib takes a null pointer for "start again", whatever the size. */
    return size > 0 ? (uint32_t)crc32_z(crc, bytes, size) : crc;
}

uint32_t mf_crc32_join(uint32_t first, uint32_t second, uint64_t size)
{
    /* An offset of zlib may have 32 bits. */
    for (; size > INT32_MAX; size -= INT32_MAX)
        first = (uint32_t)crc32_combine(first, 0, INT32_MAX);
    return (uint32_t)crc32_combine(first, second, (z_off_t)size);
}

#else

/* A polynomial has the coefficient of x^0 in its highest bit: RFC 1952, 8. */
#define POLYNOMIAL UINT32_C(0xEDB88320)
#define ONE        UINT32_C(0x80000000)

/* The product with x, modulo the polynomial. */
static uint32_t times_x(uint32_t a)
{
    return (a & 1) != 0 ? a >> 1 ^ POLYNOMIAL : a >> 1;
}

uint32_t mf_crc32(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = times_x(crc);
    }
    return ~crc;
}

static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (uint32_t bit = ONE; bit != 0; bit >>= 1) {
        product ^= (a & bit) != 0 ? b : 0;
        b = times_x(b);
    }
    return product;
}

/* To append size bytes is to multiply by x, 8 times for each of them. */
uint32_t mf_crc32_join(uint32_t first, uint32_t second, uint64_t size)
{
    uint32_t power = ONE >> 8; /* x^8, x^16, x^32 ... */

    for (; size > 0; size >>= 1) {
        if ((size & 1) != 0)
            first = times(first, power);
        power = times(power, power);
    }
    return first ^ second;
}

#endif
