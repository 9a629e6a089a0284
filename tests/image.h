/* SPDX-License-Identifier: MIT
 *
 * image.h - a file that a test puts together in memory
 */
#ifndef TESTS_IMAGE_H
#define TESTS_IMAGE_H

#include "tests/support.h"

static struct image {
    size_t size;
    uint8_t at[8 * 1024 * 1024];
} image;

static inline void put(const void *bytes, size_t size)
{
    assert_true(size <= sizeof(image.at) - image.size);
    memcpy(image.at + image.size, bytes, size);
    image.size += size;
}

/* The low bytes of a number, least significant first. */
static inline void put_number(uint64_t value, size_t size)
{
    uint8_t bytes[64];

    assert_true(size <= sizeof(bytes));
    set_number(bytes, value, size);
    put(bytes, size);
}

#endif
