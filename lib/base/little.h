/* SPDX-License-Identifier: MIT
 *
 * little.h - little-endian numbers in bytes that lie anywhere
 */
#ifndef MF_LIB_LITTLE_H
#define MF_LIB_LITTLE_H

#include <stdint.h>

static inline uint16_t mf_little_16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t mf_little_32(const uint8_t *at)
{
    return mf_little_16(at) | (uint32_t)mf_little_16(at + 2) << 16;
}

static inline uint64_t mf_little_64(const uint8_t *at)
{
    return mf_little_32(at) | (uint64_t)mf_little_32(at + 4) << 32;
}

#endif
